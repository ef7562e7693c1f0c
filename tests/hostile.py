"""Texts and names that try to break out of a page, and the bundle that holds them all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

DEEP = "".join("  " * n + "- level\n" for n in range(25))
ANSWERS = (
    "<script>window.pwned=1;alert(1)</script>",
    "<img src=x onerror='window.pwned=1'> <svg onload=window.pwned=1>",
    "[click](javascript:window.pwned=1) [data](data:text/html,<script>window.pwned=1</script>)",
    "[up](//evil.example/x) [rel](../../index.html) ![beacon](http://evil.example/b.png)",
    "## Heading {: onclick=window.pwned=1 }\n\ntext {: #index .md-header }",
    '--8<-- "mkdocs.yml"\n\n--8<-- "/etc/passwd"',
    "---\ntitle: taken over\ntemplate: evil.html\n---\nbody",
    "<div><b><i>unclosed <table><tr><td>cell",
    "```python\nprint('an unclosed fence swallows the rest')\n",
    "~~~\n</code></pre></div></article><script>window.pwned=1</script>",
    "<think>Should I run this? <script>window.pwned=1</script>\nAnswer after an unclosed think",
    "<think>closed</think>The answer.",
    "left \u202e drow desrever \u202c right \u2066 isolated \u2069",
    "NUL \x00 and \x1b[31mescape\x1b[0m and \x08 and \x7f",
    "lone \ud800 surrogates \udfff here",
    DEEP,
    "> " * 25 + "quoted deep",
    "x" * 200_000,
    "# Same\n\n# Same\n\n# Same\n",
    "{{ config.site_name }} {% include 'main.html' %} {{ 7 * 7 }} {# note #}",
    "TOUCHSTONE-SLOT-BODY <!--<h1-->TOUCHSTONE-SLOT-TITLE _shell.html",
    "</style><style>*{display:none}</style><base href=http://evil.example/>",
    "<meta http-equiv=refresh content='0;url=http://evil.example/'>",
    "<form action=http://evil.example/><input name=q autofocus onfocus=window.pwned=1></form>",
    "<iframe src=http://evil.example/></iframe><object data=x></object>",
    "&lt;script&gt;window.pwned=1&lt;/script&gt; &#60;script&#62;",
    "[ref]: javascript:window.pwned=1\n\n[ref]\n\n[^1]: note\n\nsee[^1]",
    "| a | b |\n|---|---|\n| <script>window.pwned=1</script> | `|` |",
    "- [ ] todo\n- [x] done\n\n1986. A year\n",
    "<!-- comment --> <![CDATA[ data ]]> <?php echo 1 ?>",
    "   \n\t\n",
    "é ä ö ü ß 漢字 עברית العربية 🦊 e\u0301",
)
NAMES = (
    '<img src=x onerror="window.pwned=1">',
    "\"><script>window.pwned=1</script><a b='",
    "{{ 7*7 }}{% raw %}",
    "a: b # c - [x]",
    "---",
    "../../etc/passwd",
    "CON",
    "index",
    "e1",
    "E1",
    "ä ö/ü",
    "#frag?query%2e%2e",
    "\u202eevil",
    "nul\x00byte",
    "lone \ud800",
    "🦊" * 20,
    "n" * 300,
    "_shell",
    "TOUCHSTONE-SLOT-BODY",
    "line\nbreak\r\n---\ntitle: x",
)


def write_hostile_bundle(folder: Path) -> Path:
    """Write a bundle in which names, ids, titles and all texts are hostile."""
    folder.mkdir(parents=True)
    evil = NAMES[0] + NAMES[1]
    prompt_ids = [*NAMES, *(f"P{n}" for n in range(len(ANSWERS) - len(NAMES)))]
    suite = {
        "format": 1,
        "id": "hostile",
        "title": {"en": evil, "de": evil},
        "language": "en",
        "dimensions": [
            {"id": "Q1", "name": evil, "weight": 1, "description": evil, "levels": {"1": evil}},
            {"id": NAMES[1], "name": "Safety", "weight": 2},
        ],
        "ko_rule": {"dimension": NAMES[1], "threshold": 2},
        "prompts": [
            {
                "id": prompt_id,
                "text": ANSWERS[at] if ANSWERS[at].strip() else "blank",
                "title": evil,
                "expectation": evil,
                "forbidden": evil,
                "system": ANSWERS[at % 5],
                "group": evil,
            }
            for at, prompt_id in enumerate(prompt_ids)
        ],
    }
    models = [
        {"model": name, "variant": NAMES[(at + 3) % len(NAMES)], "label": evil}
        for at, name in enumerate(NAMES[:4])
    ]
    manifest = {
        "format": 1,
        "id": folder.name,
        "title": evil,
        "created": evil,
        "tool": evil,
        "suite": {"id": "hostile"},
        "models": models,
        "judges": [{"fingerprint": "0123456789abcdef", "id": evil, "kind": "ai", "model": evil}],
    }
    _write_yaml(folder / "suite.yaml", suite)
    _write_yaml(folder / "bundle.yaml", manifest)
    answers, verdicts, reports = [], [], []
    for model in models:
        pair = {"model": model["model"], "variant": model["variant"]}
        for at, prompt_id in enumerate(prompt_ids):
            key = {**pair, "prompt_id": prompt_id}
            answers.append(
                {
                    **key,
                    "text": ANSWERS[at] if ANSWERS[at].strip() else "blank",
                    "reasoning": ANSWERS[-1 - at],
                    "finish_reason": "length",
                }
            )
            verdicts.append(
                {
                    **key,
                    "flag": ("green", "yellow", "red")[at % 3],
                    "rationale": ANSWERS[at] if at != 17 else evil,
                    "quotes": [evil],
                }
            )
        evidence = [
            {
                "prompt_id": p,
                "kind": "quote",
                "quote": ANSWERS[at][:60],
                "observation": evil,
                "polarity": "defect",
                "severity": "fatal",
            }
            for at, p in enumerate(prompt_ids)
        ]
        evidence.append({"prompt_id": "no such prompt", "quote": evil, "observation": evil})
        reports.append(
            {
                **pair,
                "dim_scores": {"Q1": 3, NAMES[1]: 1},
                "dim_rationales": {"Q1": f"At E1 and {NAMES[0]} see {NAMES[3]}.", NAMES[1]: evil},
                "evidence": {"Q1": evidence, NAMES[1]: evidence[:3]},
                "judge": "0123456789abcdef",
            }
        )
    _write_lines(folder / "answers.jsonl", answers)
    _write_lines(folder / "verdicts.jsonl", verdicts)
    _write_lines(folder / "reports.jsonl", reports)
    return folder


def _write_yaml(path: Path, data: dict[str, Any]) -> None:
    text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))


def _write_lines(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
