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


EVIL = NAMES[0] + NAMES[1]
PROMPT_IDS = [*NAMES, *(f"P{n}" for n in range(len(ANSWERS) - len(NAMES)))]
MODELS = [
    {"model": name, "variant": NAMES[(at + 3) % len(NAMES)], "label": EVIL}
    for at, name in enumerate(NAMES[:4])
]
JUDGE = "0123456789abcdef"


def write_hostile_bundle(folder: Path) -> Path:
    """Write a bundle in which names, ids, titles and all texts are hostile."""
    folder.mkdir(parents=True)
    _write_yaml(folder / "suite.yaml", _suite())
    manifest = {
        "format": 1,
        "id": folder.name,
        "title": EVIL,
        "created": EVIL,
        "tool": EVIL,
        "suite": {"id": "hostile"},
        "models": MODELS,
        "judges": [{"fingerprint": JUDGE, "id": EVIL, "kind": "ai", "model": EVIL}],
    }
    _write_yaml(folder / "bundle.yaml", manifest)
    keys = [
        (at, {"model": one["model"], "variant": one["variant"], "prompt_id": prompt_id})
        for one in MODELS
        for at, prompt_id in enumerate(PROMPT_IDS)
    ]
    _write_lines(folder / "answers.jsonl", [_answer(at, key) for at, key in keys])
    _write_lines(folder / "verdicts.jsonl", [_verdict(at, key) for at, key in keys])
    _write_lines(folder / "reports.jsonl", [_report(one) for one in MODELS])
    return folder


def _suite() -> dict[str, Any]:
    prompts = [
        {
            "id": prompt_id,
            "text": ANSWERS[at] if ANSWERS[at].strip() else "blank",
            "title": EVIL,
            "expectation": EVIL,
            "forbidden": EVIL,
            "system": ANSWERS[at % 5],
            "group": EVIL,
        }
        for at, prompt_id in enumerate(PROMPT_IDS)
    ]
    first = {"id": "Q1", "name": EVIL, "weight": 1, "description": EVIL, "levels": {"1": EVIL}}
    return {
        "format": 1,
        "id": "hostile",
        "title": {"en": EVIL, "de": EVIL},
        "language": "en",
        "dimensions": [first, {"id": NAMES[1], "name": "Safety", "weight": 2}],
        "ko_rule": {"dimension": NAMES[1], "threshold": 2},
        "prompts": prompts,
    }


def _answer(at: int, key: dict[str, str]) -> dict[str, Any]:
    more = {"text": ANSWERS[at], "reasoning": ANSWERS[-1 - at], "finish_reason": "length"}
    return {**key, **more}


def _verdict(at: int, key: dict[str, str]) -> dict[str, Any]:
    flag = ("green", "yellow", "red")[at % 3]
    rationale = EVIL if len(ANSWERS[at]) > 10_000 else ANSWERS[at]
    return {**key, "flag": flag, "rationale": rationale, "quotes": [EVIL]}


def _report(model: dict[str, str]) -> dict[str, Any]:
    defect = {"observation": EVIL, "polarity": "defect", "severity": "fatal"}
    evidence = [
        {"prompt_id": prompt_id, "kind": "quote", "quote": ANSWERS[at][:60], **defect}
        for at, prompt_id in enumerate(PROMPT_IDS)
    ]
    evidence.append({"prompt_id": "no such prompt", "quote": EVIL, "observation": EVIL})
    return {
        "model": model["model"],
        "variant": model["variant"],
        "dim_scores": {"Q1": 3, NAMES[1]: 1},
        "dim_rationales": {"Q1": f"At E1 and {NAMES[0]} see {NAMES[3]}.", NAMES[1]: EVIL},
        "evidence": {"Q1": evidence, NAMES[1]: evidence[:3]},
        "judge": JUDGE,
    }


def _write_yaml(path: Path, data: dict[str, Any]) -> None:
    text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))


def _write_lines(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
