"""Packs execd into one executable file: a zip of its modules behind a `#!` line.

    python build.py [--bytecode] TARGET

The same sources give the same bytes: fixed times, order and modes. Stored, not deflated, so that
starting needs no zlib. With --bytecode the modules' code for this very Python goes in too: where
that is the sandbox's Python, execd starts 40 ms sooner; another one takes the sources.
"""

import importlib.util
import marshal
import sys
import zipfile
from pathlib import Path

PACKAGE = Path(__file__).parent / "execd"
# -I: nothing of the environment or of the agent's folders is imported. -S: no site-packages either.
SHEBANG = b"#!/usr/bin/env -S python3 -IS\n"
START = b"from execd.__main__ import main\n\nraise SystemExit(main())\n"
EPOCH = (1980, 1, 1, 0, 0, 0)


def build(target: Path, *, bytecode: bool = False) -> None:
    """Write execd to `target`, executable."""
    modules = {f"execd/{path.name}": path.read_bytes() for path in PACKAGE.glob("*.py")}
    modules["__main__.py"] = START
    if bytecode:
        modules.update({f"{name}c": _compiled(name, source) for name, source in modules.items()})
    with target.open("wb") as out:
        out.write(SHEBANG)
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
            for name in sorted(modules):
                entry = zipfile.ZipInfo(name, EPOCH)
                entry.external_attr = 0o644 << 16
                entry.create_system = 3  # Unix, wherever it is built
                archive.writestr(entry, modules[name])
    target.chmod(0o755)


def _compiled(name: str, source: bytes) -> bytes:
    """Return the bytes of a .pyc that is not checked against its source."""
    code = marshal.dumps(compile(source, name, "exec", dont_inherit=True))
    return importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + code


if __name__ == "__main__":
    build(Path(sys.argv[-1]), bytecode="--bytecode" in sys.argv[1:-1])
