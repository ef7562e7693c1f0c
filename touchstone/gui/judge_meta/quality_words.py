"""The texts of judge_quality.md, English and German."""

from __future__ import annotations

from collections.abc import Mapping

from touchstone.gui.report_md.words import Words
from touchstone.intervals import NO_INTERVAL, UNDEFINED

_EN: Words = {
    "point": ".",
    "title": "Judge quality",
    "plain": "In plain words",
    "agrees_human": "The judge {judge} was calibrated against {reference}: ",
    "agrees_ai": "This is agreement with the reference {reference}, not calibration: ",
    "sentence": (
        "on average {judge} is {mae} points away from it in {n} ratings of {models} models; "
    ),
    "no_sentence": "nothing was rated by both sides, so nothing can be said about {judge}.",
    "more": "it gives {bias} points more on average; ",
    "less": "it gives {bias} points less on average; ",
    "even": "it is neither more severe nor more lenient on average; ",
    "skill_good": "it is closer than the best constant rating ({constant} throughout) would be.",
    "skill_bad": (
        "a judge that always says {constant} would be at least as close, so the agreement proves "
        "nothing."
    ),
    "skill_none": (
        "the reference gave one and the same rating throughout, so it can't be told whether the "
        "judge tells anything apart."
    ),
    "few": "With fewer than 70 ratings this is no verdict on the judge, only a count.",
    "ai": "AI",
    "human": "human",
    "panel": "the panel ({ids}; lower median)",
    "dimensions": "By dimension",
    "dimension_head": "Dimension|Judge|Reference|Δ|n|Evidence level E",
    "dimension_text": "Means over all models; Δ is judge minus reference.",
    "statistic_head": "Statistic|Value|n|Remark",
    "exact": "Same score",
    "within_1": "At most one apart",
    "mae": "mean \\|Δ\\|",
    "constant": "mean \\|Δ\\| of the best constant",
    "skill": "Skill against the best constant",
    "bias": "Bias (judge − reference)",
    "spread": "Spread, judge / reference",
    "qwk": "Weighted κ (quadratic)",
    "alpha": "Krippendorff's α (ordinal), judge and references",
    "panel_alpha": "Krippendorff's α (ordinal), references alone",
    "tau": "Rank correlation τ_b of the models",
    "pairs": "Pairs of models in the same order",
    "quality_delta": "Quality % Δ, missing = 0",
    "quality_delta_common": "Quality % Δ, on what both scored",
    "interval": "95 % [{low}, {high}], bootstrap over {n} models, seed {seed}",
    "range": "single models from {low} to {high} (too few for an interval)",
    "rank_remark": "{discordant} in the opposite order, {tied} tied",
    "constant_remark": "always {score}",
    "single": "Reference by reference",
    "single_head": "Reference|Kind|Blind|mean \\|Δ\\||Skill|Exact|Bias|κ|n",
    "grid": "Score by score",
    "grid_text": "Rows: the judge; columns: the reference. On the diagonal they agree.",
    "grid_head": "Judge ↓ Reference →",
    "ko": "K.-o.",
    "ko_text": "Rows: the judge; columns: the reference's own opinion.",
    "ko_none": "Not comparable: one side or both give no K.-o. result for any model.",
    "ko_head": "|Reference: out|Reference: stays",
    "out": "Judge: out",
    "stays": "Judge: stays",
    "missed": "Missed by the judge: {models}.",
    "false": "Knocked out by the judge alone: {models}.",
    "branch_dimension": (
        "By the K.-o. dimension's score alone: {agree} of {n} models alike; missed {missed}, "
        "false {false}."
    ),
    "branch_flags": "Branch (a), red flags, has no counterpart: the reference flags no answers.",
    "branch_flags_seen": "Branch (a), red flags, is compared verdict by verdict below.",
    "flags": "Verdict by verdict",
    "flags_none": (
        "No reference flagged single answers, so it is not known which red flags the judge missed."
    ),
    "flags_unpaired": "The judge gave no flag to any answer that the reference flagged.",
    "flags_text": "Flags of single answers. Rows: the judge; columns: the reference.",
    "flags_line": (
        "{same} of {n} answers have the same flag, {exact}; {flag} throughout would be right in "
        "{constant}. Weighted κ {kappa}. Red flags missed: {missed} of {reds}, {fnr}; red flags "
        "given to other answers: {false} of {others}, {fpr}."
    ),
    "wilson": "95 % Wilson interval {low} to {high}",
    "no_reference_red": "nothing is red to the reference",
    "only_reference_red": "everything is red to the reference",
    "missed_red": "Red to the reference and not to the judge: {answers}.",
    "false_red": "Red to the judge and not to the reference: {answers}.",
    "flags_left_out": "Answers left out because only the reference flagged them: {count}.",
    "flags_scope": (
        "Where a red flag knocks a model out: {n} answers flagged by both, missed {missed}, false "
        "{false}."
    ),
    "flags_single": "{id}: {same} of {n} alike, red flags missed {missed}, false {false}",
    "green": "green",
    "yellow": "yellow",
    "red": "red",
    "fidelity": "Evidence fidelity",
    "fidelity_text": (
        "{found} of {of} quotes stand in the answer they are said to come from: {share} "
        "(95 % Wilson interval {low} to {high})."
    ),
    "fidelity_none": "The judge quotes nothing, so there is no fidelity.",
    "fidelity_head": "Class|Count",
    "fidelity_rest": (
        "Verbatim and normalised quotes and those in parts are found; all other quotes are not. "
        "An absence holds if none of its terms stands in the answer as a word."
    ),
    "verbatim": "verbatim",
    "normalised": "normalised",
    "in_parts": "in parts",
    "near": "near (almost these words)",
    "from_prompt": "from the prompt",
    "misattributed": "misattributed (in another answer of this model)",
    "cross_model": "in an answer of another model",
    "unverifiable": "unverifiable",
    "too_short": "too short to prove anything",
    "dangling": "dangling (no such answer)",
    "absence_passed": "absence that holds",
    "absence_failed": "absence that does not hold",
    "paraphrase": "paraphrase (not checked)",
    "rate": "{found} of {of}, {share} (95 % Wilson interval {low} to {high})",
    "cited": "Answers cited",
    "red_cited": "Red-flagged answers cited",
    "reused": "Quotes reused in three dimensions or more",
    "reused_head": "Reused quotes",
    "reused_line": "{model}, {id}: {quote} ({dimensions})",
    "position": "Mean place of what is cited",
    "position_text": "{place}, from 0 (the answer read first) to 1 (the one read last)",
    "prose": "Quotes beside a prompt id in the rationales that were found",
    "contradictions": "Contradictions",
    "only_defects": "A score of 4 or 5, and nothing but defects beside it",
    "fatal_at_5": "A score of 5 with a fatal defect",
    "same_rationale": "One rationale, word for word, for several dimensions",
    "ids_differ": "The rationale names other prompts than the evidence beside it",
    "only_in_rationale": "only the rationale: {ids}",
    "only_in_evidence": "only the evidence: {ids}",
    "rubric": "Rubric",
    "rubric_head": "What|Value|n|Decided by",
    "E": "E evidence (0–3)",
    "D": "D defect named (0–3)",
    "F": "F fix named (0–3)",
    "J": "J level justified (0–3)",
    "S": "S safety (0–3)",
    "tool": "tool",
    "evaluator": "evaluator",
    "both": "tool and evaluator",
    "no_critique": "No part B has been handed in: what the evaluator decides is missing.",
    "disagreements": "Disagreements of 2 and more",
    "no_disagreements": "None.",
    "judge_says": "Judge: {score}",
    "reference_says": "{id}: {score}",
    "none_given": "No rationale.",
    "quote": "quoted from {id} ({kind}): {quote}",
    "probes": "Probes",
    "no_probes": "No probes have been run: how much the judge varies by itself is not known.",
    "provenance": "Provenance and limits",
    "judge": "Judge",
    "fingerprint": "Fingerprint",
    "mode": "Judging mode",
    "parameters": "Parameters",
    "blind": "blind: part A was handed in before part B was shown",
    "not_blind": "not blind: one pass, part A before part B in one file",
    "hash_suite": "Suite, SHA-256",
    "hash_answers": "Answers, SHA-256",
    "hash_bundle": "Bundle, SHA-256",
    "hash_response": "Response of {id}, part {part}, SHA-256",
    "limit_truth": "A reference is a second opinion, not the truth.",
    "limit_blind": (
        "Blind means that the tool handed out part B after part A; what an evaluator had seen "
        "elsewhere it can't know."
    ),
    "limit_ko": "The reference's K.-o. is its free opinion and is not derived from its scores.",
    **{str(key): text for key, text in (*UNDEFINED.items(), *NO_INTERVAL.items())},
}

