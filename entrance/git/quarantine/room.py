"""Room on the door's disk: some of it stays free, as what is decided must be recorded there, too."""

import errno
import os
from pathlib import Path

RESERVE_BYTES = 1 << 30
_SHARE = 20
"""Of a small disk, this part of it."""


def check_room(folder: Path) -> None:
    """Blocking. Raises: OSError when so little is free that no more of a push may be written."""
    disk = os.statvfs(folder)
    reserve = min(RESERVE_BYTES, disk.f_blocks * disk.f_frsize // _SHARE)
    if disk.f_bavail * disk.f_frsize < reserve:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
