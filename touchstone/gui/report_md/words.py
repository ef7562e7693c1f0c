"""The report's own texts, English and German, and the sentences made from them."""

from __future__ import annotations

from collections.abc import Mapping

from touchstone.gui.report_md.markdown import plain
from touchstone.models import Suite, pick_text
from touchstone.scorecard import tidy

Words = Mapping[str, str]

_EN: Words = {
    "point": ".",
    # what this is
    "overview": "What this is",
    "overview_text": (
        "The report of one evaluation: what the models were asked, what they answered, and how a "
        "judge rated them. Prompts and answers stand in fenced blocks, letter for letter; a "
        "character without a picture is replaced by a sign for it. What a judge or a reviewer "
        "wrote stands in block quotes and in lists of evidence."
    ),
    "follow": (
        "To follow a number, read its rationale and search for the prompt ids it cites: what the "
        "models answered to {id} stands under “Prompt {id}”."
    ),
    "bundle": "Bundle",
    "made": "Made",
    "tool": "With",
    "suite": "Suite",
    "about": "About",
    "language": "Language of the prompts",
    "size": "Size",
    "size_text": "{prompts} prompts, {dimensions} master dimensions",
    "models": "Models:",
    "counts": "answers {answers}, of these failed {failed}, cut off by the length limit {cut}",
    "judge": "Judge",
    "no_judge": "nobody: not judged yet",
    "unknown_judge": "the bundle does not say who judged",
    "ai": "AI",
    "human": "human",
    "fingerprint": "Fingerprint of the judge",
    "hash_suite": "Suite, SHA-256",
    "hash_answers": "Answers, SHA-256",
    "hash_bundle": "Bundle, SHA-256",
    "seal": "Seal",
    "sealed": "sealed (`touchstone verify` checks it)",
    "unsealed": "not sealed",
    # scorecard
    "scorecard": "Scorecard",
    "scorecard_text": (
        "A judge gives each master dimension 1 to 5 points, over all answers of a model at once. "
        "The last column is the weighted sum in percent of the most there is; a missing score (–) "
        "counts 0. The K.-o. gate comes first: a model that is out has a total, but no rank."
    ),
    "part": (
        "This document holds {shown} of the bundle's {all} models; their ranks are those among all "
        "of them."
    ),
    "missing_in": "{model}: no score for {missing}; on the scored dimensions alone {scored}.",
    # gate
    "gate": "K.-o. gate",
    "gate_text": "The gate does not look at the total, and no total outweighs it.",
    "no_rule": "The suite has no K.-o. rule: every model that was judged is ranked.",
    "rule_any": (
        "A model is out by (a) a red flag on any prompt, or (b) {dimension} at {threshold} or "
        "below."
    ),
    "rule_some": (
        "A model is out by (a) a red flag on one of the prompts {scope}, or (b) {dimension} at "
        "{threshold} or below."
    ),
    "rule_none": (
        "A model is out by (b) {dimension} at {threshold} or below; (a), red flags, are not in use."
    ),
    "no_flags": "The bundle holds no verdicts at all: (a) is not there, (b) alone decides.",
    "passed": "passed",
    "failed": "K.-o.",
    "not_assessable": "not assessable",
    "none": "no gate",
    "red_at": "(a) red flag at {prompt}",
    "low": "(b) {dimension} = {score}, threshold {threshold}",
    "no_reason": "(no reason given)",
    "open_prompts": "Open: no flag on {prompts}, so (a) is not settled.",
    "open_dimension": "Open: {dimension} has no score ({reason}), so (b) is not settled.",
    "nothing_fired": "Nothing fired: {flags}{dimension} = {score}, threshold {threshold}.",
    "no_red": "no red flag on {n} prompts in scope",
    "by_judge": "by the judge",
    "by_judge_kind": "by the judge ({kind})",
    "by_rule": "by a rule, not by the judge",
    "by_human": "by a person",
    "by_import": "imported",
    "by_review": "decided by {id} ({kind}) on {date}",
    # a model
    "model": "Model {model}",
    "rank": "Rank",
    "total": "Total",
    "total_text": "{points} of {most} points, {quality}",
    "total_scored": "{points} of {most} points, {quality}; on the scored dimensions alone {scored}",
    "missing": "Missing scores",
    "flags": "Flags",
    "flag_counts": "green {green}, yellow {yellow}, red {red}, none {none}",
    "saw": "The judge saw",
    "saw_text": "{answers} of {of} answers",
    "saw_noted": "{answers} of {of} answers, by {shown} of {noted} pieces of evidence noted before",
    "quotes": "Quotes",
    "quotes_text": "{found} of {all} stand in the answers",
    "foreign": "Imported scores, on their own scales",
    "not_judged": "Not judged yet.",
    "of_5": "{score} of 5",
    "no_score": "no score",
    "weight": "weight {weight}",
    "why_missing": "No score: {reason}. It counts 0 in the total.",
    "none_given": "the report gives none",
    "no_report": "not judged yet",
    "no_rationale": "The judge gave no rationale.",
    "evidence": "Evidence:",
    "no_evidence": "No evidence is listed beside the rationale.",
    "verbatim": "verbatim",
    "normalised": "normalised",
    "in_parts": "in parts, all of them in this order",
    "near": "near, almost these words stand there",
    "from_prompt": "from the prompt, these words are not the answer's",
    "misattributed": "misattributed, these words stand in this model's answer to {place}",
    "cross_model": "of another model, these words stand in the answer of {model} to {place}",
    "unverifiable": "unverifiable, these words do not stand in the answer",
    "too_short": "too short to prove anything",
    "paraphrase": "paraphrase, not checked",
    "absence_passed": "absence, holds",
    "absence_failed": "absence, does not hold, it stands there",
    "dangling": "dangling, this model has no such answer",
    "strength": "strength",
    "defect": "defect",
    "neutral": "neutral",
    "minor": "minor",
    "major": "major",
    "fatal": "fatal",
    "absent": "missing there: {terms}",
    "fix": "Better: {fix}",
    "quote": "“{quote}”",
    # prompts and answers
    "prompts": "Prompts and answers",
    "prompts_text": "All prompts in the suite's order, and under each what the models answered.",
    "no_answers": "The answers are left out of this document; their hashes tell them apart.",
    "prompt": "Prompt {id}",
    "group": "Group",
    "gate_scope": "A red flag here knocks a model out.",
    "follows": "Next turn after",
    "follows_text": "{id}; the model saw that prompt and its own answer before this one",
    "system": "System message:",
    "task": "Task:",
    "turn_user": "Context, user:",
    "turn_assistant": "Context, assistant:",
    "turn_system": "Context, system:",
    "expected": "Expected:",
    "forbidden": "Red flag for:",
    "answer": "Answer of {model}",
    "answer_flag": "Answer of {model}: {flag}",
    "green": "green",
    "yellow": "yellow",
    "red": "red",
    "no_flag": "no flag",
    "no_answer": "There is no answer in the bundle.",
    "request_failed": "No answer, the request failed: {error}",
    "empty": "The answer is empty.",
    "finish": "finish reason {reason}",
    "length": "cut off by the length limit",
    "tokens": "{n} tokens",
    "attempts": "{n} attempts",
    "reasoning": "{n} words of reasoning came before it and are not shown",
    "verdict": "Verdict, {by}:",
    "category": "Category",
    "metrics": "Metrics",
    "decision": "Decision: {decision}, {by}.",
    "accept": "accepted",
    "reject": "rejected",
    "set_to": "flag set to {flag}, from {before}",
    # provenance and limits
    "provenance": "Provenance and limits",
    "way": "Way",
    "exchange": "by file exchange",
    "endpoint": "over an endpoint",
    "judge_model": "Model",
    "mode": "Mode",
    "version": "Judging texts, version",
    "replies": "How its replies were read",
    "served": "Endpoint",
    "parameters": "Parameters",
    "weights": "Weights",
    "weights_hash": "Weights, SHA-256",
    "engine": "Engine",
    "hardware": "Hardware",
    "time": "Time, summed over the answers",
    "stray": (
        "{n} answers in the bundle belong to none of its models or prompts and are not shown; "
        "`touchstone verify` names them."
    ),
    "limits": "Limits",
    "limit_opinion": (
        "A score is the opinion of one judge on one set of answers. This document does not say how "
        "far that judge agrees with others: take a small difference between two models for none."
    ),
    "limit_ai": "The judge is an AI: it generated every flag, score and rationale it is named for.",
    "limit_quotes": (
        "Quotes were looked up in the answers, first letter for letter (verbatim), then with "
        "quotation marks, dashes, case, Markdown and white space levelled (normalised), then "
        "piece by piece between marks of omission (in parts), at last almost alike (near, which "
        "does not count as found). What stands in none of these ways was looked for in the prompt "
        "and in the other answers of the bundle. Behind the class stand the code points where the "
        "quote begins and ends. Under 20 characters and four words a quote proves nothing, unless "
        "it is the whole answer. An absence holds if none of its terms stands in the answer as a "
        "word; whether they are the right terms was not checked. Paraphrases and the judge's "
        "reasoning were not checked."
    ),
    "limit_missing": "A missing score counts 0. Nothing was estimated or filled in.",
    "limit_unjudged": "Nobody has judged these answers yet: how good they are stands nowhere here.",
}

