"""Searching bundles: what is found, with which permalink, in which language."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders_search import Find, finder, full, marked, places, texts
from conftest import MANIFEST_YAML, BundleFolder, answer, review
from hostile import write_hostile_bundle

from touchstone.errors import UsageError

GERMAN = "Über die Prüfung der Verträge: Müller fährt nach Straßburg."


@pytest.fixture
def bundles(tmp_path: Path) -> Path:
    path = tmp_path / "bundles"
    path.mkdir()
    return path


@pytest.fixture
def tiny(bundles: Path) -> BundleFolder:
    folder = BundleFolder(bundles / "tiny")
    folder.write("bundle.yaml", MANIFEST_YAML + "  - {model: beta}\n")
    return folder


@pytest.fixture
def find(bundles: Path) -> Find:
    return finder(bundles)


# --- what is found --------------------------------------------------------------------------------


def test_answers_verdicts_and_rationales_are_found_with_their_permalinks(
    tiny: BundleFolder, find: Find
) -> None:
    full(tiny)
    found = find("zebra")

    assert found.total == 5
    assert {(hit.kind, hit.model, hit.flag, hit.url) for hit in found.hits} == {
        ("answer", "alpha", "red", "bundles/tiny/prompts/E1.html#alpha--default"),
        ("answer", "alpha", "green", "bundles/tiny/prompts/E2.html#alpha--default"),
        ("answer", "beta", None, "bundles/tiny/prompts/E1.html#beta--default"),
        ("verdict", "alpha", "red", "bundles/tiny/prompts/E1.html#alpha--default"),
        ("rationale", "alpha", None, "bundles/tiny/models/alpha--default.html#q1"),
    }
    assert [hit.rank for hit in found.hits] == [1, 2, 3, 4, 5]
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    assert all(marked(hit) == ["zebra"] for hit in found.hits)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"kinds": ("rationale",)}, [("rationale", "Q1")]),
        ({"kinds": ("answer", "verdict"), "flag": "red"}, [("answer", "E1"), ("verdict", "E1")]),
        ({"flag": "green"}, [("answer", "E2")]),
        ({"flag": "yellow"}, []),
        ({"models": ("beta",)}, [("answer", "E1")]),
        ({"models": ("beta/default",)}, [("answer", "E1")]),
        ({"models": ("alpha", "beta"), "kinds": ("verdict",)}, [("verdict", "E1")]),
        ({"bundles": ("tiny",), "kinds": ("verdict",)}, [("verdict", "E1")]),
    ],
)
def test_filters_narrow_the_search(
    tiny: BundleFolder, find: Find, options: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    full(tiny)
    assert places(find("zebra", **options)) == expected


def test_a_decision_of_a_person_sets_the_flag(tiny: BundleFolder, find: Find) -> None:
    full(tiny)
    tiny.write_lines("reviews.jsonl", review("E1", "flag:yellow"), review("E2", "accept"))

    assert places(find("zebra", flag="yellow")) == [("answer", "E1"), ("verdict", "E1")]
    assert places(find("zebra", flag="green")) == [("answer", "E2")]
    assert find("zebra", flag="red").total == 0


def test_the_limit_keeps_the_best_and_all_are_counted(tiny: BundleFolder, find: Find) -> None:
    texts(tiny, "zebra", "zebra " + "and other words " * 50, "zebra " + "and more words " * 9)
    found = find("zebra", limit=2)

    assert found.total == 3
    assert [hit.prompt_id for hit in found.hits] == ["E1", "D1"]


def test_all_words_must_occur_and_a_phrase_as_it_stands(tiny: BundleFolder, find: Find) -> None:
    texts(tiny, "personal data", "data that is personal", "personal")

    assert places(find("personal data")) == [("answer", "E1"), ("answer", "E2")]
    assert places(find('"personal data"')) == [("answer", "E1")]
    assert places(find('"personal data')) == [("answer", "E1")]
    assert marked(find('"personal data"').hits[0]) == ["personal data"]
    assert find('"data personal"').total == 0


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("uber", ["Über"]),
        ("ÜBER PRÜFUNG", ["Über", "Prüfung"]),
        ("pru\u0308fung", ["Prüfung"]),
        ("vertrage", ["Verträge"]),
        ("straßburg", ["Straßburg"]),
        ("vertrag", None),
    ],
)
def test_german_is_found_with_and_without_umlauts(
    tiny: BundleFolder, find: Find, words: str, expected: list[str] | None
) -> None:
    texts(tiny, GERMAN)
    found = find(words)
    assert [marked(hit) for hit in found.hits] == ([expected] if expected else [])


def test_the_last_word_may_go_on(tiny: BundleFolder, find: Find) -> None:
    texts(tiny, GERMAN)
    assert marked(find("müller vertr", prefix=True).hits[0]) == ["Verträge", "Müller"]
    assert find("vertr müller", prefix=True).total == 0


@pytest.mark.parametrize(
    ("text", "words", "hit"),
    [
        ("私は東京タワーへ行きます。", "京タ", "京タ"),
        ("私は東京タワーへ行きます。", "東", "東"),
        ("请把GPT模型用于办公室", "模型", "模型"),
        ("请把GPT模型用于办公室", "gpt", "GPT"),
        ("ที่นี่ร้อนมาก", "ร้อน", "ร้อน"),
        ("서울에서 만나요", "서울", "서울"),
        ("हिन्दी भाषा", "हिन्दी", "हिन्दी"),
    ],
)
def test_any_part_of_a_sentence_without_spaces_is_found(
    tiny: BundleFolder, find: Find, text: str, words: str, hit: str
) -> None:
    texts(tiny, text)
    (found,) = find(words).hits
    assert (found.snippet, marked(found)) == (text, [hit])


def test_other_parts_of_such_a_sentence_are_not(tiny: BundleFolder, find: Find) -> None:
    texts(tiny, "東京都", "ที่")
    assert [find(words).total for words in ("京東", "都京", "ทา", "東 都")] == [0, 0, 0, 1]


def test_signs_and_emoji_are_passed_over(tiny: BundleFolder, find: Find) -> None:
    texts(tiny, "A party 🎉 at C++ & co: e-mail *now*")

    for words in ("🎉 party", "co: party", "- party *", "e-mail", "(now)", "^at", "par\0 ty"):
        assert find(words).total == (words != "par\0 ty"), words
    for words in ("party AND now", "NEAR party", "text:party", "party OR", "NOT now"):
        assert find(words).total == 0, f"{words}: words, not operators"
    assert [find(words).total for words in ("🎉", '"', '""', "*", "( ^ )", " ")] == [0] * 6


def test_a_raw_query_is_an_fts5_expression(tiny: BundleFolder, find: Find) -> None:
    texts(tiny, "cat and dog", "cat", "doghouse")

    assert places(find("cat NOT dog", raw=True)) == [("answer", "E2")]
    assert find("cat OR dog*", raw=True).total == 3
    for wrong in ('"', "cat AND", "model:cat", "NEAR(", "*", "a\0("):
        with pytest.raises(UsageError, match="no FTS5 expression"):
            find(wrong, raw=True)


def test_what_is_not_there_is_refused(tiny: BundleFolder, find: Find) -> None:
    texts(tiny, "x")
    with pytest.raises(UsageError, match=r"no bundle nope .*\nThere is: tiny\."):
        find("x", bundles=("nope",))
    with pytest.raises(UsageError, match=r"model gamma\.\nThere is: alpha/default, beta/default\."):
        find("x", models=("alpha", "gamma"))
    with pytest.raises(UsageError, match="at most 2,000 characters"):
        find("x" * 2_001)


def test_what_has_no_page_of_its_own_leads_to_the_problems(tiny: BundleFolder, find: Find) -> None:
    tiny.write_lines("answers.jsonl", answer("Z9", text="lost"), answer("E1", "who", "lost"))
    assert {hit.url for hit in find("lost").hits} == {"bundles/tiny/run.html#problems"}


# --- hostile texts --------------------------------------------------------------------------------


def test_hostile_names_and_texts_are_searched(bundles: Path, find: Find) -> None:
    write_hostile_bundle(bundles / "hostile")
    found = find("script", limit=1000)

    assert found.update.skipped == {}
    assert found.total > 5
    assert find("surrogates").total > 0
    assert find('"漢字 עברית"').total > 0
    for hit in found.hits:
        assert len(hit.snippet) <= 402
        assert hit.url.isascii()
        assert all(0 <= opens < closes <= len(hit.snippet) for opens, closes in hit.hits)
