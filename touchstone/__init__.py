"""Touchstone: model evaluations in which every number leads to the answer it rests on."""

__version__ = "0.1.0"
