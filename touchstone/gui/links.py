"""The URL scheme of the site: every page path, anchor and permalink is made here, nowhere else.

Paths are relative to the site's root, ASCII, and never change for a bundle once published.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from touchstone.bundle import Bundle
from touchstone.slugs import pair_slugs, slug, slugs

INDEX = "index.html"
METHOD = "method.html"
ARCHIVE = "bundle.zip"
SCORES = "score.json"
EVIDENCE = "evidence.json"
JUDGES = "judges.html"
MODEL_SECTIONS = frozenset({"profile", "answers", "marks"})
"""The anchors that every model's page has beside its dimensions."""

Pair = tuple[str, str]


def relative(url: str, page: str) -> str:
    """Return ``url`` as a link on ``page``, both relative to the site's root."""
    path, mark, fragment = url.partition("#")
    if path == page or not path:
        return f"#{fragment}" if mark else posixpath.basename(page)
    return _relative_path(path, posixpath.dirname(page)) + mark + fragment


@lru_cache(maxsize=1 << 12)
def _relative_path(path: str, folder: str) -> str:
    return posixpath.relpath(path, folder or ".")


def compare_page(before_id: str, after_id: str) -> str:
    """Return where two bundles are compared; no slug contains ``--``, so no two pages are one."""
    return f"compare/{slug(before_id)}--{slug(after_id)}.html"


def _dimension_anchor(dimension_id: str, made: str) -> str:
    """Return a dimension's slug in lower case, told apart from the page's own sections."""
    taken = made.lower() in MODEL_SECTIONS
    return (slug(dimension_id, suffixed=True) if taken else made).lower()


@dataclass(frozen=True)
class BundleLinks:
    """All addresses of one bundle."""

    bundle_id: str
    pairs: tuple[Pair, ...]
    prompt_ids: tuple[str, ...]
    dimension_ids: tuple[str, ...]

    @classmethod
    def of(cls, bundle: Bundle) -> BundleLinks:
        """Return the addresses of a bundle; its slugs depend on nothing but its ids."""
        return cls(
            bundle.id,
            tuple(entry.pair for entry in bundle.manifest.models),
            tuple(prompt.id for prompt in bundle.suite.prompts),
            tuple(dimension.id for dimension in bundle.suite.dimensions),
        )

    def renamed(self, *, pair: Pair | None = None, prompt_id: str | None = None) -> BundleLinks:
        """Return the addresses there were when a model or a prompt still had an earlier id."""
        return replace(
            self,
            pairs=self.pairs if pair is None else (pair,),
            prompt_ids=self.prompt_ids if prompt_id is None else (prompt_id,),
        )

    @cached_property
    def root(self) -> str:
        """The bundle's folder."""
        return f"bundles/{slug(self.bundle_id)}"

    @cached_property
    def _pairs(self) -> dict[Pair, str]:
        return pair_slugs(self.pairs)

    @cached_property
    def _prompts(self) -> dict[str, str]:
        return slugs(self.prompt_ids)

    @cached_property
    def _dimensions(self) -> dict[str, str]:
        made = slugs(self.dimension_ids)
        return {one: _dimension_anchor(one, plain) for one, plain in made.items()}

    @property
    def judge_quality(self) -> str:
        """How far the judge agrees with a reference; only where that was found out."""
        return f"{self.root}/judge-quality.html"

    @property
    def evidence(self) -> str:
        """Every citation and what became of it; only where the bundle is judged."""
        return f"{self.root}/evidence.html"

    @property
    def evidence_data(self) -> str:
        """The same for other tools, with offsets."""
        return f"{self.root}/{EVIDENCE}"

    @property
    def judge_row(self) -> str:
        """The judge on the page of all judges; only where the bundle is judged."""
        return f"{JUDGES}#judge--{slug(self.bundle_id)}"

    @property
    def archive(self) -> str:
        """The bundle itself, as a ZIP."""
        return f"{self.root}/{ARCHIVE}"

    @property
    def scores(self) -> str:
        """What ``touchstone score --json`` prints of the bundle."""
        return f"{self.root}/{SCORES}"

    @property
    def scorecard(self) -> str:
        """The scorecard."""
        return f"{self.root}/index.html"

    @property
    def run(self) -> str:
        """Provenance: how the answers came about."""
        return f"{self.root}/run.html"

    @property
    def problems(self) -> str:
        """What is wrong with the bundle's files: a section of the run's page."""
        return f"{self.run}#problems"

    @property
    def gate(self) -> str:
        """The K.-o. gate over all models."""
        return f"{self.root}/ko/index.html"

    def prompt_shell(self, name: str) -> str:
        """The page that prompt pages are stamped from; it is not published."""
        return f"{self.root}/prompts/{name}.html"

    def section(self, anchor: str) -> str:
        """A section of the scorecard."""
        return f"{self.scorecard}#{anchor}"

    def pair_slug(self, pair: Pair) -> str:
        """The slug of a (model, variant), which is also the anchor of its answers."""
        return self._pairs[pair]

    def dimension_slug(self, dimension_id: str) -> str:
        """The slug of a dimension, which is also its anchor on a model's page."""
        return self._dimensions[dimension_id]

    def model(self, pair: Pair, anchor: str = "") -> str:
        """A model's report, or a section of it (one of ``MODEL_SECTIONS``)."""
        return f"{self.root}/models/{self._pairs[pair]}.html{anchor and '#'}{anchor}"

    def model_dimension(self, pair: Pair, dimension_id: str) -> str:
        """A dimension in a model's report."""
        return self.model(pair, self._dimensions[dimension_id])

    def dimension(self, dimension_id: str, pair: Pair | None = None) -> str:
        """A dimension over all models, or one model's part of it."""
        anchor = f"#{self._pairs[pair]}" if pair is not None else ""
        return f"{self.root}/dimensions/{self._dimensions[dimension_id]}.html{anchor}"

    def prompt(self, prompt_id: str) -> str:
        """A prompt with all its answers."""
        return f"{self.root}/prompts/{self._prompts[prompt_id]}.html"

    def answer(self, pair: Pair, prompt_id: str) -> str:
        """One answer."""
        return f"{self.prompt(prompt_id)}#{self._pairs[pair]}"

    def quote_anchor(self, pair: Pair, dimension_id: str, number: int) -> str:
        """The anchor of quoted words, on the page of their prompt."""
        return f"{self._pairs[pair]}.{self._dimensions[dimension_id]}.{number}"

    def quote(self, pair: Pair, prompt_id: str, dimension_id: str, number: int) -> str:
        """Quoted words in an answer."""
        return f"{self.prompt(prompt_id)}#{self.quote_anchor(pair, dimension_id, number)}"

    def knock_out(self, pair: Pair) -> str:
        """A model's K.-o. page."""
        return f"{self.root}/ko/{self._pairs[pair]}.html"

    def knows_prompt(self, prompt_id: str) -> bool:
        """Say whether the suite has this prompt."""
        return prompt_id in self._prompts
