"""Turns what goes wrong with a request into errors that say what happened and what to do next."""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from touchstone.endpoints.replies import BrokenReplyError
from touchstone.errors import EndpointError

__all__ = ["Failures", "HttpError", "excerpt", "retry_after_s", "server_message"]

_EXCERPT = 300
_PLACEHOLDER_KEYS = {"lm-studio", "not-needed", "no-key-required", "sk-no-key-required"}
"""Words that local servers take for a key: nothing secret, and they may occur in an answer."""

_CONTEXT = re.compile(
    r"context[_ ](length|window|size)|exceed_context|maximum context|max_model_len"
    r"|(prompt|input|request)\b.{0,40}\btoo (long|large|many tokens)|too many (input )?tokens"
    r"|reduce the length|longer than the (model|maximum)",
    re.IGNORECASE | re.DOTALL,
)
_LOADING = re.compile(r"\bloading\b|unavailable_error|still (starting|warming)", re.IGNORECASE)
_STATUS_OF_TYPE = {
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "invalid_request_error": 400,
    "exceed_context_size_error": 400,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "unavailable_error": 503,
    "overloaded_error": 503,
    "not_supported_error": 501,
}
_TEMPORARY = {408, 409, 425}
_PERMANENT = {501, 505}


class HttpError(EndpointError):
    """A server's refusal. ``detail`` is its whole text, ``loading`` that the model isn't up yet.

    ``exhausted``: a quota is used up, so that asking again at once is pointless.
    """

    detail: str = ""
    loading: bool = False
    exhausted: bool = False


def excerpt(text: str, limit: int = _EXCERPT) -> str:
    """Return the start of a text on one line, without control characters or HTML tags."""
    if re.match(r"\s*<(!doctype|html|head|body)\b", text, re.IGNORECASE):
        title = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
        text = title[1] if title else re.sub(r"<[^>]*>", " ", text)
    printable = "".join(char if char.isprintable() else " " for char in text[: 20 * limit])
    line = " ".join(printable.split())
    return line if len(line) <= limit else line[:limit].rstrip() + "…"


def server_message(body: str) -> str:
    """Return what a server says in an error body: the JSON's message in any usual shape, or all."""
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        return body
    if isinstance(payload, list) and payload:
        payload = payload[0]
    for _ in range(2):
        if isinstance(payload, dict) and isinstance(payload.get("error"), dict | str):
            payload = payload["error"]
    if isinstance(payload, dict):
        for key in ("message", "detail", "msg", "error_description"):
            value = payload.get(key)
            if value:
                return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return payload if isinstance(payload, str) else body


def retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds a server asks to wait: ``Retry-After`` as a number or an HTTP date.

    ``now`` is timezone-aware. None where the header is missing or can't be read.
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = (headers.get(name) or "").strip()
        if re.fullmatch(r"\d{1,9}(\.\d+)?", value):
            return float(value) / unit
    try:
        date = parsedate_to_datetime(headers.get("retry-after") or "")
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - now).total_seconds())


def _error_fields(body: str) -> Mapping[str, Any]:
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    if isinstance(payload, list) and payload:
        payload = payload[0]
    if not isinstance(payload, dict):
        return {}
    inner = payload.get("error")
    return inner if isinstance(inner, dict) else payload


def _status_in(fields: Mapping[str, Any]) -> int | None:
    code = fields.get("code")
    if isinstance(code, str) and code.isdecimal():
        code = int(code)
    if isinstance(code, int) and 400 <= code <= 599:
        return code
    for key in (fields.get("type"), code):
        if isinstance(key, str) and key in _STATUS_OF_TYPE:
            return _STATUS_OF_TYPE[key]
    return None


def _kind(status: int, text: str) -> tuple[str, bool]:
    """Return the kind of an error and whether the same request may succeed later."""
    if status in (401, 403, 407):
        return "auth", False
    if status == 429:
        return "rate_limit", True
    if status < 600 and status not in (404, 503) and _CONTEXT.search(text):
        return "context_length", False
    if status == 408:
        return "timeout", True
    if status >= 500:
        return "server", status not in _PERMANENT
    return "bad_request", status in _TEMPORARY


