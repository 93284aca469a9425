"""Files of the sandbox: what can be read, written, run; what is mounted; what has a cap."""

import contextlib
import os
import stat
import threading

NOTHING = "none"
Found = tuple[str, str]
"""A word, and what it rests on."""
KERNELS = ("/proc", "/sys", "/dev")
_WALK = threading.Lock()
_WALKED: dict[str, list[str]] = {}


def reads(*paths: str) -> Found:
    """Those of the files that say something, and those of the folders that hold something."""
    found = []
    for path in paths:
        with contextlib.suppress(OSError):
            if os.path.isdir(path):
                if os.listdir(path):
                    found.append(path)
                continue
            with open(path, "rb", 0) as file:
                if file.read(1):
                    found.append(path)
    return " ".join(found) or "closed", f"{len(paths)} tried"


def opens(how: str, *paths: str) -> Found:
    """Those of the files that can be opened to `read` or to `write`; nothing is written."""
    flags = {"read": os.O_RDONLY, "write": os.O_WRONLY}[how]
    found = []
    for path in paths:
        with contextlib.suppress(OSError):
            os.close(os.open(path, flags | os.O_NONBLOCK))
            found.append(path)
    return " ".join(found) or "closed", f"{len(paths)} tried"


def there(*paths: str) -> str:
    """Those of the paths that exist."""
    return " ".join(path for path in paths if os.path.lexists(path)) or NOTHING


def makes(*paths: str) -> str:
    """Those of the folders and files that can be written to: by a new file, or at the end."""
    found = []
    for path in paths:
        target = os.path.join(path, ".posture") if os.path.isdir(path) else path
        with contextlib.suppress(OSError):
            os.close(
                os.open(target, os.O_WRONLY | os.O_APPEND | (os.O_CREAT if target != path else 0))
            )
            found.append(path)
            if target != path:
                os.unlink(target)
    return " ".join(found) or "closed"


def of_image(what: str) -> Found:
    """What the image holds of a kind: `writable`, `setuid`, `capabilities`, `sockets`, `devices`."""
    with _WALK:
        if not _WALKED:
            _walk("/", os.lstat("/").st_dev)
    found = sorted(_WALKED[what])
    return " ".join(found[:8]) or NOTHING, f"{_WALKED['seen'][0]} files, {len(found)} found"


def _walk(root: str, device: int) -> None:
    found: dict[str, list[str]] = {
        "writable": [],
        "setuid": [],
        "capabilities": [],
        "sockets": [],
        "devices": [],
    }
    seen = 0
    folders = [root]
    while folders:
        folder = folders.pop()
        if os.access(folder, os.W_OK):
            found["writable"].append(folder)
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                seen += 1
                about = entry.stat(follow_symlinks=False)
                if about.st_dev != device:
                    continue
                if stat.S_ISDIR(about.st_mode):
                    folders.append(entry.path)
                else:
                    _look_at(entry.path, about, found)
    _WALKED.update(found, seen=[str(seen)])


def _look_at(path: str, about: os.stat_result, found: dict[str, list[str]]) -> None:
    if stat.S_ISREG(about.st_mode):
        if about.st_mode & (stat.S_ISUID | stat.S_ISGID):
            found["setuid"].append(path)
        if about.st_mode & stat.S_IXUSR:
            with contextlib.suppress(OSError):
                os.getxattr(path, "security.capability")
                found["capabilities"].append(path)
        if os.access(path, os.W_OK):
            found["writable"].append(path)
    elif stat.S_ISSOCK(about.st_mode):
        found["sockets"].append(path)
    elif stat.S_ISBLK(about.st_mode) or stat.S_ISCHR(about.st_mode):
        found["devices"].append(path)


def mounts(*wanted: str) -> Found:
    """Whether just these are mounted, but for the kernel's own; else what is too much, what is missing."""
    points = [line[4] for line in _mountinfo()]
    ours = {point for point in points if not point.startswith(KERNELS)}
    more, less = sorted(ours - set(wanted)), sorted(set(wanted) - ours)
    told = [*(f"too much: {point}" for point in more), *(f"missing: {point}" for point in less)]
    return "; ".join(told) or "exactly", " ".join(sorted(ours))


def mounted_without(option: str, *points: str) -> str:
    """Those of the mounts that lack an option."""
    options = {line[4]: line[5].split(",") for line in _mountinfo()}
    return " ".join(p for p in points if option not in options.get(p, ())) or NOTHING


def _mountinfo() -> list[list[str]]:
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
        return [line.split() for line in file.read().splitlines()]


def devices() -> str:
    """The device nodes in /dev."""
    found = []
    with os.scandir("/dev") as entries:
        for entry in entries:
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISBLK(mode) or stat.S_ISCHR(mode):
                found.append(entry.name)
    return " ".join(sorted(found))


def makes_device() -> str:
    """Make the node of a disk."""
    try:
        os.mknod("/tmp/posture-disk", stat.S_IFBLK | 0o600, os.makedev(254, 0))
    except OSError as error:
        return "EPERM" if error.errno in (1, 13) else str(error.errno)
    os.unlink("/tmp/posture-disk")
    return "allowed"


def capped(path: str, limit_bytes: int) -> Found:
    """Whether what can be written below a mount ends at a limit."""
    found = os.statvfs(path)
    size = found.f_blocks * found.f_frsize
    return "capped" if size <= limit_bytes else "beyond", f"{size} of at most {limit_bytes} bytes"


def cgroup(limit: int, *files: str) -> Found:
    """Whether the first of the control files that is there holds a limit of at most `limit`."""
    for name in files:
        try:
            with open(name, encoding="ascii") as file:
                said = file.read().strip()
        except OSError:
            continue
        within = said.isdigit() and int(said) <= limit
        return "capped" if within else "beyond", f"{name} says {said}, at most {limit}"
    return "not said", f"{len(files)} files tried"


def secrets_in_environment(*words: str) -> str:
    """The names in our own environment that look like a secret's."""
    names = [name for name in os.environ if any(word in name.upper() for word in words)]
    return " ".join(sorted(names)) or NOTHING


def processes(*names: str) -> str:
    """Those of the host's programs that are seen in here."""
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/comm", encoding="utf-8") as file:
            found.add(file.read().strip())
    return " ".join(sorted(found & set(names))) or NOTHING
