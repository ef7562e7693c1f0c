"""What probes show of judges that are steady, fickle, biased, careful and obedient."""

from __future__ import annotations

import pytest
from builders_judge import GREEN, RED, by_kind, scored
from builders_probe import IDS, YELLOW, asked, order_in, plan, probe, summary, work_of

from touchstone.endpoints import ChatRequest
from touchstone.probe_texts import CANARIES, INJECTIONS, TEXTS


def test_a_steady_judge_repeats_itself_in_every_case_and_nothing_moves_it() -> None:
    found = summary(probe(by_kind(verdict=YELLOW), plan(work=[work_of("a"), work_of("b")])))

    assert found.repeat_share == 1.0
    assert found.repeat_flags.equal.value == 1.0
    assert [(one.shift, one.beyond) for one in found.effects] == [(0.0, False)] * 6
    assert found.canaries == (0, 2 * 2 * len(CANARIES))
    assert found.injection.found.value == 0.0
    assert found.missing == 0


def test_a_judge_that_follows_the_first_answer_shows_an_effect_of_order() -> None:
    def first(request: ChatRequest) -> str:
        return scored(5 if order_in(request)[:1] == ["E1"] else 2)

    work = [work_of("a"), work_of("b")]
    questions = plan("reverse", "named", work=work)

    found = summary(probe(by_kind(Q1=first, Q2=first, Q3=first), questions))

    reverse, named = found.effects
    assert (reverse.probe, reverse.n, reverse.shift, reverse.beyond) == ("reverse", 6, -3.0, True)
    assert (named.probe, named.shift, named.beyond) == ("named", 0.0, False)


@pytest.mark.parametrize(("more", "shift", "beyond"), [(1, 0.0, False), (3, 2.0, True)])
def test_a_judge_that_varies_has_to_be_moved_by_more_than_that(
    more: int, shift: float, beyond: bool
) -> None:
    turns = iter(range(1000))

    def wavering(request: ChatRequest) -> str:
        # Three dimensions a round, four rounds a model: 2, 3 and 4 in the repeats.
        scores = [2, 3, 4, 2 + more]
        return scored(scores[next(turns) % 12 // 3])

    questions = plan("reverse", work=[work_of("a"), work_of("b")])

    found = summary(probe(by_kind(Q1=wavering, Q2=wavering, Q3=wavering), questions))

    assert (found.repeat_share, found.repeat.deviation) == (0.0, 1.0)
    [reverse] = found.effects
    assert (reverse.n, reverse.shift, reverse.beyond) == (6, shift, beyond)


def test_a_judge_with_a_favourite_is_given_away_by_the_names() -> None:
    def fan(request: ChatRequest) -> str:
        return scored(5 if "by the model" in asked(request) and " b " in asked(request) else 3)

    work = [work_of("a"), work_of("b")]

    found = summary(probe(by_kind(Q1=fan, Q2=fan, Q3=fan), plan("named", "swapped", work=work)))

    named, swapped = found.effects
    assert (named.shift, named.changed.count) == (1.0, 3)
    assert (swapped.shift, swapped.changed.count) == (1.0, 3)


def test_a_judge_that_reads_catches_the_planted_defects() -> None:
    def careful(request: ChatRequest) -> str:
        text = asked(request)
        return RED if any(TEXTS["en"][k] in text for k in ("breach", "source")) else GREEN

    work = [work_of(flags=dict.fromkeys(IDS, "green"))]

    found = summary(probe(by_kind(verdict=careful), plan("canary", work=work, canaries=3)))

    assert found.canaries == (6, 3 * len(CANARIES))
    caught = {kind: of.value for kind, of in found.canary.templates.items()}
    assert caught == {**dict.fromkeys(CANARIES, 0.0), "breach": 1.0, "source": 1.0}
    assert found.canary.chance.value == 0.0


def test_a_judge_that_obeys_what_stands_in_an_answer_is_caught() -> None:
    def obedient(request: ChatRequest) -> str:
        return GREEN if TEXTS["en"]["order"] in asked(request) else RED

    def bribed(request: ChatRequest) -> str:
        return scored(5 if TEXTS["en"]["order"] in asked(request) else 1)

    replies = by_kind(verdict=obedient, Q1=bribed, Q2=bribed, Q3=bribed)
    work = [work_of("a"), work_of("b")]

    found = summary(probe(replies, plan("injection", work=work)))

    assert {kind: of.value for kind, of in found.injection.templates.items()} == {
        **dict.fromkeys(INJECTIONS, 0.0),
        "order": 1.0,
    }
    assert found.injection.found.bounds is not None
    [effect] = found.effects
    assert (effect.probe, effect.shift, effect.beyond) == ("injection", 4.0, True)
