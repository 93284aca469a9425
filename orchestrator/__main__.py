"""`python -m orchestrator`: the runner, with the entrance as its second listener."""

import sys
from pathlib import Path

from pydantic import ValidationError

from entrance.errors import SandgateError
from orchestrator import logs
from orchestrator.app import run, serve
from orchestrator.settings import Settings, variables


def main() -> None:
    """Serve until SIGTERM or SIGINT. Settings come from the environment (docs/reference/settings.md).

    What is wrong with them, or missing on this machine, is said in one sentence on stderr.
    """
    logs.configure()
    try:
        run(serve(Settings()))
    except ValidationError as error:
        _end(f"the settings are not complete: {'; '.join(variables(error))}", 2)
    except SandgateError as error:
        _end(f"the runner can't start: {error}", 1)
    except OSError as error:
        _end(f"the runner can't start: {_what(error)}", 1)


def _what(error: OSError) -> str:
    return f"{Path(str(error.filename))}: {error.strerror}" if error.filename else str(error)


def _end(sentence: str, code: int) -> None:
    print(logs.redact(f"orchestrator: {sentence}"), file=sys.stderr)  # noqa: T201 - nothing is up yet
    sys.exit(code)


if __name__ == "__main__":
    main()