@dataclass(frozen=True, repr=False)
class Failures:
    """Makes the errors of one endpoint; nothing in ``secrets`` ever appears in them.

    ``url`` and ``base_url`` are public (no user info, no query); ``key_env`` names the variable of
    the API key, ``has_key`` says whether it was set; ``timeout_s`` is the longest silence.
    """

    url: str
    base_url: str
    model: str
    key_env: str | None
    has_key: bool
    timeout_s: float
    secrets: tuple[str, ...] = ()

    def redact(self, text: str) -> str:
        """Return a text without the secrets, as it may be stored.

        Very short keys and the usual placeholders stay: they would be replaced inside ordinary
        words of an answer.
        """
        for secret in self.secrets:
            if len(secret) >= 8 and secret not in _PLACEHOLDER_KEYS:
                text = text.replace(secret, "[key removed]")
        return text

    def _quote(self, text: str) -> str:
        for secret in self.secrets:
            text = text.replace(secret, "[key removed]")
        return excerpt(text)

    def of_status(
        self, status: int, body: str, headers: Mapping[str, str], now: datetime
    ) -> HttpError:
        """Return the error for an HTTP status that is no success."""
        if 300 <= status < 400:
            return self._redirect(status, headers)
        return self._refusal(status, status, body, retry_after_s(headers, now))

    def of_fault(self, body: str) -> HttpError:
        """Return the error for an error object that came with status 200, streamed or not."""
        status = _status_in(_error_fields(body))
        return self._refusal(status or 500, status, body, None)

    def _refusal(
        self, status: int, shown: int | None, body: str, retry_after: float | None
    ) -> HttpError:
        fields = _error_fields(body)
        says = server_message(body)
        labels = " ".join(str(fields.get(key) or "") for key in ("type", "code"))
        kind, retryable = _kind(status, f"{says} {labels}")
        where = f"HTTP {shown} from {self.url}" if shown else f"An error from {self.url}"
        wait = f" It asks to wait {retry_after:.0f} s." if retry_after else ""
        error = HttpError(
            f"{where}: {self._quote(says) or 'no explanation'}{wait}",
            kind=kind,
            status=shown,
            retryable=retryable,
            retry_after=retry_after,
            hint=self._hint(kind, status),
        )
        error.detail = says
        error.loading = status == 503 and bool(_LOADING.search(f"{says} {labels}"))
        error.exhausted = status == 429 and "insufficient_quota" in labels
        return error

    def _hint(self, kind: str, status: int) -> str:
        if kind == "auth":
            return self._auth_hint(status)
        if status in (404, 405):
            return (
                f"Check the base URL {self.base_url} (most end in /v1) and the model name "
                f"{self.model!r}."
            )
        return {
            "context_length": "Shorten the prompt, ask for fewer tokens, or start the server with "
            "a larger context.",
            "rate_limit": "Ask for fewer requests at a time or per minute, or run it again later.",
            "server": "See the server's log; the same command may be run again.",
        }.get(kind, "")

    def _auth_hint(self, status: int) -> str:
        if status == 407:
            return "The proxy wants a login: put it into HTTPS_PROXY, or name the host in NO_PROXY."
        if self.key_env is None:
            return "Set TOUCHSTONE_API_KEY to the API key, or name another variable that holds it."
        if self.has_key:
            return f"The key in the environment variable {self.key_env} was not accepted."
        return f"Set the environment variable {self.key_env} to the API key."

    def _redirect(self, status: int, headers: Mapping[str, str]) -> HttpError:
        target = self._quote((headers.get("location") or "").split("?")[0].rpartition("@")[2])
        return HttpError(
            f"HTTP {status} from {self.url}: the server redirects to {target or 'nowhere'}.",
            kind="bad_request",
            status=status,
            hint="Redirects are not followed, so that a key never reaches another host. "
            "If the new address is right, use it as the base URL.",
        )

    def of_transport(self, error: Exception) -> EndpointError:
        """Return the error for a connection that failed, broke or was silent for too long."""
        if isinstance(error, httpx.ConnectTimeout):
            return self._unreachable("no connection in time", True)
        if isinstance(error, httpx.TimeoutException | TimeoutError):
            endless = isinstance(error, TimeoutError)
            says = "did not come to an end" if endless else f"was silent for {self.timeout_s:g} s"
            return EndpointError(
                f"{self.url} {says}.",
                kind="timeout",
                retryable=True,
                hint="Allow more time, ask for fewer tokens, or send fewer requests at once.",
            )
        says = self._quote(str(error)) or type(error).__name__
        if isinstance(error, httpx.ConnectError | httpx.ProxyError):
            return self._unreachable(says, not _is_certificate_error(error))
        if isinstance(error, httpx.UnsupportedProtocol | httpx.LocalProtocolError):
            return EndpointError(f"{self.url} can't be asked: {says}.", kind="bad_request")
        if isinstance(error, httpx.DecodingError):
            return EndpointError(
                f"The reply of {self.url} can't be unpacked: {says}.",
                kind="bad_reply",
                retryable=True,
            )
        return EndpointError(
            f"The connection to {self.url} broke before the answer was complete: {says}.",
            kind="connection",
            retryable=True,
        )

    def _unreachable(self, says: str, retryable: bool) -> EndpointError:
        return EndpointError(
            f"{self.base_url} can't be reached: {says}.",
            kind="connection",
            retryable=retryable,
            hint="Is the server running, and are host and port right?",
        )

    def of_reply(self, error: BrokenReplyError, body: str) -> EndpointError:
        """Return the error for a reply that arrived with success and still is none."""
        if error.cut_off:
            return EndpointError(
                f"The reply of {self.url} is incomplete: {self._quote(str(error))}.",
                kind="bad_reply",
                retryable=True,
            )
        return EndpointError(
            f"{self.url} did not send a chat completion ({self._quote(str(error))}): "
            f"{self._quote(body)}",
            kind="bad_reply",
            hint="Does the base URL point at an OpenAI-compatible API? Most end in /v1.",
        )


def _is_certificate_error(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLError) or "CERTIFICATE_VERIFY" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False