_DE: Words = {
    "point": ",",
    "title": "Judge-Qualität",
    "plain": "In einfachen Worten",
    "agrees_human": "Der Judge {judge} wurde an {reference} kalibriert: ",
    "agrees_ai": "Das ist Übereinstimmung mit der Referenz {reference}, keine Kalibrierung: ",
    "sentence": (
        "im Mittel liegt {judge} bei {n} Bewertungen von {models} Modellen {mae} Punkte daneben; "
    ),
    "no_sentence": (
        "nichts wurde von beiden Seiten bewertet, über {judge} lässt sich also nichts sagen."
    ),
    "more": "er gibt im Mittel {bias} Punkte mehr; ",
    "less": "er gibt im Mittel {bias} Punkte weniger; ",
    "even": "er ist im Mittel weder strenger noch milder; ",
    "skill_good": (
        "er liegt näher, als es die beste gleichbleibende Bewertung (immer {constant}) täte."
    ),
    "skill_bad": (
        "ein Judge, der immer {constant} sagt, läge mindestens ebenso nah; die Übereinstimmung "
        "beweist also nichts."
    ),
    "skill_none": (
        "die Referenz gab durchweg denselben Wert; ob der Judge etwas unterscheidet, ist daran "
        "nicht zu erkennen."
    ),
    "few": "Bei weniger als 70 Bewertungen ist das kein Urteil über den Judge, nur eine Zählung.",
    "ai": "KI",
    "human": "Mensch",
    "panel": "das Panel ({ids}; unterer Median)",
    "dimensions": "Nach Dimension",
    "dimension_head": "Dimension|Judge|Referenz|Δ|n|Belegstufe E",
    "dimension_text": "Mittel über alle Modelle; Δ ist Judge minus Referenz.",
    "statistic_head": "Maß|Wert|n|Bemerkung",
    "exact": "Gleicher Wert",
    "within_1": "Höchstens eins daneben",
    "mae": "mittleres \\|Δ\\|",
    "constant": "mittleres \\|Δ\\| der besten Konstante",
    "skill": "Skill gegen die beste Konstante",
    "bias": "Bias (Judge − Referenz)",
    "spread": "Streuung, Judge / Referenz",
    "qwk": "Gewichtetes κ (quadratisch)",
    "alpha": "Krippendorffs α (ordinal), Judge und Referenzen",
    "panel_alpha": "Krippendorffs α (ordinal), nur Referenzen",
    "tau": "Rangkorrelation τ_b der Modelle",
    "pairs": "Modellpaare in gleicher Reihenfolge",
    "quality_delta": "Qualität % Δ, fehlend = 0",
    "quality_delta_common": "Qualität % Δ, nur beidseitig Bewertetes",
    "interval": "95 % [{low}; {high}], Bootstrap über {n} Modelle, Seed {seed}",
    "range": "einzelne Modelle von {low} bis {high} (zu wenige für ein Intervall)",
    "rank_remark": "{discordant} umgekehrt, {tied} gleichauf",
    "constant_remark": "immer {score}",
    "single": "Referenz für Referenz",
    "single_head": "Referenz|Art|Blind|mittleres \\|Δ\\||Skill|Exakt|Bias|κ|n",
    "grid": "Wert für Wert",
    "grid_text": "Zeilen: der Judge; Spalten: die Referenz. Auf der Diagonale sind sie einig.",
    "grid_head": "Judge ↓ Referenz →",
    "ko": "K.-o.",
    "ko_text": "Zeilen: der Judge; Spalten: die eigene Meinung der Referenz.",
    "ko_none": "Nicht vergleichbar: Eine Seite oder beide haben zu keinem Modell ein K.-o.",
    "ko_head": "|Referenz: scheidet aus|Referenz: bleibt",
    "out": "Judge: scheidet aus",
    "stays": "Judge: bleibt",
    "missed": "Vom Judge übersehen: {models}.",
    "false": "Nur vom Judge ausgeschieden: {models}.",
    "branch_dimension": (
        "Allein nach dem Wert der K.-o.-Dimension: {agree} von {n} Modellen gleich; übersehen "
        "{missed}, falsch {false}."
    ),
    "branch_flags": (
        "Zweig (a), rote Markierungen, hat kein Gegenstück: Die Referenz markiert keine einzelnen "
        "Antworten."
    ),
    "branch_flags_seen": (
        "Zweig (a), rote Markierungen, ist unten Einzelurteil für Einzelurteil verglichen."
    ),
    "flags": "Einzelurteil für Einzelurteil",
    "flags_none": (
        "Keine Referenz hat einzelne Antworten markiert; welche roten Markierungen dem Judge "
        "entgangen sind, ist daher unbekannt."
    ),
    "flags_unpaired": "Der Judge hat keine der Antworten markiert, die die Referenz markiert hat.",
    "flags_text": "Markierungen einzelner Antworten. Zeilen: der Judge; Spalten: die Referenz.",
    "flags_line": (
        "{same} von {n} Antworten haben dieselbe Markierung, {exact}; durchweg {flag} träfe "
        "{constant}. Gewichtetes κ {kappa}. Rote Markierungen übersehen: {missed} von {reds}, "
        "{fnr}; andere Antworten rot markiert: {false} von {others}, {fpr}."
    ),
    "wilson": "95-%-Wilson-Intervall {low} bis {high}",
    "no_reference_red": "für die Referenz ist nichts rot",
    "only_reference_red": "für die Referenz ist alles rot",
    "missed_red": "Rot für die Referenz, nicht für den Judge: {answers}.",
    "false_red": "Rot für den Judge, nicht für die Referenz: {answers}.",
    "flags_left_out": "Weggelassen, weil nur die Referenz sie markiert hat: {count}.",
    "flags_scope": (
        "Wo eine rote Markierung zum Ausscheiden führt: {n} von beiden markierte Antworten, "
        "übersehen {missed}, falsch {false}."
    ),
    "flags_single": "{id}: {same} von {n} gleich, rote übersehen {missed}, falsche {false}",
    "green": "grün",
    "yellow": "gelb",
    "red": "rot",
    "fidelity": "Belegtreue",
    "fidelity_text": (
        "{found} von {of} Zitaten stehen in der Antwort, aus der sie stammen sollen: {share} "
        "(95-%-Wilson-Intervall {low} bis {high})."
    ),
    "fidelity_none": "Der Judge zitiert nichts; eine Belegtreue gibt es daher nicht.",
    "fidelity_head": "Klasse|Anzahl",
    "fidelity_rest": (
        "Wörtliche und normalisierte Zitate und die in Teilen gelten als gefunden, alle anderen "
        "nicht. Eine Auslassung trifft zu, wenn keiner ihrer Begriffe als Wort in der Antwort "
        "steht."
    ),
    "verbatim": "wörtlich",
    "normalised": "normalisiert",
    "in_parts": "in Teilen",
    "near": "ungefähr (fast diese Wörter)",
    "from_prompt": "aus dem Prompt",
    "misattributed": "falsch zugeordnet (in einer anderen Antwort dieses Modells)",
    "cross_model": "in der Antwort eines anderen Modells",
    "unverifiable": "nicht auffindbar",
    "too_short": "zu kurz, um etwas zu belegen",
    "dangling": "ins Leere (keine solche Antwort)",
    "absence_passed": "Auslassung, die zutrifft",
    "absence_failed": "Auslassung, die nicht zutrifft",
    "paraphrase": "sinngemäß (nicht geprüft)",
    "rate": "{found} von {of}, {share} (95-%-Wilson-Intervall {low} bis {high})",
    "cited": "Zitierte Antworten",
    "red_cited": "Zitierte Antworten mit roter Markierung",
    "reused": "Zitate, die in drei oder mehr Dimensionen dienen",
    "reused_head": "Mehrfach verwendete Zitate",
    "reused_line": "{model}, {id}: {quote} ({dimensions})",
    "position": "Mittlerer Ort des Zitierten",
    "position_text": "{place}, von 0 (zuerst gelesene Antwort) bis 1 (zuletzt gelesene)",
    "prose": "Gefundene Zitate neben einer Prompt-ID in den Begründungen",
    "contradictions": "Widersprüche",
    "only_defects": "4 oder 5 Punkte und als Belege nur Mängel",
    "fatal_at_5": "5 Punkte trotz eines fatalen Mangels",
    "same_rationale": "Ein und dieselbe Begründung für mehrere Dimensionen",
    "ids_differ": "Die Begründung nennt andere Prompts als die Belege daneben",
    "only_in_rationale": "nur die Begründung: {ids}",
    "only_in_evidence": "nur die Belege: {ids}",
    "rubric": "Rubrik",
    "rubric_head": "Was|Wert|n|Entscheidet",
    "E": "E Beleg (0–3)",
    "D": "D Mangel benannt (0–3)",
    "F": "F Abhilfe benannt (0–3)",
    "J": "J Stufe begründet (0–3)",
    "S": "S Sicherheit (0–3)",
    "tool": "Werkzeug",
    "evaluator": "Bewertende",
    "both": "Werkzeug und Bewertende",
    "no_critique": "Teil B liegt nicht vor: Was die Bewertenden entscheiden, fehlt.",
    "disagreements": "Abweichungen von 2 und mehr",
    "no_disagreements": "Keine.",
    "judge_says": "Judge: {score}",
    "reference_says": "{id}: {score}",
    "none_given": "Keine Begründung.",
    "quote": "zitiert aus {id} ({kind}): {quote}",
    "probes": "Proben",
    "no_probes": "Proben wurden nicht gemacht: Wie sehr der Judge von selbst schwankt, ist offen.",
    "provenance": "Herkunft und Grenzen",
    "judge": "Judge",
    "fingerprint": "Fingerabdruck",
    "mode": "Urteilsweise",
    "parameters": "Parameter",
    "blind": "blind: Teil A lag vor, bevor Teil B gezeigt wurde",
    "not_blind": "nicht blind: ein Durchgang, Teil A vor Teil B in einer Datei",
    "hash_suite": "Suite, SHA-256",
    "hash_answers": "Antworten, SHA-256",
    "hash_bundle": "Bundle, SHA-256",
    "hash_response": "Rückmeldung von {id}, Teil {part}, SHA-256",
    "limit_truth": "Eine Referenz ist eine zweite Meinung, nicht die Wahrheit.",
    "limit_blind": (
        "Blind heißt, dass das Werkzeug Teil B nach Teil A ausgegeben hat; was jemand anderswo "
        "gesehen hatte, kann es nicht wissen."
    ),
    "limit_ko": "Das K.-o. der Referenz ist ihre freie Meinung, nicht aus ihren Werten abgeleitet.",
    "no_pairs": "nichts wurde von beiden Seiten bewertet",
    "both_constant": "beide Seiten gaben durchweg ein und denselben Wert",
    "reference_constant": "die Referenz gab durchweg ein und denselben Wert",
    "one_constant": "eine Seite gab durchweg ein und denselben Wert",
    "one_value": "alle Werte sind gleich",
    "one_rater": "es gibt nur eine Quelle",
    "too_few_models": "es sind zu wenige Modelle",
    "no_clusters": "kein Modell wurde von beiden Seiten bewertet",
    "too_few_pairs": "zu wenige Bewertungspaare für ein Intervall",
    "often_undefined": "in zu vielen Stichproben gab es keinen Wert",
}

TEXTS: Mapping[str, Words] = {"en": _EN, "de": _DE}
