"""Where the `sandgate` command begins: before its own modules are loaded, which takes a second or two."""

import os
import signal

from orchestrator.cli.codes import Code


def main() -> None:
    """Run the command line. Ctrl-C ends it with a sentence, however early it comes."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # else whoever started us has switched it off
        signal.signal(signal.SIGINT, _leave)
    from orchestrator.cli.main import main as run  # noqa: PLC0415 - see above

    signal.signal(signal.SIGINT, before)
    run()


def _leave(*_: object) -> None:
    # Raised inside an import, an exception could come out as another one, or not at all.
    os.write(2, b"stopped before anything was begun\n")
    os._exit(Code.INTERRUPTED)
