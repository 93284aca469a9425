"""`sandgate verify`, as a supervisor types it, and on another machine."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from entrance.attestation.refusals import REFUSALS, Word
from entrance.attestation.verify import STEPS
from entrance.ports import AcceptedPush
from orchestrator.cli.codes import Code
from orchestrator.stack.installation import Installation
from tests.servers.attested import House, Repository
from tests.servers.command import sandgate
from tests.servers.log import signer


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "clone")


@pytest.fixture
def push(here: Installation, repository: Repository) -> AcceptedPush:
    """What the installation has attested; its runner is down."""

    async def attested() -> AcceptedPush:
        house = House(here.home / "data")
        done = await house.pushed(repository)
        await house.attested(done)
        await house.log.close()
        return done

    here.data("egress").parent.mkdir(exist_ok=True)
    public_key(here.public_key)
    return asyncio.run(attested())


def public_key(path: Path, seed: bytes = b"k") -> Path:
    key = signer(seed).trust.key
    path.write_bytes(key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return path


def told(*arguments: object) -> dict[str, Any]:
    found = sandgate("verify", *map(str, arguments), "--json")
    assert isinstance(found.json, dict)
    assert found.json["code"] == found.code
    return found.json


def test_a_true_commit_is_told_by_its_run(repository: Repository, push: AcceptedPush) -> None:
    done = sandgate("verify", str(repository.folder), "HEAD")
    assert done.code == Code.OK, done.err
    first, *lines = done.out.splitlines()
    assert first == f"✓ commit {push.commits[-1][:12]} comes from run run1"
    shown = {line[:15].strip(" ✓"): line[15:].strip() for line in lines if line}
    assert shown["task"] == "DEMO/DEMO-7"
    assert shown["made with"] == "native, anthropic:claude-test"
    assert shown["approved"] == "nobody had to"
    assert set(STEPS) <= set(shown)


def test_programs_are_told_the_same(repository: Repository, push: AcceptedPush) -> None:
    found = told(repository.folder, push.commits[0])
    assert (found["ok"], found["word"], found["commit"]) == (True, "", push.commits[0])
    assert found["statement"]["run"]["id"] == "run1"
    assert [check["name"] for check in found["checks"]] == list(STEPS)


def test_plain_copies_and_the_package_are_enough(
    here: Installation, repository: Repository, push: AcceptedPush, tmp_path: Path
) -> None:
    there = tmp_path / "another-machine"
    there.mkdir()
    (file,) = here.data("attestations").glob("*.json")
    shutil.copy(file, there / "attestation.json")
    shutil.copytree(here.data("egress"), there / "log")
    shutil.copy(here.public_key, there / "key.pub")
    repository.git("clone", "-q", "--mirror", ".", str(there / "thing.git"))
    shutil.rmtree(here.home)
    found = told(
        there / "thing.git", push.commits[0], "--attestation", there / "attestation.json",
        "--key", there / "key.pub", "--log", there / "log",
    )  # fmt: skip
    assert found["ok"]


def test_a_copy_of_all_attestations_will_do_as_well(
    here: Installation, repository: Repository, push: AcceptedPush, tmp_path: Path
) -> None:
    copied = shutil.copytree(here.data("attestations"), tmp_path / "attestations")
    shutil.rmtree(here.data("attestations"))
    assert told(repository.folder, push.commits[0], "--attestation", copied)["ok"]
    done = sandgate("verify", str(repository.folder), "HEAD~2", "--attestation", str(copied))
    assert (done.code, "attested no push" in done.err) == (Code.NOT_FOUND, True)


def test_what_is_refused_says_why_and_exits_with_its_number(
    repository: Repository, push: AcceptedPush
) -> None:
    repository.git("replace", push.commits[0], push.commits[1])
    done = sandgate("verify", str(repository.folder), push.commits[1])
    assert done.code == REFUSALS[Word.REPLACED_COMMIT][0]
    assert done.out.startswith(f"✗ nobody vouches for commit {push.commits[1][:12]}: ")
    assert "✗ view         replaced_commit: " in done.out
    assert "· range        not looked at" in done.out
    assert told(repository.folder, push.commits[1])["word"] == "replaced_commit"


def test_another_installations_key_is_told_apart(
    repository: Repository, push: AcceptedPush, tmp_path: Path
) -> None:
    other = public_key(tmp_path / "other.pub", b"x")
    found = told(repository.folder, push.commits[1], "--key", other)
    assert found["word"] == "foreign_key"
    assert found["statement"] is None


def test_a_log_that_was_touched_is_told(
    here: Installation, repository: Repository, push: AcceptedPush
) -> None:
    segment = next(here.data("egress").glob("*.jsonl"))
    segment.write_bytes(segment.read_bytes().replace(b"run1", b"run2", 1))
    assert told(repository.folder, push.commits[1])["word"] == "broken_log"


@pytest.mark.parametrize("commit", ["HEAD~2", "nothing", "-x", "4" * 40])
def test_what_nobody_has_attested_is_not_found(
    repository: Repository, push: AcceptedPush, commit: str
) -> None:
    assert push.commits
    done = sandgate("verify", str(repository.folder), "--", commit)
    assert (done.code, done.out) == (Code.NOT_FOUND, "")
    assert commit in done.err or "has attested no push" in done.err


def test_what_is_not_there_is_named(
    push: AcceptedPush, tmp_path: Path, repository: Repository
) -> None:
    assert "is no git repository" in sandgate("verify", str(tmp_path), push.commits[0]).err
    done = sandgate("verify", str(repository.folder), "HEAD", "--attestation", str(tmp_path / "no"))
    assert done.code == Code.NOT_FOUND


def test_what_a_commit_says_to_a_terminal_is_not_obeyed(
    repository: Repository, push: AcceptedPush
) -> None:
    assert push.commits
    assert "\x1b" not in sandgate("verify", str(repository.folder), "\x1b[2J").err
