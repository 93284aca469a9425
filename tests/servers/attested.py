"""An installation that has attested a push: the log, the store, and the repository that was pushed."""

import os
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path

from entrance.attestation.attestor import Attestor
from entrance.attestation.objects import objects_of
from entrance.attestation.refusals import Word
from entrance.attestation.store import Attestations
from entrance.attestation.verify import Case, Check, checks
from entrance.decision import Allow, Decision
from entrance.log.egress_log import EgressLog
from entrance.log.records import Decided, Outcome
from entrance.log.segments import Rules
from entrance.log.signing import Signer
from entrance.ports import AcceptedPush, Moved
from tests.fakes.attested import NONE, REF, SESSION, WHOSE, accepted
from tests.fakes.clock import FakeClock
from tests.servers.log import open_log, signer

TRAILERS = "Agent-Run: run1\nAgent-Task: DEMO/DEMO-7\nAgent-Model: anthropic:claude-test"


@dataclass
class Repository:
    """A repository with the agent's commits on a branch."""

    folder: Path
    hash_name: str = "sha1"

    def git(self, *argv: str, said: str = "") -> str:
        env = {
            "PATH": os.defpath,
            "HOME": str(self.folder.parent),
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_NAME": WHOSE.name for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": WHOSE.mail for who in ("AUTHOR", "COMMITTER")},
        }
        return subprocess.run(
            ["git", *argv], cwd=self.folder, env=env, input=said, capture_output=True, text=True,
            check=True, timeout=30,
        ).stdout.strip()  # fmt: skip

    def begin(self) -> str:
        """The host's own commit."""
        self.folder.mkdir(parents=True)
        self.git("init", "-q", "-b", "main", f"--object-format={self.hash_name}")
        return self.commit("README", trailers="")

    def commit(self, name: str, trailers: str = TRAILERS) -> str:
        (self.folder / name).write_text(name)
        self.git("add", name)
        self.git("commit", "-qm", f"Add {name}\n\n{trailers}")
        return self.git("rev-parse", "HEAD")

    def path_of(self, oid: str) -> Path:
        """The file of a loose object."""
        return self.folder / ".git" / "objects" / oid[:2] / oid[2:]


@dataclass
class House:
    """The installation below `home`."""

    home: Path
    rules: Rules | None = None
    clock: FakeClock = field(default_factory=FakeClock)

    def __post_init__(self) -> None:
        """Open its log."""
        self.log: EgressLog = open_log(self.log_folder, self.rules, now=self.clock.now)
        self.store = Attestations(self.home / "attestations")

    @property
    def log_folder(self) -> Path:
        return self.home / "egress"

    def attestor(self, key: Signer | None = None) -> Attestor:
        return Attestor(
            self.store, key or signer(), self.log, lambda: self.log.newest, self.clock.now, "0.test"
        )

    async def pushed(self, repository: Repository, count: int = 2) -> AcceptedPush:
        """The agent commits so often and pushes; the host has taken it, and nothing is attested."""
        base = repository.begin()
        commits = tuple(repository.commit(f"file{number}") for number in range(count))
        moved = Moved(REF, NONE if len(base) == 40 else "0" * 64, commits[-1])
        return await self.decided(accepted(moved=(moved,), commits=commits, onto=(base,)))

    async def decided(self, push: AcceptedPush, decision: Decision | None = None) -> AcceptedPush:
        """It was decided so, allowed unless it is said otherwise."""
        updates = [
            {"ref": one.ref, "old": one.old, "new": one.new, "refused": ""} for one in push.moved
        ]
        seq = await self.log.decided(
            Decided("git_push", "thing", decision or Allow(), SESSION, detail={"updates": updates})
        )
        if decision is None:
            await self.log.came_of_it(Outcome(seq, "ok"))
        return replace(push, decision=seq)

    async def attested(self, push: AcceptedPush) -> Path:
        """The push is attested; the attestation's file."""
        await self.attestor().accepted(push)
        return self.store.of_commit(push.commits[-1])[-1]


def looked(
    attestation: Path, repository: Path, commit: str, log: Path, key: Signer | None = None
) -> list[Check]:
    """What `verify` looks at, in order."""
    trust = (key or signer()).trust
    with objects_of(repository) as objects:
        case = Case(objects.resolve(commit), attestation.read_bytes(), trust, objects, log)
        return list(checks(case))


def refused(found: list[Check]) -> Word | None:
    """What is wrong; None when nothing is."""
    refusal = found[-1].refusal
    return refusal.word if refusal else None


def as_of(push: AcceptedPush, **changed: object) -> AcceptedPush:
    return replace(push, **changed)  # type: ignore[arg-type]
