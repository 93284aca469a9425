"""Debian packages of this machine: only what is missing, and no service started by an install."""

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from orchestrator.stack.steps import StepFailed

POLICY = Path("/usr/sbin/policy-rc.d")
# Our mark lets an interrupted set-up clean up at the next try, and spares anyone else's policy.
POLICY_TEXT = "#!/bin/sh\n# sandgate: no service starts while packages are installed\nexit 101\n"

INSTALL = (
    "apt-get",
    "-qq",
    "--yes",
    "--no-install-recommends",
    "-o",
    "DPkg::Lock::Timeout=300",
    "-o",
    "Dpkg::Use-Pty=0",
    "install",
)
UPDATE = ("apt-get", "-qq", "-o", "DPkg::Lock::Timeout=300", "update")
APT_TIMEOUT_S = 900.0
TAIL_LINES = 12


Done = subprocess.CompletedProcess[str]


class DebianPackages:
    """Installs Debian packages, with one update of the index at most."""

    def __init__(
        self,
        *,
        tool: Callable[[Sequence[str]], Done] | None = None,
        root: bool | None = None,
        policy: Path = POLICY,
    ) -> None:
        self._tool = tool or run_tool
        self._root = os.geteuid() == 0 if root is None else root
        self._policy = policy
        self._updated = False

    def missing(self, packages: Sequence[str]) -> list[str]:
        """Those of `packages` that dpkg doesn't list as installed (all, where there is no dpkg)."""
        return [name for name in packages if not self._installed(name)]

    def ensure(self, packages: Sequence[str], *, doing: Callable[[str], None]) -> list[str]:
        """Install what is missing of `packages`; return what was installed.

        Raises: StepFailed when this isn't Debian, the rights are lacking or the archive refuses.
        """
        wanted = self.missing(packages)
        if not wanted:
            return []
        self._require_debian_and_root(wanted)
        doing(f"installing {', '.join(wanted)} from Debian")
        with _no_services(self._policy):
            done = self._tool([*INSTALL, *wanted])
            if done.returncode and not self._updated:
                # The index may be absent or old; an update costs seconds, so it comes second.
                self._updated = True
                self._tool(UPDATE)
                done = self._tool([*INSTALL, *wanted])
        if done.returncode:
            raise StepFailed(
                f"Installing {', '.join(wanted)} failed",
                why=_tail(done.stdout),
                what_to_do="Check that this machine reaches its Debian archive (apt-get update), "
                "or install these packages yourself, then run the same command again.",
            )
        return wanted

    def _installed(self, name: str) -> bool:
        done = self._tool(["dpkg-query", "--show", "--showformat=${db:Status-Status}", name])
        return done.returncode == 0 and done.stdout == "installed"

    def _require_debian_and_root(self, wanted: Sequence[str]) -> None:
        names = ", ".join(wanted)
        if self._tool(["apt-get", "--version"]).returncode:
            raise StepFailed(
                f"{names} can't be installed here",
                why="there is no apt-get: this machine isn't a Debian",
                what_to_do=f"Install what provides {names} on this system, then run it again.",
            )
        if not self._root:
            raise StepFailed(
                f"{names} can't be installed",
                why="installing packages needs root",
                what_to_do=f"Run it as root once, or ask for: apt-get install {' '.join(wanted)}",
            )


def run_tool(command: Sequence[str]) -> Done:
    """Run a package tool to its end, its two outputs in one."""
    return subprocess.run(
        ["env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8", *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=APT_TIMEOUT_S,
    )


@contextmanager
def _no_services(policy: Path) -> Iterator[None]:
    """Keep maintainer scripts from starting services, unless the machine has a policy of its own."""
    ours = not policy.exists() or policy.read_text() == POLICY_TEXT
    if ours:
        policy.write_text(POLICY_TEXT)
        policy.chmod(0o755)
    try:
        yield
    finally:
        if ours:
            policy.unlink(missing_ok=True)


def _tail(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-TAIL_LINES:])
