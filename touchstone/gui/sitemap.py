"""Writes the sitemap of a built site, for search engines."""

from __future__ import annotations

from collections.abc import Collection
from html import escape
from pathlib import Path


def write_sitemap(site: Path, site_url: str | None, without: Collection[str]) -> None:
    """Replace mkdocs' sitemap, which does not know the stamped pages; none without an address.

    ``without`` are pages, from the site's root, that keep an old address alive only.
    """
    for name in ("sitemap.xml", "sitemap.xml.gz"):
        (site / name).unlink(missing_ok=True)
    if not site_url:
        return
    base = site_url if site_url.endswith("/") else f"{site_url}/"
    pages = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    hidden = {"404.html", *without}
    urls = "".join(
        f"  <url><loc>{escape(base + page)}</loc></url>\n" for page in pages if page not in hidden
    )
    (site / "sitemap.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{urls}</urlset>\n',
        encoding="utf-8",
        newline="\n",
    )
