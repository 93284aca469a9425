"""Errors, by what the caller does about them. A refusal is no error (see `decision`).

SandgateError
|- Unavailable   could not be reached, timed out, 429, 5xx        -> try again later
|- Conflict      someone else changed it                          -> observe again, at once
|- NotFound      it is gone                                       -> forget it
|- Forbidden     our credential may not do this                   -> stop; tell a person
|- Malformed     the other side answered what we can't read       -> stop; tell a person
"""


class SandgateError(Exception):
    """What the product raises on purpose. Messages say what, which and what to do; never a secret."""


class Unavailable(SandgateError):
    """The other side can't be reached now. `retry_after_s` is its own word on when, if it gave one."""

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Conflict(SandgateError):
    """Someone else changed it first."""


class NotFound(SandgateError):
    """It does not exist, or no longer."""


class Forbidden(SandgateError):
    """Our own credential may not do this."""


class Malformed(SandgateError):
    """The other side answered something that can't be read."""
