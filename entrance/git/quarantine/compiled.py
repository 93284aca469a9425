"""Compiled patterns, kept for the next looker in memory that nobody can change any more.

To compile them takes a second; a looker that follows one that died takes what that one compiled.
Lookers parse hostile bytes, so what they leave to each other is sealed (memfd_create(2), F_SEAL_*)
before they read any.
"""

import fcntl
import os
from contextlib import suppress

_SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL


def memory() -> int:
    """An empty one: a file descriptor for a program to inherit. Raises: OSError."""
    return os.memfd_create("compiled-patterns", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)


def kept_in(memory: int) -> bytes | None:
    """What was left there; None while there is nothing, or while it could still be changed."""
    if fcntl.fcntl(memory, fcntl.F_GET_SEALS) != _SEALS:
        return None
    return os.pread(memory, os.fstat(memory).st_size, 0)


def keep(memory: int, compiled: bytes) -> None:
    """Leave it there for good, unless another was faster."""
    with suppress(PermissionError):
        os.pwrite(memory, compiled, 0)
        fcntl.fcntl(memory, fcntl.F_ADD_SEALS, _SEALS)
