"""``touchstone demo``: the whole chain on the embedded model, in a few minutes."""

from __future__ import annotations

from pathlib import Path

import click

from touchstone.bundle import Bundle, is_bundle
from touchstone.cli.build_site import summary
from touchstone.cli.common import Limits, say
from touchstone.cli.judge import JudgeOptions, judge_with_endpoint
from touchstone.cli.run import RunOptions, run_suite
from touchstone.gui.build import BuildOptions, build_site
from touchstone.judge_config import JudgeConfig
from touchstone.model_specs import ModelSpec
from touchstone.suite import load_suite

MODEL = "local:smollm2-135m"
LABEL = {
    "en": "SmolLM2-135M-Instruct: 135 million parameters, English, for demonstration only",
    "de": "SmolLM2-135M-Instruct: 135 Millionen Parameter, Englisch, nur zur Vorführung",
}
VARIANTS = (
    ModelSpec(model=MODEL, variant="greedy", label=LABEL, parameters={"temperature": 0}),
    ModelSpec(
        model=MODEL,
        variant="sampled",
        label=LABEL,
        parameters={"temperature": 0.8, "top_p": 0.95, "seed": 42},
    ),
)
# So small a model repeats itself without end unless it is kept from it.
JUDGE = JudgeConfig(
    max_tokens=100,
    asks_again=0,
    parameters={"temperature": 0, "repeat_penalty": 1.25, "repeat_last_n": 256},
    concurrency=1,
)
LIMITS = Limits(concurrency=1, rpm=None, timeout=120.0, max_retries=2)


@click.command("demo", epilog="Example: touchstone demo")
@click.argument(
    "folder", metavar="[DIR]", type=click.Path(path_type=Path), default=Path("touchstone-demo")
)
def command(folder: Path) -> int:
    """Run, judge and publish a small suite on the embedded model, into DIR.

    The model is SmolLM2-135M-Instruct, on one processor thread; its weights (98 MB) are fetched
    once. It also judges its own answers, badly: the demo shows the chain, not a good judge.
    """
    bundle = folder / "bundles" / "demo"
    say("1 of 3  Asking SmolLM2-135M five prompts in two variants")
    suite = load_suite("demo-en")
    options = RunOptions(
        prompts=tuple(prompt.id for prompt in suite.suite.prompts),
        repeat=1,
        dry_run=False,
        redo=False,
        base_url=None,
        api_key_env=None,
        limits=LIMITS,
    )
    run_suite(suite, VARIANTS, bundle, options)
    say("2 of 3  Judging the answers, with the same model as judge")
    if not _is_judged(bundle):
        judge_with_endpoint(
            bundle,
            JudgeOptions(
                spec=ModelSpec(model=MODEL),
                config=JUDGE,
                mode="single",
                context=None,
                redo=False,
                base_url=None,
                api_key_env=None,
                limits=LIMITS,
            ),
        )
    say("3 of 3  Building the site")
    result = build_site(BuildOptions(folder / "bundles", folder / "site"))
    say(summary(result))
    say(f"The numbers behind it: touchstone score {bundle}")
    return 0


def _is_judged(path: Path) -> bool:
    if not is_bundle(path):
        return False
    bundle = Bundle.open(path)
    return all(entry.pair in bundle.reports for entry in bundle.manifest.models)
