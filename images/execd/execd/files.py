"""Single files and folders: what they are, moving, removing, permissions, replacing text.

All here is blocking: call it in a thread. Nothing waits for a FIFO or a device.
"""

import errno
import grp
import os
import pwd
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from execd.clock import rfc3339
from execd.errors import Refused, invalid
from execd.patterns import mode_bits

MAX_REPLACED = 64 << 20
KINDS = {stat.S_IFDIR: "directory", stat.S_IFREG: "file", stat.S_IFLNK: "symlink"}


def info(path: str) -> dict[str, Any]:
    """Describe `path` itself (a link, not what it points to). Raises: OSError."""
    found = os.lstat(path)
    return {
        "path": path,
        "type": KINDS.get(stat.S_IFMT(found.st_mode), "other"),
        "size": found.st_size,
        "mode": int(f"{stat.S_IMODE(found.st_mode):o}"),
        "owner": _user(found.st_uid),
        "group": _group(found.st_gid),
        "modified_at": rfc3339(found.st_mtime_ns // 1_000_000),
        "created_at": rfc3339(found.st_ctime_ns // 1_000_000),
    }


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)


@contextmanager
def opened(path: str) -> Iterator[int]:
    """Open a regular file for reading; nothing else is opened.

    Raises: Refused 400 for what is no regular file, OSError.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise Refused(400, "INVALID_FILE", f"{path} is not a regular file")
        yield fd
    finally:
        os.close(fd)


def read_small(path: str, limit: int) -> bytes:
    """Return a regular file's bytes. Raises: Refused 413 when it is over `limit`, OSError."""
    with opened(path) as fd:
        data = b""
        while block := os.read(fd, limit + 1 - len(data)):
            data += block
            if len(data) > limit:
                raise Refused(413, "FILE_TOO_LARGE", f"{path} is over {limit} bytes")
        return data


def remove_files(paths: list[str]) -> None:
    """Remove files, links and the like; no folders. Raises: OSError."""
    for path in paths:
        if stat.S_ISDIR(os.lstat(path).st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        os.unlink(path)


def move(source: str, target: str) -> None:
    """Rename, or copy and remove where the file systems differ. Raises: OSError."""
    try:
        os.rename(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        import shutil  # noqa: PLC0415  # 10 ms that only this needs

        shutil.move(source, target)


def set_permissions(path: str | int, wanted: Any) -> None:
    """Apply `mode`, `owner`, `group`, each if given, to a path or an open file.

    Raises: Refused 400 for what is not such an object or an unknown name, OSError.
    """
    if not isinstance(wanted, dict):
        raise invalid("permissions must be an object with mode, owner, group")
    owner, group = wanted.get("owner") or None, wanted.get("group") or None
    if owner is not None or group is not None:
        os.chown(path, _id_of(owner, "user"), _id_of(group, "group"))
    bits = mode_bits(wanted.get("mode"))
    if bits is not None:
        os.chmod(path, bits)


def _id_of(name: Any, kind: str) -> int:
    if name is None:
        return -1
    text = str(name)
    if text.isdigit():
        return int(text)
    try:
        return pwd.getpwnam(text).pw_uid if kind == "user" else grp.getgrnam(text).gr_gid
    except (KeyError, ValueError) as error:
        raise invalid(f"there is no {kind} {text[:64]!r}") from error


def make_folder(path: str, wanted: Any) -> None:
    """Create a folder and its parents, if missing, and set its permissions. Raises: as above."""
    os.makedirs(path, exist_ok=True)
    set_permissions(path, wanted or {})


def replace_text(path: str, wanted: Any) -> int:
    """Replace every `old` in a file by `new`; return how many there were. The mode is kept.

    Raises: Refused 400 without text to look for, 413 for a file over 64 MiB, OSError.
    """
    if not isinstance(wanted, dict):
        raise invalid("replacements must be objects with old and new")
    old, new = wanted.get("old"), wanted.get("new", "")
    if not (isinstance(old, str) and old and isinstance(new, str)):
        raise invalid("old must be text that is not empty, new must be text")
    before = read_small(path, MAX_REPLACED)
    looked_for = old.encode("utf-8", "surrogateescape")
    count = before.count(looked_for)
    if count:
        with replacing(path, stat.S_IMODE(os.stat(path).st_mode)) as fd:
            write_all(fd, before.replace(looked_for, new.encode("utf-8", "surrogateescape")))
    return count


def write_all(fd: int, data: bytes) -> None:
    """Write all of `data`. Raises: OSError."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


@contextmanager
def replacing(path: str, mode: int = 0o644, *, with_parents: bool = False) -> Iterator[int]:
    """Give a file to write that takes `path`'s place when all went well, and leaves it else.

    A link is followed: what it points to is replaced. Raises: OSError.
    """
    target = os.path.realpath(path)
    if os.path.isdir(target):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    folder, name = os.path.split(target)
    if with_parents:
        os.makedirs(folder, exist_ok=True)
    temporary = os.path.join(folder, f".{name[:100]}.{os.urandom(6).hex()}.part")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.fchmod(fd, mode)
        yield fd
        os.rename(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
    finally:
        os.close(fd)
