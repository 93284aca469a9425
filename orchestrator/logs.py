"""Logs: JSON lines on stdout, or readable ones on a terminal; the last line of defence redacts.

Other people's libraries (aiohttp, asyncio, docker) log by the standard library: their lines leave
by the same way, and are redacted just the same. `log_files` keeps the files small that they end in.
"""

import io
import logging
import re
import sys
from contextlib import suppress
from typing import Any, TextIO, cast

import structlog
from aiohttp.http_exceptions import HttpProcessingError

_SECRET = re.compile(
    r"(sgr_|sk-|gh[pousr]_|github_pat_|glpat-|AIza|(?i:bearer |basic |x-api-key\W{1,4}))"
    r"[A-Za-z0-9_\-+/=.~]{8,}"
)
_USERINFO = re.compile(r"(https?://[^\s/:@\"']*:)[^\s/@\"']+@")
_SHARED: tuple[structlog.typing.Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    # As text, before anything renders it: no renderer can then show the frames' variables.
    structlog.processors.format_exc_info,
)


def redact(line: str) -> str:
    """The line with all that looks like a secret masked. Nothing should ever have to be masked here."""
    return _USERINFO.sub(r"\1***@", _SECRET.sub(r"\1***", line))


def configure(stream: TextIO | None = None) -> None:
    """Set structlog and the standard library's logging up for this process, to `stream` or stdout."""
    given = stream or sys.stdout
    out = _Patient(given)
    render = _renderer(terminal=given.isatty())
    structlog.configure(
        processors=[*_SHARED, render],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(cast("TextIO", out)),
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *_SHARED],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, render],
        )
    )
    handler.addFilter(_without_trace)
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.captureWarnings(capture=True)


def _without_trace(record: logging.LogRecord) -> bool:
    """A request that is no HTTP is its sender's fault, and of one line: no trace of ours explains it."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, HttpProcessingError):
        record.msg, record.args = (
            f"{record.getMessage()}: {(error.message or '?').splitlines()[0]}",
            (),
        )
        record.exc_info, record.levelno, record.levelname = None, logging.WARNING, "WARNING"
    return True


class _Patient(io.TextIOBase):
    """A stream that a full disk costs lines, and never the program: runs must be brought to an end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str, /) -> int:
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()


def _renderer(*, terminal: bool) -> structlog.typing.Processor:
    """Renders a whole line and redacts it then: what is nested, or an object's repr, is text by then."""
    inner: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
        if terminal
        else structlog.processors.JSONRenderer()
    )

    def render(logger: Any, method: str, event: structlog.typing.EventDict) -> str:
        return redact(str(inner(logger, method, event)))

    return render
