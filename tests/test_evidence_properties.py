"""Whatever dress a passage wears it is found where it stands; a changed number never is."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from builders_evidence import ALPHA, checker_of, suite_of
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from touchstone.evidence import FOUND, Finding

SUITE = suite_of("E1")
TAKEN = FOUND | {"near"}
MORE = settings(deadline=None, max_examples=200)

LETTERS = st.text(st.sampled_from("abzÄöüßéñΩğş한字"), min_size=3, max_size=7)
WORDS = st.lists(LETTERS, min_size=8, max_size=16, unique_by=str.casefold)
SPACES = st.sampled_from([" ", " ", "\n", "\n- ", "\n> ", "  ", "\t", "\u00a0", " | ", " \u00ad"])
MARKS = st.sampled_from(["{}", "{}", "**{}**", "_{}_", "`{}`", "***{}***", "“{}”", "„{}“", "»{}«"])
FORMS: st.SearchStrategy[Callable[[str], str]] = st.sampled_from(
    [
        lambda text: unicodedata.normalize("NFC", text),
        lambda text: unicodedata.normalize("NFD", text),
        lambda text: unicodedata.normalize("NFKC", text),
    ]
)
QUOTED = str.maketrans(dict.fromkeys("“”„»«", '"'))


def check(quote: str, text: str) -> Finding:
    return checker_of(SUITE, {ALPHA: {"E1": text}}).check_quote(ALPHA, "E1", quote)


def bare(text: str) -> str:
    """Return what a reader reads: no marks, one kind of quotation mark, one kind of space."""
    words = "".join(char for char in text if char not in "*_`|>-\u00ad").translate(QUOTED)
    return " ".join(unicodedata.normalize("NFC", words).casefold().replace("ß", "ss").split())


@MORE
@given(WORDS, st.data())
def test_any_passage_is_found_at_its_place_in_whatever_dress(
    words: Sequence[str], data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, len(words) - 4))
    last = data.draw(st.integers(first + 4, len(words)))
    text, edges = "", []
    for word in words:
        dressed = data.draw(MARKS).format(data.draw(FORMS)(word))
        edges.append((len(text), len(text) + len(dressed)))
        text += dressed + data.draw(SPACES)
    written = [bare(text[slice(*edge)]) for edge in edges[first:last]]
    quote = data.draw(SPACES).join(data.draw(FORMS)(word) for word in written)
    quote = data.draw(st.sampled_from(["{}", "  {}\n", "**{}**"])).format(quote)

    finding = check(quote, text)

    assert finding.kind in {"verbatim", "normalised"}
    ((start, end),) = finding.spans
    assert edges[first][0] <= start < edges[first][1]
    assert edges[last - 1][0] < end <= edges[last - 1][1]
    assert bare(text[start:end]) == " ".join(written)
    elsewhere = checker_of(suite_of("E1", "E2"), {ALPHA: {"E1": "none of it", "E2": text}})
    finding = elsewhere.check_quote(ALPHA, "E1", quote)
    assert (finding.kind, finding.place) == ("misattributed", (*ALPHA, "E2"))


@MORE
@given(st.text(min_size=20, max_size=300), st.data())
def test_any_span_cut_out_of_any_text_is_found_with_its_offsets(
    text: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text) - 20))
    end = data.draw(st.integers(start + 20, len(text)))
    quote = text[start:end]
    assume(len(quote.strip()) >= 20)
    edges = text[max(0, start - 2) : start + 2] + text[max(0, end - 2) : end + 2]
    assume(not any(char.isdecimal() for char in edges))

    finding = check(quote, text)

    assert finding.kind == "verbatim"
    ((found, until),) = finding.spans
    assert text[found:until] == quote.strip()
    assert found <= start + len(quote) - len(quote.lstrip())


SENTENCE = st.lists(
    st.text(st.sampled_from("abcdefghiklmnoprstuw"), min_size=2, max_size=8),
    min_size=7,
    max_size=14,
)


@MORE
@given(SENTENCE, SENTENCE, st.integers(0, 10**6), st.data())
def test_an_edited_digit_in_a_long_quote_is_never_taken_for_the_answer_s(
    before: Sequence[str], after: Sequence[str], number: int, data: st.DataObject
) -> None:
    digits = str(number)
    at = data.draw(st.integers(0, len(digits) - 1))
    other = data.draw(st.sampled_from("0123456789"))
    edit = data.draw(st.sampled_from(["replace", "insert", "delete", "decimal"]))
    edited = {
        "replace": digits[:at] + other + digits[at + 1 :],
        "insert": digits[:at] + other + digits[at:],
        "delete": digits[:at] + digits[at + 1 :],
        "decimal": f"{digits[: at + 1]}.{digits[at + 1 :]}".removesuffix("."),
    }[edit]
    assume(edited != digits)
    quote = " ".join([*before[-6:], edited, *after[:6]])
    assume(len(quote) >= 40)
    text = " ".join([*before, digits, *after])

    assert check(quote, text).kind not in TAKEN
    assert check(quote.upper().replace(" ", "\n"), f"**{text}**").kind not in TAKEN


NEGATIONS = ["not", "never", "no", "without", "cannot", "don't", "nicht", "kein", "keine", "nie"]
NEGATIONS += ["ohne", "weder", "niemals"]


@MORE
@given(SENTENCE, SENTENCE, st.sampled_from(NEGATIONS), st.data())
def test_an_edited_negation_in_a_long_quote_is_never_taken_for_the_answer_s(
    before: Sequence[str], after: Sequence[str], negation: str, data: st.DataObject
) -> None:
    assume(not set(NEGATIONS) & {*before, *after})
    plain = [*before[-6:], *after[:6]]
    negated = [*before[-6:], negation, *after[:6]]
    other = data.draw(st.sampled_from(["always", "immer", *NEGATIONS]))
    replaced = [*before[-6:], other, *after[:6]]
    edit = data.draw(st.sampled_from(["insert", "delete", "replace", "omit"]))
    quote, stands = {
        "insert": (negated, [*before, *after]),
        "delete": (plain, [*before, negation, *after]),
        "replace": (replaced, [*before, negation, *after]),
        "omit": ([*before[-6:], "…", *after[:6]], [*before, negation, *after]),
    }[edit]
    assume(quote != negated or edit == "insert")
    assume(len(" ".join(quote)) >= 40)
    text = " ".join(stands)
    assume(" ".join(quote) not in text)
    sometimes = data.draw(
        st.sampled_from(["", " And this is not so, never.", " Das ist kein Fall."])
    )

    assert check(" ".join(quote), text + sometimes).kind not in TAKEN


@settings(deadline=None)
@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=80))
def test_spans_lie_in_the_answer_they_are_about(quote: str, text: str, other: str) -> None:
    answers = {"E1": text, "E2": other}
    checker = checker_of(suite_of("E1", "E2"), {ALPHA: answers})

    finding = checker.check_quote(ALPHA, "E1", quote)

    source = answers[finding.place[2] if finding.place else "E1"]
    assert all(0 <= start < end <= len(source) for start, end in finding.spans)
    assert list(finding.spans) == sorted(finding.spans)
    assert bool(finding.spans) == (finding.occurrences > 0)
    if finding.is_found or finding.kind in {"near", "misattributed", "cross_model"}:
        assert finding.spans
