"""The comparison of judges as Markdown, English and German, and its figures as short texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from touchstone.gui.judge_meta.compare import (
    BetweenReferences,
    Cell,
    Comparison,
    Constant,
    Difference,
    Differing,
    Entry,
    Group,
    Judged,
    Matrix,
    Obstacle,
)
from touchstone.gui.judge_meta.results import Figures
from touchstone.gui.report_md.markdown import blocks, fenced, plain
from touchstone.gui.report_md.words import Words, words_of
from touchstone.intervals import UNDEFINED, Bounds
from touchstone.models import Suite, pick_text

NONE = "–"
SELF = "·"
"""Stands where a judge meets itself."""
LONGEST_NAME = 60

_EN: Words = {
    "language": "en",
    "point": ".",
    "comma": ", ",
    "title": "Judges compared",
    "intro": (
        "A judge is held against references: people or other AIs who rated the same answers. "
        "Judges stand in one table, best skill first, only where suite, answers, rubric, "
        "references, blindness and judging mode are the same. In brackets: the 95 % bootstrap "
        "interval over the models, or with fewer than 5 models the range of single models. "
        "Skill is measured on what a judge scored: read it with its coverage."
    ),
    "group": "{number}. {suite}, against {references}",
    "nobody": "nobody",
    "blind": "blind",
    "not_blind": "not blind",
    "unsaid_blind": "blindness not said",
    "basis": "answers {answers}, rubric {rubric}, {blind}, mode: {mode}",
    "no_mode": "none",
    "who_head": "Judge|Bundle|Kind|Fingerprint",
    "figures_head": (
        "n|Coverage|Exact|±1|mean \\|Δ\\||Skill|Bias|QWK|Ranking pairs|K.-o. alike|K.-o. missed|"
        "K.-o. false|Q%Δ|Evidence|Repeat"
    ),
    "ai": "AI",
    "human": "human",
    "unknown": "unknown",
    "constant": "best constant: always {score}",
    "between": "{first} and {second}",
    "headlines": "Headlines",
    "differences": "What keeps the tables apart",
    "differs": "Table {second} differs from table {first}: {what}",
    "many_suites": "Tables of different suites have nothing in common to compare.",
    "suite": "other suite",
    "answers": "other answers",
    "rubric": "other rubric: {second} instead of {first}",
    "references": "other references: {second} instead of {first}",
    "blind_differs": "{second} instead of {first}",
    "mode": "other mode: {second} instead of {first}",
    "not_compared": "Compared with nothing",
    "reason": "Reason",
    "changed": "stale: the bundle has changed since",
    "other_judge": "stale: the result is about another judge",
    "unbound": "does not say which bundle it is about",
    "unsaid": "does not say against whom, on what, or whether blind",
    "without": "Without a reference, so only judge by judge: {bundles}",
    "matrix": "Judge by judge: {suite}",
    "matrix_text": (
        "No reference is needed for this. Each cell: mean \\|Δ\\| of the two judges' scores, "
        "weighted κ (quadratic), and on how many pairs of scores."
    ),
    "flags_text": "The share of answers to which both gave the same flag, and of how many.",
    "judge": "Judge",
    "no_matrix": "No two judges have looked at the same answers.",
    "why_no_kappa": "κ {none}: {reason}",
    **{str(key): text for key, text in UNDEFINED.items()},
    "both_constant": "both judges gave one and the same score throughout",
    "no_pairs": "the two scored nothing in common",
}

_DE: Words = {
    "language": "de",
    "point": ",",
    "comma": "; ",
    "title": "Judges im Vergleich",
    "intro": (
        "Ein Judge wird an Referenzen gemessen: Menschen oder anderen KIs, die dieselben Antworten "
        "bewertet haben. In einer Tabelle, bester Skill zuerst, stehen Judges nur, wo Suite, "
        "Antworten, Rubrik, Referenzen, Blindheit und Urteilsweise gleich sind. In Klammern: das "
        "95-%-Bootstrap-Intervall über die Modelle, bei weniger als 5 Modellen die Spanne der "
        "einzelnen Modelle. Der Skill gilt für das, was ein Judge bewertet hat: Die Abdeckung "
        "gehört dazu."
    ),
    "group": "{number}. {suite}, gegen {references}",
    "nobody": "niemanden",
    "blind": "blind",
    "not_blind": "nicht blind",
    "unsaid_blind": "Blindheit nicht angegeben",
    "basis": "Antworten {answers}, Rubrik {rubric}, {blind}, Urteilsweise: {mode}",
    "no_mode": "keine",
    "who_head": "Judge|Bundle|Art|Fingerabdruck",
    "figures_head": (
        "n|Abdeckung|Exakt|±1|mittleres \\|Δ\\||Skill|Bias|QWK|Rangpaare|K.-o. gleich|"
        "K.-o. übersehen|K.-o. falsch|Q%Δ|Belege|Wiederholung"
    ),
    "ai": "KI",
    "human": "Mensch",
    "unknown": "unbekannt",
    "constant": "beste Konstante: immer {score}",
    "between": "{first} und {second}",
    "headlines": "Kopfzeilen",
    "differences": "Was die Tabellen trennt",
    "differs": "Tabelle {second} weicht von Tabelle {first} ab: {what}",
    "many_suites": "Tabellen verschiedener Suiten haben nichts gemeinsam, was vergleichbar wäre.",
    "suite": "andere Suite",
    "answers": "andere Antworten",
    "rubric": "andere Rubrik: {second} statt {first}",
    "references": "andere Referenzen: {second} statt {first}",
    "blind_differs": "{second} statt {first}",
    "mode": "andere Urteilsweise: {second} statt {first}",
    "not_compared": "Mit nichts verglichen",
    "reason": "Grund",
    "changed": "veraltet: Das Bundle hat sich seither geändert",
    "other_judge": "veraltet: Das Ergebnis handelt von einem anderen Judge",
    "unbound": "sagt nicht, von welchem Bundle es handelt",
    "unsaid": "sagt nicht, gegen wen, worüber oder ob blind",
    "without": "Ohne Referenz, daher nur Judge gegen Judge: {bundles}",
    "matrix": "Judge gegen Judge: {suite}",
    "matrix_text": (
        "Dafür braucht es keine Referenz. In jeder Zelle: mittleres \\|Δ\\| der Werte beider "
        "Judges, gewichtetes κ (quadratisch), und an wie vielen Wertepaaren."
    ),
    "flags_text": "Der Anteil der Antworten, die beide gleich markierten, und von wie vielen.",
    "judge": "Judge",
    "no_matrix": "Keine zwei Judges haben dieselben Antworten angesehen.",
    "why_no_kappa": "κ {none}: {reason}",
    "no_pairs": "die beiden haben nichts gemeinsam bewertet",
    "both_constant": "beide Judges gaben durchweg ein und denselben Wert",
}

TEXTS: Mapping[str, Words] = {"en": _EN, "de": _DE}


def comparison_words(language: str) -> Words:
    """Return the texts of a comparison in ``de`` or, for everything else, English."""
    return words_of(language, TEXTS)


def render_comparison_md(comparison: Comparison, language: str = "en") -> str:
    """Return the comparison as a Markdown document; foreign text stands escaped."""
    words = comparison_words(language)
    numbered = numbered_groups(comparison)
    sections = [
        f"# {words['title']}",
        words["intro"],
        *(_group(words, number, group) for number, group in numbered.items()),
        _differences(words, comparison),
        _not_compared(words, comparison),
        _without(words, comparison),
        *(_matrix(words, matrix) for matrix in comparison.matrices),
        "" if comparison.matrices else words["no_matrix"],
    ]
    return blocks(*sections) + "\n"


def numbered_groups(comparison: Comparison) -> dict[int, Group]:
    """Return the groups in which judges are compared, numbered from 1."""
    fair = [group for group in comparison.groups if group.obstacle is None]
    return dict(enumerate(fair, start=1))


# --- figures as texts ----------------------------------------------------------------------


def figure_texts(words: Words, figures: Figures) -> list[str]:
    """Return a row's figures in the order of ``figures_head``; "–" where there is none."""
    of = figures
    return [
        NONE if of.n is None else str(of.n),
        _share(of.coverage),
        _share(of.exact),
        _share(of.within_1),
        _decimal(words, of.mae) + _interval(words, of.mae_ci),
        _decimal(words, of.skill),
        _decimal(words, of.bias, "+.2f"),
        _decimal(words, of.qwk) + _interval(words, of.qwk_ci),
        _of(of.concordant, of.ranked_pairs),
        _of(of.ko_agree, of.ko_n),
        NONE if of.ko_missed is None else str(of.ko_missed),
        NONE if of.ko_false is None else str(of.ko_false),
        _decimal(words, of.quality_delta, "+.1f"),
        _share(of.fidelity) + _share_interval(words, of.fidelity_ci),
        _share(of.repeat),
    ]