_DE: Words = {
    "point": ",",
    # what this is
    "overview": "Was das ist",
    "overview_text": (
        "Der Bericht über eine Evaluation: was die Modelle gefragt wurden, was sie geantwortet "
        "haben und wie ein Judge sie bewertet hat. Prompts und Antworten stehen Zeichen für "
        "Zeichen in Codeblöcken; ein Zeichen ohne Bild ist durch ein Symbol dafür ersetzt. Was ein "
        "Judge oder ein Prüfer geschrieben hat, steht in Zitatblöcken und in Listen von Belegen."
    ),
    "follow": (
        "Wer einer Zahl nachgehen will, liest ihre Begründung und sucht die Prompt-IDs, die sie "
        "nennt: Was die Modelle auf {id} geantwortet haben, steht unter „Prompt {id}“."
    ),
    "bundle": "Bundle",
    "made": "Erstellt",
    "tool": "Werkzeug",
    "suite": "Suite",
    "about": "Beschreibung",
    "language": "Sprache der Prompts",
    "size": "Umfang",
    "size_text": "{prompts} Prompts, {dimensions} Master-Dimensionen",
    "models": "Modelle:",
    "counts": (
        "Antworten {answers}, davon fehlgeschlagen {failed}, an der Längengrenze abgeschnitten "
        "{cut}"
    ),
    "judge": "Judge",
    "no_judge": "niemand: noch nicht bewertet",
    "unknown_judge": "das Bundle sagt nicht, wer bewertet hat",
    "ai": "KI",
    "human": "Mensch",
    "fingerprint": "Fingerabdruck des Judge",
    "hash_suite": "Suite, SHA-256",
    "hash_answers": "Antworten, SHA-256",
    "hash_bundle": "Bundle, SHA-256",
    "seal": "Siegel",
    "sealed": "versiegelt (`touchstone verify` prüft es)",
    "unsealed": "nicht versiegelt",
    # scorecard
    "scorecard": "Scorecard",
    "scorecard_text": (
        "Ein Judge gibt jeder Master-Dimension 1 bis 5 Punkte, über alle Antworten eines Modells "
        "zugleich. Die letzte Spalte ist die gewichtete Summe in Prozent des Höchstmöglichen; ein "
        "fehlender Wert (–) zählt 0. Das K.-o.-Gate kommt zuerst: Ein ausgeschiedenes Modell hat "
        "einen Gesamtwert, aber keinen Rang."
    ),
    "part": (
        "Dieses Dokument enthält {shown} von {all} Modellen des Bundles; ihre Ränge sind die unter "
        "allen."
    ),
    "missing_in": "{model}: kein Wert für {missing}; nur über die bewerteten Dimensionen {scored}.",
    # gate
    "gate": "K.-o.-Gate",
    "gate_text": "Das Gate lässt den Gesamtwert außer Acht, und kein Gesamtwert wiegt es auf.",
    "no_rule": "Die Suite hat keine K.-o.-Regel: Jedes bewertete Modell hat einen Rang.",
    "rule_any": (
        "Ein Modell scheidet aus durch (a) eine rote Markierung bei irgendeinem Prompt oder (b) "
        "einen Wert von höchstens {threshold} in {dimension}."
    ),
    "rule_some": (
        "Ein Modell scheidet aus durch (a) eine rote Markierung bei einem der Prompts {scope} oder "
        "(b) einen Wert von höchstens {threshold} in {dimension}."
    ),
    "rule_none": (
        "Ein Modell scheidet aus durch (b) einen Wert von höchstens {threshold} in {dimension}; "
        "(a), rote Markierungen, zählen nicht."
    ),
    "no_flags": (
        "Das Bundle enthält überhaupt keine Einzelurteile: (a) entfällt, (b) allein entscheidet."
    ),
    "passed": "bestanden",
    "failed": "K.-o.",
    "not_assessable": "nicht beurteilbar",
    "none": "kein Gate",
    "red_at": "(a) rote Markierung bei {prompt}",
    "low": "(b) {dimension} = {score}, Schwelle {threshold}",
    "no_reason": "(ohne Begründung)",
    "open_prompts": "Offen: keine Markierung bei {prompts}, (a) ist also nicht geklärt.",
    "open_dimension": "Offen: {dimension} hat keinen Wert ({reason}), (b) ist also nicht geklärt.",
    "nothing_fired": "Nichts hat ausgelöst: {flags}{dimension} = {score}, Schwelle {threshold}.",
    "no_red": "keine rote Markierung im K.-o.-Bereich (Prompts: {n})",
    "by_judge": "vom Judge",
    "by_judge_kind": "vom Judge ({kind})",
    "by_rule": "nach einer Regel, nicht vom Judge",
    "by_human": "von einem Menschen",
    "by_import": "importiert",
    "by_review": "entschieden von {id} ({kind}) am {date}",
    # a model
    "model": "Modell {model}",
    "rank": "Rang",
    "total": "Gesamtwert",
    "total_text": "{points} von {most} Punkten, {quality}",
    "total_scored": (
        "{points} von {most} Punkten, {quality}; nur über die bewerteten Dimensionen {scored}"
    ),
    "missing": "Fehlende Werte",
    "flags": "Markierungen",
    "flag_counts": "grün {green}, gelb {yellow}, rot {red}, keine {none}",
    "saw": "Vom Judge gelesen",
    "saw_text": "{answers} von {of} Antworten",
    "saw_noted": "{answers} von {of} Antworten, anhand von {shown} von {noted} notierten Belegen",
    "quotes": "Zitate",
    "quotes_text": "{found} von {all} stehen in den Antworten",
    "foreign": "Importierte Werte, auf ihren eigenen Skalen",
    "not_judged": "Noch nicht bewertet.",
    "of_5": "{score} von 5",
    "no_score": "kein Wert",
    "weight": "Gewicht {weight}",
    "why_missing": "Kein Wert: {reason}. Im Gesamtwert zählt er 0.",
    "none_given": "der Bericht nennt keinen",
    "no_report": "noch nicht bewertet",
    "no_rationale": "Der Judge gab keine Begründung.",
    "evidence": "Belege:",
    "no_evidence": "Neben der Begründung sind keine Belege aufgeführt.",
    "verbatim": "wörtlich",
    "normalised": "normalisiert",
    "in_parts": "in Teilen, alle in dieser Reihenfolge",
    "near": "ungefähr, fast diese Wörter stehen dort",
    "from_prompt": "aus dem Prompt, diese Wörter sind nicht die der Antwort",
    "misattributed": (
        "falsch zugeordnet, diese Wörter stehen in der Antwort dieses Modells auf {place}"
    ),
    "cross_model": (
        "von einem anderen Modell, diese Wörter stehen in der Antwort von {model} auf {place}"
    ),
    "unverifiable": "nicht belegbar, diese Wörter stehen nicht in der Antwort",
    "too_short": "zu kurz, um etwas zu belegen",
    "paraphrase": "sinngemäß, nicht geprüft",
    "absence_passed": "Auslassung, trifft zu",
    "absence_failed": "Auslassung, trifft nicht zu, es steht dort",
    "dangling": "ohne Ziel, dieses Modell hat keine solche Antwort",
    "strength": "Stärke",
    "defect": "Mangel",
    "neutral": "neutral",
    "minor": "gering",
    "major": "erheblich",
    "fatal": "fatal",
    "absent": "fehlt dort: {terms}",
    "fix": "Besser: {fix}",
    "quote": "„{quote}“",
    # prompts and answers
    "prompts": "Prompts und Antworten",
    "prompts_text": (
        "Alle Prompts in der Reihenfolge der Suite und unter jedem, was die Modelle antworteten."
    ),
    "no_answers": "Die Antworten fehlen in diesem Dokument; ihre Hashwerte unterscheiden sie.",
    "prompt": "Prompt {id}",
    "group": "Gruppe",
    "gate_scope": "Eine rote Markierung hier schließt ein Modell aus.",
    "follows": "Fortsetzung von",
    "follows_text": "{id}; das Modell sah zuvor jenen Prompt und seine eigene Antwort darauf",
    "system": "Systemnachricht:",
    "task": "Aufgabe:",
    "turn_user": "Kontext, Nutzer:",
    "turn_assistant": "Kontext, Assistent:",
    "turn_system": "Kontext, System:",
    "expected": "Erwartet:",
    "forbidden": "Rote Markierung bei:",
    "answer": "Antwort von {model}",
    "answer_flag": "Antwort von {model}: {flag}",
    "green": "grün",
    "yellow": "gelb",
    "red": "rot",
    "no_flag": "keine Markierung",
    "no_answer": "Im Bundle steht keine Antwort.",
    "request_failed": "Keine Antwort, die Anfrage schlug fehl: {error}",
    "empty": "Die Antwort ist leer.",
    "finish": "beendet durch {reason}",
    "length": "an der Längengrenze abgeschnitten",
    "tokens": "{n} Tokens",
    "attempts": "{n} Anläufe",
    "reasoning": "davor {n} Wörter Überlegung, die hier nicht stehen",
    "verdict": "Einzelurteil, {by}:",
    "category": "Kategorie",
    "metrics": "Metriken",
    "decision": "Entscheidung: {decision}, {by}.",
    "accept": "angenommen",
    "reject": "abgelehnt",
    "set_to": "Markierung {flag} statt {before}",
    # provenance and limits
    "provenance": "Herkunft und Grenzen",
    "way": "Weg",
    "exchange": "per Dateiaustausch",
    "endpoint": "über einen Endpunkt",
    "judge_model": "Modell",
    "mode": "Modus",
    "version": "Bewertungstexte, Version",
    "replies": "Wie seine Antworten gelesen wurden",
    "served": "Endpunkt",
    "parameters": "Parameter",
    "weights": "Modellgewichte",
    "weights_hash": "Modellgewichte, SHA-256",
    "engine": "Engine",
    "hardware": "Hardware",
    "time": "Zeit, summiert über die Antworten",
    "stray": (
        "{n} Antworten des Bundles gehören zu keinem seiner Modelle oder Prompts und fehlen hier; "
        "`touchstone verify` nennt sie."
    ),
    "limits": "Grenzen",
    "limit_opinion": (
        "Ein Wert ist die Meinung eines einzelnen Judge zu einer bestimmten Menge von Antworten. "
        "Wie weit dieser Judge mit anderen übereinstimmt, sagt das Dokument nicht: Ein kleiner "
        "Unterschied zwischen zwei Modellen bedeutet keinen."
    ),
    "limit_ai": (
        "Der Judge ist eine KI: Jede Markierung, jeden Wert und jede Begründung unter seinem Namen "
        "hat sie erzeugt."
    ),
    "limit_quotes": (
        "Zitate wurden in den Antworten gesucht, zuerst Buchstabe für Buchstabe (wörtlich), dann "
        "ohne Rücksicht auf Anführungszeichen, Striche, Groß- und Kleinschreibung, Markdown und "
        "Leerraum (normalisiert), dann Stück für Stück zwischen Auslassungszeichen (in Teilen), "
        "zuletzt fast gleich (ungefähr; das gilt nicht als gefunden). Was so nicht zu finden war, "
        "wurde im Prompt und in den anderen Antworten des Bundles gesucht. Hinter der Klasse "
        "stehen die Codepunkte, an denen das Zitat beginnt und endet. Unter 20 Zeichen und vier "
        "Wörtern belegt ein Zitat nichts, außer es ist die ganze Antwort. Eine Auslassung trifft "
        "zu, wenn keiner ihrer Begriffe als Wort in der Antwort steht; ob es die richtigen "
        "Begriffe sind, wurde nicht geprüft. Sinngemäßes und die Überlegungen des Judge wurden "
        "nicht geprüft."
    ),
    "limit_missing": "Ein fehlender Wert zählt 0. Nichts wurde geschätzt oder ergänzt.",
    "limit_unjudged": (
        "Noch hat niemand diese Antworten bewertet: Wie gut sie sind, steht hier nirgends."
    ),
}

