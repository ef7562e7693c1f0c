"""Reading of replies, streamed and whole, without a network."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.endpoints.replies import (
    BrokenReplyError,
    Reply,
    ServerFaultError,
    SseParser,
    StreamReader,
    read_body,
)

# --- server-sent events ------------------------------------------------------------------------


def events_of(*chunks: bytes) -> list[tuple[str, str]]:
    parser = SseParser()
    events = [event for chunk in chunks for event in parser.feed(chunk)] + parser.close()
    return [(event.name, event.data) for event in events]


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data: a\n\ndata: b\n\n", [("", "a"), ("", "b")]),
        (b"data:a\n\n", [("", "a")]),
        (b"data:  a\n\n", [("", " a")]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [("", "a"), ("", "b")]),
        (b"data: a\r\rdata: b\r\r", [("", "a"), ("", "b")]),
        (b"data: a\ndata: b\n\n", [("", "a\nb")]),
        (b": keep-alive\n\ndata: a\n\n", [("", "a")]),
        (b"event: error\ndata: a\n\ndata: b\n\n", [("error", "a"), ("", "b")]),
        (b"error: {}\n\n", [("error", "{}")]),
        (b"id: 7\nretry: 10\ndata: a\n\n", [("", "a")]),
        (b"data\n\n", [("", "")]),
        (b"event: ping\n\n", []),
        (b"data: a\n\ndata: last", [("", "a"), ("", "last")]),
        (b"\xef\xbb\xbfdata: a\n\n", [("", "a")]),
        ("data: a\u2028b\u0085c\n\n".encode(), [("", "a\u2028b\u0085c")]),
        (b"data: \xff\n\n", [("", "\ufffd")]),
        (b"", []),
    ],
)
def test_events_are_cut_at_blank_lines_only(stream: bytes, events: list[tuple[str, str]]) -> None:
    assert events_of(stream) == events


LINES = st.lists(
    st.sampled_from(["data: ä€😀", "data:x", "data", ": c", "event: e", "error: {}", "", "zz"]),
    max_size=12,
)


@given(LINES, st.sampled_from(["\n", "\r\n", "\r"]), st.data())
def test_events_do_not_depend_on_where_chunks_end(
    lines: list[str], newline: str, data: st.DataObject
) -> None:
    stream = newline.join(lines).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    chunks = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]

    assert events_of(*chunks) == events_of(stream)


@given(st.lists(st.binary(max_size=30), max_size=6))
def test_any_bytes_are_read_without_an_accident(chunks: list[bytes]) -> None:
    assert events_of(*chunks) == events_of(b"".join(chunks))


# --- streams -----------------------------------------------------------------------------------


def read_stream(*payloads: Any, done: bool = True) -> Reply:
    reader = StreamReader()
    for payload in payloads:
        text = payload if isinstance(payload, str) else json.dumps(payload)
        reader.feed(f"data: {text}\n\n".encode())
    if done:
        reader.feed(b"data: [DONE]\n\n")
    reader.finish()
    return reader.reply


def piece(finish: str | None = None, **part: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": part, "finish_reason": finish}]}


def test_pieces_of_text_and_reasoning_are_joined() -> None:
    reply = read_stream(
        piece(role="assistant", content=None),
        piece(reasoning_content="hm"),
        piece(reasoning=", so"),
        piece(content="Hel"),
        piece(content="lo"),
        piece("stop"),
        {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}},
    )

    assert (reply.text, reply.reasoning, reply.finish_reason) == ("Hello", "hm, so", "stop")
    assert reply.usage is not None
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (3, 2)


def test_a_character_split_between_events_is_whole_again() -> None:
    assert (
        read_stream(
            '{"choices":[{"delta":{"content":"\\ud83d"}}]}',
            '{"choices":[{"delta":{"content":"\\ude00"}}]}',
        ).text
        == "😀"
    )


def test_a_lone_surrogate_stays_what_the_model_sent() -> None:
    assert read_stream('{"choices":[{"delta":{"content":"\\ud83d!"}}]}').text == "\ud83d!"


def test_events_without_blank_lines_between_them_are_told_apart() -> None:
    first, second = json.dumps(piece(content="a")), json.dumps(piece("stop", content="b"))

    assert read_stream(f"{first}\ndata: {second}\ndata: [DONE]", done=False).text == "ab"


def test_other_choices_do_not_mix_in() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "stop"}]}

    assert read_stream(piece(content="yes"), other).text == "yes"


@pytest.mark.parametrize("payloads", [(), (piece(content="Hel"),), ({"choices": []},)])
def test_a_stream_without_an_end_is_never_a_short_answer(payloads: tuple[Any, ...]) -> None:
    with pytest.raises(BrokenReplyError, match="in the middle") as raised:
        read_stream(*payloads, done=False)

    assert raised.value.cut_off


def test_a_last_event_cut_in_two_is_no_end() -> None:
    reader = StreamReader()
    reader.feed(b'data: {"choices":[{"de')

    with pytest.raises(BrokenReplyError, match="cut off") as raised:
        reader.finish()

    assert raised.value.cut_off


def test_a_finish_reason_alone_ends_a_stream() -> None:
    assert read_stream(piece("length", content="Hel"), done=False).finish_reason == "length"


@pytest.mark.parametrize(
    "lines",
    [
        'data: {"error":{"message":"boom"}}\n\n',
        'error: {"message":"boom"}\n\n',
        'event: error\ndata: {"message":"boom"}\n\n',
    ],
)
def test_an_error_inside_a_stream_is_an_error(lines: str) -> None:
    with pytest.raises(ServerFaultError, match="boom"):
        StreamReader().feed(lines.encode())


def test_an_event_that_is_no_json_is_broken() -> None:
    with pytest.raises(BrokenReplyError, match="no JSON") as raised:
        StreamReader().feed(b"data: <html>\n\n")

    assert not raised.value.cut_off


# --- bodies --------------------------------------------------------------------------------------


def body(message: dict[str, Any], **extra: Any) -> str:
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop"}], **extra})


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        ({"content": "x"}, "x", None),
        ({"content": None}, "", None),
        ({}, "", None),
        ({"content": None, "reasoning_content": "why"}, "", "why"),
        ({"content": "x", "reasoning": "why"}, "x", "why"),
        ({"content": ["a", {"type": "text", "text": "b"}]}, "ab", None),
        (
            {"content": [{"type": "thinking", "thinking": [{"text": "why"}]}, {"text": "x"}]},
            "x",
            "why",
        ),
        ({"content": None, "refusal": "I will not."}, "I will not.", None),
        ({"content": 5}, "", None),
        ({"content": "<think>a</think>b"}, "<think>a</think>b", None),
    ],
)
def test_text_and_reasoning_are_found_where_servers_put_them(
    message: dict[str, Any], text: str, reasoning: str | None
) -> None:
    reply = read_body(body(message))

    assert (reply.text, reply.reasoning) == (text, reasoning)


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 0}, (3, 0)),
        ({"prompt_tokens": 3.0}, (3, None)),
        ({"prompt_tokens": True, "completion_tokens": -1}, None),
        ({"total_tokens": 5}, None),
        ({}, None),
        (None, None),
        ("many", None),
    ],
)
def test_usage_is_what_was_counted_or_nothing(
    usage: Any, counts: tuple[int | None, int | None] | None
) -> None:
    read = read_body(body({"content": "x"}, usage=usage)).usage

    assert (read and (read.prompt_tokens, read.completion_tokens)) == counts


@pytest.mark.parametrize(
    ("text", "cut_off"),
    [
        ("", True),
        ('{"choices": [{"mess', True),
        ('{"choices": []}', True),
        ('{"choices": null}', True),
        ("<!doctype html><title>Login</title>", False),
        ("[]", False),
        ("null", False),
        ('{"ok": true}', False),
        ("[" * 100_000, False),
    ],
)
def test_what_is_no_completion_is_broken(text: str, cut_off: bool) -> None:
    with pytest.raises(BrokenReplyError) as raised:
        read_body(text)

    assert raised.value.cut_off is cut_off


def test_an_error_in_a_body_is_an_error() -> None:
    with pytest.raises(ServerFaultError, match="boom"):
        read_body('{"error": {"message": "boom"}}')