def _decimal(words: Words, value: float | None, form: str = ".2f") -> str:
    if value is None:
        return NONE
    # Rounded first, so that nothing is shown as -0.00.
    return f"{round(value, int(form[-2])) + 0.0:{form}}".replace(".", words["point"])


def _share(value: float | None) -> str:
    return NONE if value is None else f"{100 * value:.0f} %"


def _interval(words: Words, bounds: Bounds | None) -> str:
    if bounds is None:
        return ""
    return f" [{words['comma'].join(_decimal(words, bound) for bound in bounds)}]"


def _share_interval(words: Words, bounds: Bounds | None) -> str:
    if bounds is None:
        return ""
    return f" [{words['comma'].join(f'{100 * bound:.0f}' for bound in bounds)}]"


def _of(part: int | None, whole: int | None) -> str:
    return NONE if part is None or whole is None else f"{part}/{whole}"


def cell_texts(words: Words, cell: Cell | None) -> tuple[str, str, str, str]:
    """Return what two judges' cell says, mean |Δ|, κ, common scores, equal flags."""
    if cell is None:
        return SELF, SELF, SELF, SELF
    return (
        _decimal(words, cell.mae.value),
        _decimal(words, cell.qwk.value),
        str(cell.mae.n),
        _share(cell.flags.value),
    )


