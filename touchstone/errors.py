"""The errors that reach a user, each with what happened, where, and what to do next.

::

    TouchstoneError                 exit code 1
    ├── UsageError                  exit code 2: the command line asks for something impossible
    ├── InputError                  a file that people or other tools wrote; carries every Problem
    │   ├── SuiteError
    │   ├── BundleError
    │   │   └── BundleLockedError   another process writes this bundle
    │   └── ExchangeError           a response file that can't be taken
    ├── EndpointError               a request to a model failed; says whether a retry makes sense
    │   └── LocalModelError         the embedded model could not be fetched or started
    └── SiteError                   the site could not be built
        └── EvidenceError           exit code 6: a judge's evidence is not as good as demanded
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One thing wrong in a file.

    ``code`` is a stable identifier for scripts, ``where`` is ``file``, ``file:line`` or
    ``file:line: key`` relative to the bundle or suite, ``message`` a sentence.
    """

    code: str
    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


class TouchstoneError(Exception):
    """Base of all errors that are shown without a stack trace."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class UsageError(TouchstoneError):
    """The command line asks for something that can't be done."""

    exit_code = 2


class InputError(TouchstoneError):
    """A file can't be used; ``problems`` lists everything found in it at once."""

    def __init__(self, message: str, problems: Sequence[Problem] = (), *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        lines = [self.message, *(f"  {problem}" for problem in self.problems)]
        return "\n".join([*lines, self.hint] if self.hint else lines)


class SuiteError(InputError):
    """A suite file is missing or wrong."""


class BundleError(InputError):
    """A bundle is missing or wrong."""


class BundleLockedError(BundleError):
    """Another process is writing this bundle."""


class ExchangeError(InputError):
    """A response file of a file exchange can't be taken; nothing of it was."""


class EndpointError(TouchstoneError):
    """A request to a model failed.

    ``kind`` is one of ``timeout``, ``connection``, ``rate_limit``, ``server``, ``context_length``,
    ``auth``, ``bad_request``, ``bad_reply``; ``status`` the HTTP status where there was one;
    ``retryable`` whether the same request may succeed later; ``retry_after`` seconds the server
    asked to wait.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str,
        status: int | None = None,
        retryable: bool = False,
        retry_after: float | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.kind = kind
        self.status = status
        self.retryable = retryable
        self.retry_after = retry_after


class LocalModelError(EndpointError):
    """The embedded model could not be fetched or started."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message, kind="local", hint=hint)


class SiteError(TouchstoneError):
    """The site could not be built."""


class EvidenceError(SiteError):
    """A judge's evidence is not as good as was demanded, so the site was not built."""

    exit_code = 6
