"""A real Chromium for tests: Debian's, installed through apt where it is missing."""

from __future__ import annotations

import http.server
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from filelock import FileLock
from playwright.sync_api import Browser, Page, sync_playwright

FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run"),
)
NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str:
    """Return a Chromium's path; install Debian's where there is none and this is root."""
    with FileLock(Path(tempfile.gettempdir()) / "touchstone-tests-chromium.lock"):
        found = _which()
        if found is None and shutil.which("apt-get") and os.geteuid() == 0:
            environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
            for command in (["update", "-qq"], ["install", "-y", "-qq", "chromium"]):
                subprocess.run(["apt-get", *command], env=environment, check=False, timeout=600)
            found = _which()
    if found is None:
        pytest.skip("there is no Chromium, and it can't be installed (apt-get as root)")
    return found


def _which() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start a headless Chromium without any network of its own."""
    executable = find_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


class _QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        """Say nothing."""


@contextmanager
def served(site: Path) -> Iterator[str]:
    """Serve a folder on a free port of this machine; yield its address."""
    handler = partial(_QuietHandler, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Watch:
    """Writes down what a page should not do: errors, dialogs, requests that leave the site."""

    def __init__(self, page: Page, allowed: str) -> None:
        self.complaints: list[str] = []
        self._allowed = allowed
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(f"script error: {error}"))
        page.on("dialog", self._dialog)
        page.on("request", self._request)

    def _console(self, message: object) -> None:
        kind = getattr(message, "type", "")
        if kind in {"error", "warning"}:
            self.complaints.append(f"console {kind}: {getattr(message, 'text', '')}")

    def _dialog(self, dialog: object) -> None:
        self.complaints.append("a dialog opened")
        dialog.dismiss()  # type: ignore[attr-defined]

    def _request(self, request: object) -> None:
        url = str(getattr(request, "url", ""))
        if not url.startswith((self._allowed, "data:", "blob:")):
            self.complaints.append(f"request left the site: {url}")
