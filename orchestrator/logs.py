"""Logs: JSON lines on stdout, or readable ones on a terminal; the last line of defence redacts."""

import logging
import re
import sys
from typing import Any

import structlog

_SECRET = re.compile(r"(sgr_|sk-|Bearer |Basic )[A-Za-z0-9_\-+/=.]{8,}")


def redact(
    _logger: Any, _method: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Mask whatever looks like a token. Nothing should ever have to be masked here."""
    return {
        key: _SECRET.sub(r"\1***", value) if isinstance(value, str) else value
        for key, value in event.items()
    }


def configure() -> None:
    """Set structlog up for this process."""
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer()
        if sys.stdout.isatty()
        else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            redact,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
    )
