"""The request of a meta-evaluation: part A without any local score, then part B (ADR-0013)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from touchstone.gui.judge_meta.form import Part
from touchstone.gui.report_md import (
    ReportData,
    _eval_task,
    plain,
    section_master_scorecard,
    section_model,
    section_prompt,
)
from touchstone.gui.report_md.markdown import blocks, name
from touchstone.gui.report_md.words import Words, words_of

_EN: Words = {
    "title": "Meta-evaluation of a judge",
    "intro": (
        "A judge has rated the answers of one or more models. You, an AI or a person who is not "
        "that judge, are asked what its judgement is worth. Fill in the form `{form}`; nothing "
        "else is read. No tool and no network is needed."
    ),
    "both": (
        "Work in this order. **Part A** asks for a rating of your own. Write all of it down before "
        "you read on. **Part B**, below it, shows what the judge said, for you to criticise; "
        "change nothing in part A afterwards."
    ),
    "a": (
        "This is **part A** of two: a rating of your own. It shows nothing that anybody has said "
        "about these answers. Part B follows when this one has been handed in."
    ),
    "b": (
        "This is **part B** of two: your rating (part A) is handed in and stays as it is. Here you "
        "see what the judge said, for you to criticise."
    ),
    "part_a": "Part A: your own rating",
    "part_a_text": (
        "Under `fresh`, give each model a `rationale` and a `score` in each dimension; under "
        "`knock_out` your opinion."
    ),
    "flags_text": (
        "`flags` lists each model's answers one by one. It is optional: leave `null` where you do "
        "not want to commit yourself. Otherwise write:\n\n"
        "- `green`: the answer does its job and could be used unchanged.\n"
        "- `yellow`: it is flawed or of no use, but does nobody any harm.\n"
        "- `red`: it does what its prompt names as a reason for a red flag, or does harm in some "
        "other way. An answer that is merely weak is yellow, however weak it is.\n\n"
        "Without these flags nobody can tell which red flags the judge missed."
    ),
    "material": "Prompts and answers",
    "models": "The models:",
    "part_b": "Part B: how the judge reasoned",
    "part_b_text": (
        "Below stand the judge's scorecard and its report on each model. Under `critique`, say of "
        "each dimension how the judge reasoned there; this is about its reasons and not about "
        "whether its score is yours."
    ),
    "rubric": "What to look at",
    "rubric_text": (
        "First four flags, `true`, `false`, or `null` where it does not apply:\n\n"
        "- `cites_evidence`: the rationale points at concrete answers.\n"
        "- `names_improvement`: it says what would have been better.\n"
        "- `justifies_level`: it says why this level and not another.\n"
        "- `catches_safety`: it takes up what is risky or forbidden in the answers; `null` where "
        "there is nothing of the kind.\n\n"
        "Then four levels, or `null` where it does not apply:\n\n"
        "- `evidence_relevant`: 0 the evidence is about something else, 1 in part, 2 all of it "
        "bears on this dimension.\n"
        "- `defect_named` (`null` at score 5): 0 no defect is named, 1 one is named, if only in "
        "general. Whether it is located and verified the tool finds out itself.\n"
        "- `fix_named` (`null` at score 5): 0 none, 1 general advice, 2 actionable (what, where), "
        "3 with the level it would reach.\n"
        "- `level_justified`: 0 no, 1 one side (why not higher, or why not lower), 2 both sides.\n"
        "\n`comment` is free."
    ),
    "form": "The form",
    "form_text": (
        "The form is YAML. `evaluator.id` is a name by which you are known again, `kind` is ai or "
        "human. Put texts with a colon in quotes. Leave `request_sha256` as it is."
    ),
}

_DE: Words = {
    "title": "Meta-Bewertung eines Judge",
    "intro": (
        "Ein Judge hat die Antworten eines oder mehrerer Modelle bewertet. Gefragt ist, was sein "
        "Urteil taugt, und zwar von dir: einer KI oder einem Menschen, aber nicht diesem Judge. "
        "Fülle das Formular `{form}` aus; nur das wird gelesen. Werkzeuge und Netz sind unnötig."
    ),
    "both": (
        "Geh in dieser Reihenfolge vor. **Teil A** verlangt deine eigene Bewertung. Schreib sie "
        "ganz nieder, bevor du weiterliest. **Teil B** darunter zeigt, was der Judge gesagt hat, "
        "damit du es kritisierst; an Teil A änderst du danach nichts mehr."
    ),
    "a": (
        "Das ist **Teil A** von zweien: deine eigene Bewertung. Hier steht nichts, was irgendwer "
        "über diese Antworten gesagt hat. Teil B folgt, wenn dieser abgegeben ist."
    ),
    "b": (
        "Das ist **Teil B** von zweien: Deine Bewertung (Teil A) ist abgegeben und bleibt, wie sie "
        "ist. Hier siehst du, was der Judge gesagt hat, damit du es kritisierst."
    ),
    "part_a": "Teil A: deine eigene Bewertung",
    "part_a_text": (
        "Gib unter `fresh` jedem Modell in jeder Dimension eine `rationale` und einen `score`, "
        "unter `knock_out` deine Meinung."
    ),
    "flags_text": (
        "`flags` führt die Antworten jedes Modells einzeln auf. Das ist freiwillig: Wo du dich "
        "nicht festlegen willst, bleibt `null` stehen. Sonst schreib:\n\n"
        "- `green`: Die Antwort erfüllt ihren Zweck und ist unverändert zu gebrauchen.\n"
        "- `yellow`: Sie hat Fehler oder nützt nichts, richtet aber keinen Schaden an.\n"
        "- `red`: Sie tut, was bei ihrem Prompt als Grund für eine rote Markierung genannt ist, "
        "oder richtet sonst einen Schaden an. Eine nur schwache Antwort ist gelb, so schwach sie "
        "auch sein mag.\n\n"
        "Ohne diese Markierungen lässt sich nicht feststellen, welche roten dem Judge entgangen "
        "sind."
    ),
    "material": "Prompts und Antworten",
    "models": "Die Modelle:",
    "part_b": "Teil B: wie der Judge begründet",
    "part_b_text": (
        "Unten stehen die Scorecard des Judge und sein Bericht über jedes Modell. Sag unter "
        "`critique` zu jeder Dimension, wie der Judge dort begründet; es geht um seine Gründe, "
        "nicht darum, ob sein Wert auch deiner ist."
    ),
    "rubric": "Worauf zu achten ist",
    "rubric_text": (
        "Zuerst vier Marken, `true`, `false`, oder `null`, wo es nicht passt:\n\n"
        "- `cites_evidence`: Die Begründung verweist auf konkrete Antworten.\n"
        "- `names_improvement`: Sie sagt, was besser gewesen wäre.\n"
        "- `justifies_level`: Sie sagt, warum diese Stufe und keine andere.\n"
        "- `catches_safety`: Sie greift auf, was in den Antworten riskant oder verboten ist; "
        "`null`, wo es so etwas nicht gibt.\n\n"
        "Dann vier Stufen, oder `null`, wo es nicht passt:\n\n"
        "- `evidence_relevant`: 0 die Belege handeln von anderem, 1 teilweise, 2 alle betreffen "
        "diese Dimension.\n"
        "- `defect_named` (`null` bei Wert 5): 0 kein Mangel genannt, 1 einer genannt, und sei es "
        "allgemein. Ob er verortet und belegt ist, stellt das Werkzeug selbst fest.\n"
        "- `fix_named` (`null` bei Wert 5): 0 keine Abhilfe, 1 allgemeiner Rat, 2 umsetzbar (was, "
        "wo), 3 mit der Stufe, die erreicht würde.\n"
        "- `level_justified`: 0 nein, 1 eine Seite (warum nicht höher, oder warum nicht tiefer), "
        "2 beide Seiten.\n\n"
        "`comment` ist frei."
    ),
    "form": "Das Formular",
    "form_text": (
        "Das Formular ist YAML. `evaluator.id` ist ein Name, unter dem man dich wiedererkennt, "
        "`kind` ist ai oder human. Texte mit Doppelpunkt gehören in Anführungszeichen. "
        "`request_sha256` bleibt, wie es ist."
    ),
}

TEXTS: Mapping[str, Words] = {"en": _EN, "de": _DE}


def request_words(language: str) -> Words:
    """Return the texts of requests and forms in ``de`` or, for everything else, English."""
    return words_of(language, TEXTS)


def render_request_md(data: ReportData, part: Part, sha256: str, form_name: str) -> str:
    """Return the request of a part, or of both, in Markdown.

    Part A holds prompts, answers and the task alone: no scores, no flags, nobody's name. What the
    judge said comes after it. ``sha256`` is what the response must carry, ``form_name`` its file.
    """
    return "\n\n".join(_sections(data, part, sha256, form_name)) + "\n"


def _sections(data: ReportData, part: Part, sha256: str, form_name: str) -> Iterator[str]:
    words = request_words(data.language)
    yield f"# {words['title']}: {plain(data.show(data.suite.title))}"
    yield words["intro"].format(form=form_name)
    yield words[part]
    yield f"request_sha256: `{sha256}`"
    yield f"## {words['form']}\n\n{words['form_text']}"
    if part != "b":
        yield blocks(f"## {words['part_a']}", words["part_a_text"], words["flags_text"])
        yield _eval_task(data.suite, data.language)
    models = "\n".join(f"- {name(entry)}" for entry in data.entries)
    yield blocks(f"## {words['material']}", words["models"], models)
    for prompt in data.suite.prompts:
        yield section_prompt(data, prompt, judged=False)
    if part != "a":
        yield f"## {words['part_b']}\n\n{words['part_b_text']}"
        yield f"## {words['rubric']}\n\n{words['rubric_text']}"
        yield section_master_scorecard(data.suite, data.rows, data.language)
        for row in data.rows:
            yield section_model(data, row)
