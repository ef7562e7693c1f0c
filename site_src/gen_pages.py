"""Adds every page that is made from a bundle; run by mkdocs-gen-files."""

from __future__ import annotations

import mkdocs_gen_files
from mkdocs_gen_files.editor import FilesEditor

from touchstone.gui.plugin import TouchstonePlugin

plugin = FilesEditor.current().config.plugins["touchstone"]
assert isinstance(plugin, TouchstonePlugin)
for source in plugin.sources():
    with mkdocs_gen_files.open(source.path, "w", encoding="utf-8") as file:
        file.write(source.text)