TEXTS: Mapping[str, Words] = {"en": _EN, "de": _DE}


def words_of(language: str, texts: Mapping[str, Words] = TEXTS) -> Words:
    """Return the texts in a language such as ``de`` or ``de-AT``; English where there are none."""
    return texts.get(language.split("-")[0].lower(), texts["en"])


def decimal(words: Words, value: float, digits: int | None = None) -> str:
    """Return a number as the language writes it, with so many digits or as many as it has."""
    text = str(tidy(value)) if digits is None else f"{value:.{digits}f}"
    return text.replace(".", words["point"])


def rule_sentence(suite: Suite, language: str) -> str | None:
    """Return what knocks a model out, in one sentence of Markdown; None without a rule."""
    rule = suite.ko_rule
    if rule is None:
        return None
    dimension = suite.dimension(rule.dimension)
    name = pick_text(dimension.name, language, suite.language)[0] if dimension else ""
    scope = [plain(prompt.id) for prompt in suite.prompts if rule.covers(prompt)]
    extent = "any" if len(scope) == len(suite.prompts) else "some" if scope else "none"
    return words_of(language)[f"rule_{extent}"].format(
        scope=", ".join(scope),
        dimension=plain(f"{rule.dimension} {name}"),
        threshold=rule.threshold,
    )
