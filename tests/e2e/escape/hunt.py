"""Looks for secrets everywhere that the agent can look, from inside, without bringing them in.

The patterns that go in don't match themselves, nor each other: every letter stands in brackets.
"""

import base64
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

from tests.e2e.house import Inside

IN_FILES = """
cat > /tmp/patterns <<'END'
@PATTERNS@
END
# Plain files below every folder of the root, but for the kernel's own.
for folder in /*; do
  case $folder in /proc|/sys) ;; *) timeout 60 rg -uuu -a -l --no-messages -f /tmp/patterns $folder ;; esac
done
rm /tmp/patterns
"""
IN_PROCESSES = r"""
import json, os, re

wanted = re.compile("|".join(json.loads(PATTERNS)).encode())
found = set()

def look(what, data):
    if wanted.search(data):
        found.add(what)

def memory(pid):
    for line in open(f"/proc/{pid}/maps"):
        span, rights, *_ = line.split()
        start, end = (int(half, 16) for half in span.split("-"))
        if rights.startswith("rw") and end - start < 1 << 28:
            yield start, end

for pid in filter(str.isdigit, os.listdir("/proc")):
    if int(pid) == os.getpid():
        continue
    for name in ("environ", "cmdline", "stack", "mountinfo", "net/unix"):
        try:
            look(f"{pid} {name}", open(f"/proc/{pid}/{name}", "rb").read())
        except OSError:
            pass
    try:
        with open(f"/proc/{pid}/mem", "rb", 0) as file:
            for start, end in memory(pid):
                file.seek(start)
                look(f"{pid} memory", file.read(end - start))
    except (OSError, ValueError):
        pass
print(json.dumps(sorted(found)))
"""


def forms_of(secret: bytes) -> list[str]:
    """The ways in which a secret may lie about: as it is, in hex, in base64 (both alphabets)."""
    forms = [secret.hex(), *(code(secret).decode().rstrip("=") for code in (
        base64.b64encode, base64.urlsafe_b64encode,
    ))]  # fmt: skip
    return forms + ([secret.decode()] if secret.isascii() else [])


def pattern_of(form: str) -> str:
    """A regular expression for it, in whose own text no two letters of it stand side by side."""
    return "".join(f"[{letter}]" for letter in form)


def key_files(keys: Path) -> dict[str, bytes]:
    """Every secret in the installation's key folder, by its file's name; of a PEM, line by line."""
    return {
        f"{file.name}{f' line {number}' if number else ''}": line
        for file in keys.iterdir()
        if file.suffix != ".pub"
        for number, line in enumerate(secret_parts(file.read_bytes().strip()))
    }


def secret_parts(content: bytes) -> list[bytes]:
    """The whole of it; of a PEM its lines, without those that say what it is.

    The last of several is the public key, which is in the certificate, too.
    """
    if not content.startswith(b"-----BEGIN "):
        return [content]
    lines = [line for line in content.splitlines() if not line.startswith(b"-----")]
    return lines[:-1] or lines


class Inhabitant(Protocol):
    """Who lives in a sandbox."""

    def do(self, script: str) -> Inside:
        """Have a script run in it."""
        ...

    def python(self, program: str) -> Any:
        """Have a Python program run in it, and read the JSON that it prints."""
        ...


def hunt(agent: Inhabitant, secrets: Iterable[bytes]) -> list[str]:
    """Where in its sandbox it finds one of them: paths, and `PID what` of processes."""
    patterns = [pattern_of(form) for secret in secrets for form in forms_of(secret)]
    files = agent.do(IN_FILES.replace("@PATTERNS@", "\n".join(patterns)))
    program = f"PATTERNS = {json.dumps(patterns)!r}\n{IN_PROCESSES}"
    processes: list[str] = agent.python(program)
    return [*files.output.splitlines(), *processes]
