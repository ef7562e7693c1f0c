"""The command line: one place for commands, messages and exit codes.

Exit codes: 0 done · 1 error · 2 usage · 3 K.-o. or rejected · 4 not assessable or review open ·
5 finished, some records failed · 6 a demanded level missed.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Sequence

import click

from touchstone import __version__
from touchstone.errors import TouchstoneError

COMMANDS = {
    "init": "touchstone.cli.init",
    "run": "touchstone.cli.run",
    "judge": "touchstone.cli.judge",
    "judge-meta": "touchstone.cli.judge_meta",
    "judge-probe": "touchstone.cli.judge_probe",
    "score": "touchstone.cli.score",
    "gate": "touchstone.cli.gate",
    "report": "touchstone.cli.report",
    "verify": "touchstone.cli.verify",
    "search": "touchstone.cli.search",
    "build-site": "touchstone.cli.build_site",
    "serve": "touchstone.cli.serve",
    "demo": "touchstone.cli.demo",
}
"""Command name → module that defines it as ``command``; imported when it is called."""


class LazyGroup(click.Group):
    """A group that imports a command's module only when that command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of the chain."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one command."""
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        command = importlib.import_module(module).command
        assert isinstance(command, click.Command)
        return command


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: touchstone demo",
)
@click.version_option(__version__, prog_name="touchstone")
def touchstone() -> None:
    """Evaluate language models and publish a site in which every number leads to its evidence.

    The chain: run a suite, judge the answers, look at score and gate, build the site.
    """


def main(args: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code. Errors become a message, never a stack trace."""
    try:
        result = touchstone.main(
            args=None if args is None else list(args), prog_name="touchstone", standalone_mode=False
        )
    except click.ClickException as failure:
        failure.show()
        return failure.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("\nStopped. What was finished is saved; the same command goes on.", err=True)
        return 130
    except TouchstoneError as failure:
        click.echo(f"Error: {_printable(str(failure))}", err=True)
        return failure.exit_code
    except BrokenPipeError:
        # Whoever read our output has gone; nothing more can be said to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as failure:
        where = f" ({failure.filename})" if failure.filename else ""
        click.echo(f"Error: {_printable(f'{failure.strerror or failure}{where}')}", err=True)
        return 1
    return result if isinstance(result, int) else 0


def _printable(message: str) -> str:
    """Return a message, which may quote a hostile file, without escape sequences."""
    return "".join(char if char.isprintable() or char == "\n" else "\ufffd" for char in message)


def run_main() -> None:
    """Entry point of the ``touchstone`` script."""
    # Results are UTF-8 whatever the locale says: a script reads them, a code page lacks half.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.exit(main())
