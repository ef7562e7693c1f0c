"""Evidence is checked in a few seconds at the size of a real bundle, and hostile input ends too."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from time import process_time

import pytest
from builders_evidence import ALPHA, checker_of, suite_of

from touchstone.evidence import EvidenceChecker, find_dangling_mentions, find_mentions
from touchstone.evidence.answer_index import Kept, ModelWords
from touchstone.evidence.prose_quotes import find_prose_quotes
from touchstone.models import Evidence

MANY = 100_000


def seconds(work: Callable[[], object]) -> float:
    started = process_time()
    work()
    return process_time() - started


def made_up_texts(count: int, length: int, seed: int) -> list[str]:
    """Return texts of random words, with the marks and letters that real answers have."""
    draw = random.Random(seed)
    letters = "abcdefghijklmnoprstuvwäöüß"
    words = ["".join(draw.choices(letters, k=draw.randint(2, 10))) for _ in range(3000)]
    words += [f"**{word}**" for word in words[:150]] + [f"„{word}“" for word in words[150:300]]
    words += [f"{word}.\n-" for word in words[300:450]]
    return [" ".join(draw.choices(words, k=length // 6))[:length] for _ in range(count)]


def test_five_thousand_quotes_over_eight_hundred_answers_take_a_few_seconds() -> None:
    texts = made_up_texts(800, 2000, seed=1)
    missing = made_up_texts(2500, 80, seed=2)
    pairs = [(f"model{number}", "default") for number in range(4)]
    ids = [f"E{number}" for number in range(200)]
    answers = {
        (pair, prompt_id): texts[i * 200 + j]
        for i, pair in enumerate(pairs)
        for j, prompt_id in enumerate(ids)
    }
    reads: Counter[object] = Counter()

    def text_of(pair: tuple[str, str], prompt_id: str) -> str | None:
        reads[pair, prompt_id] += 1
        return answers.get((pair, prompt_id))

    draw = random.Random(3)
    items = []
    for number in range(5000):
        key = draw.choice(list(answers))
        start = draw.randrange(1900)
        cut = answers[key][start : start + 80].upper()
        quote = cut if number % 2 else missing[number // 2]
        items.append((key[0], Evidence(prompt_id=key[1], quote=quote)))
    checker = EvidenceChecker(suite_of(*ids), text_of, pairs)

    kinds: Counter[str] = Counter()
    took = seconds(lambda: kinds.update(one.kind for one in checker.check_all(items)))

    assert kinds["unverifiable"] == 2500
    assert kinds["normalised"] + kinds["verbatim"] + kinds["near"] + kinds["too_short"] == 2500
    assert reads.total() <= 5000 + 2 * len(answers)
    assert took < 15, f"{took:.1f} s"


HUGE = {
    "letters": "a" * MANY,
    "pairs": "ab" * (MANY // 2),
    "digits": "1" * MANY,
    "spaces": " " * MANY,
    "dots": "." * MANY,
    "stars": "*a " * (MANY // 3),
    "dashes": "-" * MANY + "x",
    "table": "|-" * (MANY // 2) + "x",
    "ticks": "`" * MANY,
    "accents": "a" + "\u0301" * MANY,
    "surrogates": "\ud800\udfffx\x00" * (MANY // 4),
    "tags": "<br" * (MANY // 3),
    "a megabyte": "lorem ipsum dolor " * 55_000,
}
LONG_QUOTES = {
    "letters": "a" * 100_000,
    "nearly pairs": "c" + "ab" * 490,
    "parts": "lorem ipsum dolor … " * 1000,
    "digits": "1" * 9_999,
    "dots": "x" + "." * 20_000 + "y",
    "brackets": "[ " * 10_000 + "x",
    "spaces": "a" + " " * 20_000 + "b c d e",
}


@pytest.mark.parametrize("answer", HUGE)
def test_absurd_answers_and_quotes_end(answer: str) -> None:
    answers = {"E1": HUGE[answer], "E2": HUGE[answer][:20_000]}
    checker = checker_of(suite_of("E1", "E2"), {ALPHA: answers})
    checker.check_quote(ALPHA, "E1", "all is read and levelled once")

    for quote in LONG_QUOTES.values():
        for prompt_id in answers:
            took = seconds(lambda: checker.check_quote(ALPHA, prompt_id, quote))  # noqa: B023
            assert took < 5, f"{took:.1f} s"


HOSTILE_PROSE = {
    "ids": "E1, " * 40_000,
    "made-up ids": "E999 " * 40_000,
    "quotes": '"x" ' * 40_000,
    "opening": "“x " * 40_000,
    "all openings": "« “ „ ‘ ' \" ` " * 10_000,
    "apostrophes": "'a " * 40_000,
    "one sentence": "E1 “a b” E2 “c d”, " * 5000,
    "brackets": "“a” (" * 20_000,
    "ticks": "".join("`" * (number % 50 + 1) + "x " for number in range(5000)),
    "letters": "E" * 200_000,
    "stops": "." * 200_000,
    "cues": "task " * 40_000,
    "accents": "E\u0301" * 100_000,
}


@pytest.mark.parametrize("name", HOSTILE_PROSE)
def test_absurd_rationales_end(name: str) -> None:
    text, ids = HOSTILE_PROSE[name], [f"E{number}" for number in range(1, 800)]

    def read() -> None:
        find_dangling_mentions(text, ids, ["Q1"])
        find_prose_quotes(text, find_mentions(text, ids, ["Q1"]))

    took = seconds(read)
    assert took < 12, f"{took:.1f} s"


class Sized:
    def __init__(self, size: int) -> None:
        self.size = size


def test_only_what_was_used_last_is_kept_and_the_newest_whatever_its_size() -> None:
    kept: Kept[str, Sized] = Kept(10)
    made: list[str] = []

    def use(key: str, size: int) -> None:
        def make() -> Sized:
            made.append(key)
            return Sized(size)

        assert kept.get(key, make).size == size

    for key, size in [("a", 4), ("b", 4), ("a", 4), ("c", 4), ("a", 4), ("b", 4), ("huge", 99)]:
        use(key, size)
    assert made == ["a", "b", "c", "b", "huge"]
    use("huge", 99)
    use("a", 4)
    assert made == ["a", "b", "c", "b", "huge", "a"]


def test_answers_are_found_by_the_words_of_a_quote_cut_at_both_ends_or_not() -> None:
    texts = [
        "The **red** hou\u00adse stands",
        "a redhouse",
        "red house",
        "das Stra\u00dfe\u0308",
        "我是学生",
    ]
    words = ModelWords((f"E{number}", text) for number, text in enumerate(texts, 1))

    def found(needle: str) -> str:
        return " ".join(words.candidates(needle))

    assert found("e red house s") == "E1 E3"
    assert found("red house") == "E1 E3"
    assert found("edhous") == "E2"
    assert found("ed ho") == "E1 E3"
    assert found("house blue") == ""
    assert found("as STRASSe\u0308") == "E4"
    assert found("我是学") == "E5"
    assert found("***") == ""
    assert ModelWords([]).candidates("x y z") == []