# --- what is said in words -----------------------------------------------------------------


def short(text: str) -> str:
    """Return a name on one line, cut where it is absurdly long."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_NAME else f"{line[: LONGEST_NAME - 1]}…"


def suite_text(words: Words, suite: Suite) -> str:
    """Return a suite's title in the language of the words, or its id."""
    title, _ = pick_text(suite.title, words["language"], suite.language)
    return short(title) or short(suite.id)


def kind_text(words: Words, kind: str | None) -> str:
    """Return whether somebody is an AI or a person."""
    return words[kind] if kind in ("ai", "human") else words["unknown"]


def kinds_text(words: Words, between: BetweenReferences) -> str:
    """Return of which kind two references are, such as human–human."""
    return "–".join(kind_text(words, kind) for kind in between.kinds)


def reference_text(words: Words, group: Group) -> str:
    """Return the ids of the references of a group."""
    return ", ".join(map(short, group.basis.references)) or words["nobody"]


def basis_text(words: Words, group: Group) -> str:
    """Return in one line what the judges of a group have in common."""
    basis = group.basis
    return words["basis"].format(
        answers=(basis.answers or NONE)[:8],
        rubric=short(basis.rubric or NONE),
        blind=_blindness(words, basis.blind),
        mode=short(basis.mode or words["no_mode"]),
    )


def _blindness(words: Words, blind: bool | None) -> str:
    return words[{True: "blind", False: "not_blind", None: "unsaid_blind"}[blind]]


def obstacle_text(words: Words, obstacle: Obstacle) -> str:
    """Return why a judge is compared with nothing."""
    return words[obstacle]


def difference_texts(words: Words, comparison: Comparison) -> list[str]:
    """Return a line for every two groups of one suite: what keeps them apart."""
    numbers = {id(group): number for number, group in numbered_groups(comparison).items()}
    lines = []
    suites = {group.basis.suite for group in comparison.groups if group.obstacle is None}
    for one in comparison.differences:
        first, second = (comparison.groups[place] for place in one.groups)
        if first.obstacle is None and second.obstacle is None and _same_suite(one):
            what = ", ".join(_differing(words, each) for each in one.what)
            lines.append(
                words["differs"].format(
                    first=numbers[id(first)], second=numbers[id(second)], what=what
                )
            )
    return [*lines, words["many_suites"]] if len(suites) > 1 else lines


def _same_suite(difference: Difference) -> bool:
    return all(one.what != "suite" for one in difference.what)


def _differing(words: Words, of: Differing) -> str:
    if of.what == "blind":
        first, second = (_blindness(words, one) for one in (of.first, of.second))
        return words["blind_differs"].format(first=first, second=second)
    if of.what == "references":
        first, second = (", ".join(map(short, one)) for one in (of.first, of.second))
    else:
        none = words["no_mode"] if of.what == "mode" else NONE
        first, second = (short(str(one or none)) for one in (of.first, of.second))
    return words[of.what].format(first=first, second=second)


# --- Markdown ------------------------------------------------------------------------------


