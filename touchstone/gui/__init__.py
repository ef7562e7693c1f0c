"""Everything that is rendered for people: portable Markdown and the site."""
