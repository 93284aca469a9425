"""The tutorial's shell blocks, run in their order as a reader would: it can't rot."""

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from orchestrator.settings import inherited_environment

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]

ROOT = Path(__file__).resolve().parents[3]
TUTORIAL = ROOT / "docs" / "tutorials" / "first-run.md"
SANDGATE = Path(sys.executable).with_name("sandgate")
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROOTS_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""As a fresh login of root has it: the page itself puts `sandgate` on it."""
PREAMBLE = "set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n"


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody with folders and a port of their own; everything else is as the page says."""

    folder: Path
    port: int

    def script(self) -> str:
        """The page's shell blocks as one script."""
        text = PREAMBLE + "\n".join(BLOCK.findall(TUTORIAL.read_text()))
        for said, mine in (
            ("$PWD/.sandgate", str(self.folder / "demo")),
            ("/tmp/sandgate-tutorial", str(self.folder / "tutorial")),  # noqa: S108 - the page's words
            ("8472", str(self.port)),
        ):
            assert said in text, f"the tutorial no longer says {said}"
            text = text.replace(said, mine)
        return text

    def purge(self) -> None:
        """Remove both installations, whatever became of them."""
        for home in (self.folder / "demo", self.folder / "tutorial" / "home"):
            if home.exists():
                env = {**inherited_environment(), "SANDGATE_HOME": str(home)}
                subprocess.run([SANDGATE, "down", "--purge"], env=env, check=True, timeout=120)


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    reader = Reader(tmp_path, port)
    yield reader
    reader.purge()


def test_the_tutorial_works_as_it_is_written(reader: Reader) -> None:
    done = subprocess.run(
        ["bash", "-c", reader.script()],
        cwd=ROOT,
        env={**inherited_environment(), "NO_COLOR": "1", "PATH": ROOTS_PATH},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=560,
    )
    said = done.stdout
    assert done.returncode == 0, said
    refused = "refs/heads/main: this run may push only branches under agent/DEMO-2/"
    assert refused in said, said
    assert said.count("ended submitted (handed_over)") == 2, said
    assert '+    return "-".join(title.lower().split())' in said
    assert "sam: approve it, or send it back" in said
    assert "WEB/WEB-2: approve, as sam" in said
    assert re.search(r"^WEB/WEB-2 +done ", said, re.MULTILINE), said
    assert not (reader.folder / "tutorial").exists()