def _table(head: str, rows: Sequence[Sequence[str]]) -> str:
    titles = head.replace("\\|", "\0").split("|")
    cells = [[title.replace("\0", "\\|") for title in titles], ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def _group(words: Words, number: int, group: Group) -> str:
    heading = words["group"].format(
        number=number,
        suite=suite_text(words, group.suite),
        references=reference_text(words, group),
    )
    rows = [
        *(_judge_row(words, entry) for entry in group.entries),
        *(_constant_row(words, one, group) for one in group.constants),
        *(_between_row(words, one) for one in group.references),
    ]
    return blocks(
        f"## {plain(heading)}",
        plain(basis_text(words, group)),
        _table(f"{words['who_head']}|{words['figures_head']}", rows),
        _headlines(group.entries),
    )


def _judge_row(words: Words, entry: Entry) -> list[str]:
    return [*_who(words, entry.judged), *figure_texts(words, entry.figures)]


def _who(words: Words, judged: Judged) -> list[str]:
    return [
        plain(short(judged.judge)) or NONE,
        plain(short(judged.bundle)),
        kind_text(words, judged.kind),
        plain(short(judged.fingerprint or NONE)),
    ]


def _constant_row(words: Words, constant: Constant, group: Group) -> list[str]:
    bundles = constant.bundles if len(group.constants) > 1 else ()
    return [
        words["constant"].format(score=constant.score),
        plain(", ".join(map(short, bundles))) or NONE,
        NONE,
        NONE,
        *figure_texts(words, constant.figures),
    ]


def _between_row(words: Words, between: BetweenReferences) -> list[str]:
    first, second = (plain(short(one)) for one in between.ids)
    names = words["between"].format(first=first, second=second)
    kinds = kinds_text(words, between)
    return [names, NONE, kinds, NONE, *figure_texts(words, between.figures)]


def _headlines(entries: Sequence[Entry]) -> str:
    lines = [" ".join(one.result.headline.split()) for one in entries if one.result.headline]
    return fenced("\n".join(lines)) if lines else ""


def _differences(words: Words, comparison: Comparison) -> str:
    lines = difference_texts(words, comparison)
    if not lines:
        return ""
    return blocks(f"## {words['differences']}", "\n".join(f"- {plain(line)}" for line in lines))


def _not_compared(words: Words, comparison: Comparison) -> str:
    rows = [
        [*_who(words, entry.judged), words[entry.obstacle], *figure_texts(words, entry.figures)]
        for entry in _held_back(comparison)
        if entry.obstacle is not None
    ]
    if not rows:
        return ""
    head = f"{words['who_head']}|{words['reason']}|{words['figures_head']}"
    return blocks(f"## {words['not_compared']}", _table(head, rows))


def _held_back(comparison: Comparison) -> Iterator[Entry]:
    for group in comparison.groups:
        if group.obstacle is not None:
            yield from group.entries


def _without(words: Words, comparison: Comparison) -> str:
    names = ", ".join(short(one.bundle) for one in comparison.without_quality)
    return plain(words["without"].format(bundles=names)) if names else ""


def _matrix(words: Words, matrix: Matrix) -> str:
    title = suite_text(words, matrix.judged[0].suite)
    names = [
        f"{plain(short(one.judge)) or NONE} ({plain(short(one.bundle))})" for one in matrix.judged
    ]
    places = range(len(names))
    grid = [[matrix.cell(row, column) for column in places] for row in places]
    head = "|".join([words["judge"], *names])
    scores, flags = (
        _table(head, [[names[row], *(text(words, cell) for cell in grid[row])] for row in places])
        for text in (_scores_text, _flags_text)
    )
    why = [words["why_no_kappa"].format(none=NONE, reason=words[one]) for one in kappa_gaps(matrix)]
    return blocks(
        f"## {plain(words['matrix'].format(suite=title))}",
        words["matrix_text"],
        scores,
        *why,
        words["flags_text"],
        flags,
    )


def _scores_text(words: Words, cell: Cell | None) -> str:
    apart, kappa, n, _ = cell_texts(words, cell)
    return f"{apart}, κ {kappa} ({n})" if cell is not None else SELF


def _flags_text(words: Words, cell: Cell | None) -> str:
    return f"{cell_texts(words, cell)[3]} ({cell.flags.n})" if cell is not None else SELF


def kappa_gaps(matrix: Matrix) -> list[str]:
    """Return the reasons for which κ is missing somewhere in a matrix."""
    return sorted({cell.qwk.reason for cell in matrix.cells.values() if cell.qwk.reason})
