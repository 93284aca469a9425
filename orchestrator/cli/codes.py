"""The command's exit codes; docs/reference/cli.md lists them from here."""

from enum import IntEnum


class Code(IntEnum):
    """What the shell is told."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NOT_RUNNING = 3
    NOT_FOUND = 4
    REFUSED = 5
    SETUP = 6
    RUN_FAILED = 10
    RUN_STOPPED = 11
    INTERRUPTED = 130


MEANINGS: dict[Code, str] = {
    Code.OK: "It was done; for `run watch`: the agent submitted, asked, delegated or waits for a decision.",
    Code.FAILED: "It failed; the sentence says why.",
    Code.USAGE: "The command line is wrong.",
    Code.NOT_RUNNING: "The installation isn't running: `sandgate up`.",
    Code.NOT_FOUND: "There is no such run, agent, task or file.",
    Code.REFUSED: "Refused: bad input, a conflict, or not permitted.",
    Code.SETUP: "Set-up failed; the sentence says what to do.",
    Code.RUN_FAILED: "`run watch`, `demo`: the run failed.",
    Code.RUN_STOPPED: "`run watch`, `demo`: the run was stopped.",
    Code.INTERRUPTED: "Ctrl-C ended the command; what it had begun goes on.",
}


class CommandFailed(Exception):
    """Ends the command with a sentence on stderr and an exit code."""

    def __init__(self, message: str, code: Code = Code.FAILED) -> None:
        super().__init__(message)
        self.code = code
