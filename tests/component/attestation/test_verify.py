"""Real repositories, a real log: what a true commit is told by, and whatever isn't, is refused."""

import base64
import shutil
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import orjson
import pytest

from entrance.attestation.attestor import name_of
from entrance.attestation.envelope import sealed
from entrance.attestation.objects import objects_of
from entrance.attestation.refusals import Word
from entrance.attestation.statement import Approval, Push, read, written
from entrance.attestation.verify import STEPS
from entrance.decision import Hold
from entrance.errors import NotFound
from entrance.log.retention import Keep, drop
from entrance.log.segments import Rules
from entrance.log.shelf import Shelf
from entrance.ports import AcceptedPush
from tests.servers.attested import House, Repository, as_of, looked, refused
from tests.servers.log import lines_in, signer


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path / "home", Rules(segment_age=timedelta(minutes=30)))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "clone")


class Pushed:
    """A push with its attestation, and what `verify` says of it."""

    def __init__(
        self, house: House, repository: Repository, push: AcceptedPush, file: Path
    ) -> None:
        self.house, self.repository, self.push, self.file = house, repository, push, file

    def verify(self, commit: str = "", **changed: Path) -> Word | None:
        found = looked(
            changed.get("file", self.file),
            changed.get("repository", self.repository.folder),
            commit or self.push.commits[-1],
            changed.get("log", self.house.log_folder),
        )
        return refused(found)

    def said(self) -> Push:
        return read(base64.b64decode(orjson.loads(self.file.read_bytes())["payload"]))

    def saying(self, **changed: object) -> Path:
        """Another statement that our key has signed."""
        other = self.file.with_name("other.json")
        other.write_bytes(sealed(written(self.said().model_copy(update=changed)), signer()))
        return other


@pytest.fixture
async def pushed(house: House, repository: Repository) -> Pushed:
    push = await house.pushed(repository)
    return Pushed(house, repository, push, await house.attested(push))


@pytest.mark.parametrize("hash_name", ["sha1", "sha256"])
async def test_a_true_commit_is_vouched_for(house: House, tmp_path: Path, hash_name: str) -> None:
    repository = Repository(tmp_path / "clone", hash_name)
    push = await house.pushed(repository)
    file = await house.attested(push)
    for commit in (*push.commits, "HEAD", "main", "HEAD^", push.commits[0][:12]):
        found = looked(file, repository.folder, commit, house.log_folder)
        assert refused(found) is None
        assert [check.name for check in found] == list(STEPS)


async def test_it_is_one_however_often_it_is_told(pushed: Pushed) -> None:
    house = pushed.house
    first = pushed.file.read_bytes()
    house.clock.advance(5)
    await house.attestor().accepted(pushed.push)
    await house.log.close()
    assert pushed.file.read_bytes() == first
    assert [path.name for path in (house.home / "attestations").glob("*.json")] == [
        name_of(pushed.push)
    ]
    told = [line for line in lines_in(house.log_folder) if line.get("kind") == "attestation"]
    assert len(told) == 1
    assert pushed.verify() is None


async def test_it_goes_on_as_the_log_and_the_branch_do(pushed: Pushed) -> None:
    for _ in range(3):
        pushed.house.clock.advance(3600)
        await pushed.house.pushed(Repository(pushed.repository.folder.with_name(f"o{_}")))
    pushed.repository.commit("more")
    await pushed.house.log.close()
    assert len(Shelf(pushed.house.log_folder).segments()) == 4
    assert pushed.verify() is None
    assert pushed.verify("HEAD") is Word.NOT_ATTESTED


async def test_plain_copies_on_another_machine_are_enough(pushed: Pushed, tmp_path: Path) -> None:
    there = tmp_path / "there"
    await pushed.house.log.close()
    copies = {
        "repository": there / "bare.git",
        "log": shutil.copytree(pushed.house.log_folder, there / "log"),
        "file": there / "attestation.json",
    }
    shutil.copy(pushed.file, copies["file"])
    pushed.repository.git("gc", "-q")
    pushed.repository.git("clone", "-q", "--bare", ".", str(copies["repository"]))
    assert pushed.verify("main", **copies) is None


async def test_it_is_found_by_whatever_name_git_knows_it_by(pushed: Pushed, tmp_path: Path) -> None:
    git, tip = pushed.repository.git, pushed.push.commits[-1]
    git("tag", "light")
    git("tag", "-am", "x", "heavy")
    git("branch", "topic/deep")
    git("symbolic-ref", "refs/heads/link", "refs/heads/main")
    git("worktree", "add", "-q", "--detach", str(tmp_path / "tree"))
    git("fetch", "-q", ".", "main")
    names = ["light", "heavy", "topic/deep", "link", "heads/main", "refs/heads/main", "FETCH_HEAD"]
    for _ in range(2):
        for name in names:
            assert pushed.verify(name) is None, name
        for name in (*names, "HEAD", f"{tip[:9]}", "main^1^0~1"):
            assert git("rev-parse", f"{name}^{{commit}}") == _resolved(pushed, name), name
        git("pack-refs", "--all")
    assert pushed.verify("HEAD", repository=tmp_path / "tree") is None


@pytest.mark.parametrize(
    "name", ["", "-x", "..", "a..b", "HEAD@{1}", ":/x", "../HEAD", "config", "x" * 300]
)
def test_what_names_no_commit_is_not_found(pushed: Pushed, name: str) -> None:
    with pytest.raises(NotFound):
        _resolved(pushed, name)


def _resolved(pushed: Pushed, name: str) -> str:
    with objects_of(pushed.repository.folder) as objects:
        return objects.resolve(name)


def test_a_commit_that_the_push_did_not_bring_is_not_vouched_for(pushed: Pushed) -> None:
    assert pushed.verify("HEAD~2") is Word.NOT_ATTESTED
    with pytest.raises(NotFound):
        pushed.verify("nothing")


def test_an_altered_attestation_is_refused(pushed: Pushed) -> None:
    text = pushed.file.read_bytes()
    for at in range(0, len(text), 97):
        pushed.file.write_bytes(text[:at] + bytes([text[at] ^ 1]) + text[at + 1 :])
        assert pushed.verify() in {Word.UNREADABLE, Word.FORGED, Word.FOREIGN_KEY}


async def test_another_key_is_refused(pushed: Pushed) -> None:
    other = signer(b"x")
    push = as_of(pushed.push, decision=pushed.push.decision + 1)
    await pushed.house.attestor(other).accepted(push)
    file = pushed.house.store.of_commit(push.commits[0])[-1]
    assert pushed.verify(file=file) is Word.FOREIGN_KEY
    found = looked(pushed.file, pushed.repository.folder, "HEAD", pushed.house.log_folder, other)
    assert refused(found) is Word.FOREIGN_KEY


def _replace(repository: Repository, oid: str) -> None:
    tree = repository.git("rev-parse", "main~2^{tree}")
    other = repository.git("commit-tree", tree, "-p", f"{oid}^", "-m", "Nothing to see")
    repository.git("replace", oid, other)


def _graft(repository: Repository, oid: str) -> None:
    info = repository.folder / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "grafts").write_text(f"{oid}\n")


def _rewrite(repository: Repository, oid: str) -> None:
    """Another commit's bytes in the object's file."""
    raw = repository.git("cat-file", "commit", oid).replace("Add file", "Add evil") + "\n"
    _put(repository, oid, zlib.compress(b"commit %d\0%b" % (len(raw), raw.encode())))


def _break(repository: Repository, oid: str) -> None:
    _put(repository, oid, b"not zlib at all")


def _remove(repository: Repository, oid: str) -> None:
    repository.path_of(oid).unlink()


def _empty_file(repository: Repository, oid: str) -> None:
    kind = repository.git("cat-file", "-t", oid).encode()
    _put(repository, oid, zlib.compress(kind + b" 0\0"))


def _replace_by_itself(repository: Repository, oid: str) -> None:
    kind = repository.git("cat-file", "-t", oid)
    other = repository.git("hash-object", "-t", kind, "-w", "--stdin")
    repository.git("replace", oid, other)


def _mistype(repository: Repository, oid: str) -> None:
    _put(repository, oid, zlib.compress(b"blob 1\0x"))


def _put(repository: Repository, oid: str, content: bytes) -> None:
    path = repository.path_of(oid)
    path.chmod(0o644)
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("tamper", "word"),
    [
        (_replace, Word.REPLACED_COMMIT),
        (_graft, Word.REPLACED_COMMIT),
        (_rewrite, Word.ALTERED_COMMIT),
        (_break, Word.MISSING_COMMIT),
        (_mistype, Word.ALTERED_COMMIT),
        (_remove, Word.MISSING_COMMIT),
    ],
)
@pytest.mark.parametrize("which", [0, -1])
def test_an_altered_commit_is_refused(
    pushed: Pushed, tamper: Callable[[Repository, str], None], word: Word, which: int
) -> None:
    tamper(pushed.repository, pushed.push.commits[which])
    assert pushed.verify(pushed.push.commits[-1]) is word


@pytest.mark.parametrize(
    ("tamper", "word"),
    [
        (_break, Word.ALTERED_FILES),
        (_remove, Word.ALTERED_FILES),
        (_mistype, Word.ALTERED_FILES),
        (_empty_file, Word.ALTERED_FILES),
        (_replace_by_itself, Word.REPLACED_COMMIT),
    ],
)
@pytest.mark.parametrize("what", ["HEAD^{tree}", "HEAD:file0", "HEAD:folder", "HEAD:folder/deep"])
async def test_a_file_that_was_altered_is_refused(
    house: House,
    repository: Repository,
    tamper: Callable[[Repository, str], None],
    word: Word,
    what: str,
) -> None:
    push = await house.pushed(repository)
    (repository.folder / "folder").mkdir()
    tip = repository.commit("folder/deep")
    moved = (replace(push.moved[0], new=tip),)
    more = {"moved": moved, "commits": (*push.commits, tip), "decision": push.decision}
    push = await house.decided(as_of(push, **more))
    pushed = Pushed(house, repository, push, await house.attested(push))
    assert pushed.verify() is None
    tamper(repository, repository.git("rev-parse", what))
    assert pushed.verify() is word


async def test_a_submodule_is_not_looked_into(house: House, repository: Repository) -> None:
    push = await house.pushed(repository)
    entry = f"160000,{'7' * 40},module"
    repository.git("update-index", "--add", "--cacheinfo", entry)
    tip = repository.commit("more")
    moved = (replace(push.moved[0], new=tip),)
    push = await house.decided(as_of(push, moved=moved, commits=(*push.commits, tip)))
    pushed = Pushed(house, repository, push, await house.attested(push))
    assert pushed.verify() is None


async def test_one_that_a_person_allowed_names_both_decisions(
    house: House, repository: Repository
) -> None:
    push = await house.pushed(repository)
    held = await house.decided(push, Hold("a file was changed that others' machines run"))
    push = await house.decided(push)
    push = as_of(push, held=held.decision, approval="A-17", approved_by="lead")
    pushed = Pushed(house, repository, push, await house.attested(push))
    assert pushed.verify() is None
    said = pushed.said()
    assert (said.held, said.decision) == (held.decision, push.decision)
    assert said.approval == Approval(id="A-17", by="lead")
    other = pushed.saying(held=push.decision)
    assert pushed.verify(file=other) is Word.OTHER_RECORD


def test_a_shallow_clone_lacks_what_is_vouched_for(pushed: Pushed, tmp_path: Path) -> None:
    shallow = tmp_path / "shallow"
    url = pushed.repository.folder.as_uri()
    pushed.repository.git("clone", "-q", "--depth=1", url, str(shallow))
    assert pushed.verify(repository=shallow) is Word.MISSING_COMMIT


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"held": 1}, Word.OTHER_RECORD),
        ({"decision": 1}, Word.OTHER_RECORD),
        ({"decision": 3}, Word.OTHER_RECORD),
        ({"decision": 4711}, Word.MISSING_RECORD),
        ({"refs": ()}, Word.RANGE),
    ],
)
def test_a_decision_that_the_log_does_not_tell_is_refused(
    pushed: Pushed, changed: dict[str, object], word: Word
) -> None:
    """Signed with our key, too: the log is the second witness."""
    assert lines_in(pushed.house.log_folder)[1]["seq"] == pushed.push.decision == 2
    assert pushed.verify(file=pushed.saying(**changed)) is word


def test_one_that_the_log_does_not_know_is_refused(pushed: Pushed) -> None:
    other = pushed.saying(version="another")
    assert pushed.verify(file=other) is Word.UNRECORDED


def test_another_history_of_the_log_is_refused(pushed: Pushed) -> None:
    link = pushed.said().log.model_copy(update={"hash": "d" * 64})
    assert pushed.verify(file=pushed.saying(log=link)) is Word.OTHER_LOG


def _changed(shelf: Shelf) -> None:
    path = shelf.segment(1)
    path.write_bytes(path.read_bytes().replace(b"DEMO-7", b"DEMO-8", 1))


def _without_a_line(shelf: Shelf) -> None:
    path = shelf.segment(1)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:1] + lines[2:]))


def _without_a_segment(shelf: Shelf) -> None:
    shelf.segment(1).unlink()


def _cut(shelf: Shelf) -> None:
    path = shelf.segment(1)
    path.write_bytes(path.read_bytes()[:-20])


def _empty(shelf: Shelf) -> None:
    for path in shelf.folder.iterdir():
        path.unlink()


@pytest.mark.parametrize("tamper", [_changed, _without_a_line, _without_a_segment, _cut, _empty])
async def test_a_missing_link_is_refused(pushed: Pushed, tamper: Callable[[Shelf], None]) -> None:
    pushed.house.clock.advance(3600)
    await pushed.house.pushed(Repository(pushed.repository.folder.with_name("other")))
    await pushed.house.log.close()
    tamper(Shelf(pushed.house.log_folder))
    assert pushed.verify() is Word.BROKEN_LOG


async def test_a_record_that_a_rule_removed_is_told_apart(pushed: Pushed) -> None:
    for name in ("two", "three"):
        pushed.house.clock.advance(3600)
        await pushed.house.pushed(Repository(pushed.repository.folder.with_name(name)))
    await pushed.house.log.close()
    drop(
        Shelf(pushed.house.log_folder), signer(), Keep(age=timedelta(minutes=1)),
        pushed.house.clock.advance(7200),
    )  # fmt: skip
    assert pushed.verify() is Word.RETIRED_RECORD


def _hostile() -> Iterator[tuple[str, str]]:
    yield "core.fsmonitor", "touch {mark}"
    yield "core.sshCommand", "touch {mark}"
    yield "core.pager", "touch {mark}"
    yield "core.hooksPath", "{hooks}"
    yield "core.alternateRefsCommand", "touch {mark}"
    yield "extensions.partialClone", "origin"
    yield "remote.origin.url", "ext::touch {mark}"
    yield "remote.origin.promisor", "true"
    yield "protocol.ext.allow", "always"
    yield "protocol.allow", "always"
    yield "include.path", "/dev/zero"


def test_nothing_that_a_repository_says_is_run(pushed: Pushed, tmp_path: Path) -> None:
    mark, hooks = tmp_path / "mark", tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "reference-transaction", "post-checkout"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {mark}\n")
        (hooks / name).chmod(0o755)
    for key, value in _hostile():
        pushed.repository.git("config", "--add", key, value.format(mark=mark, hooks=hooks))
    _remove(pushed.repository, pushed.push.commits[0])
    assert pushed.verify("main") is Word.MISSING_COMMIT
    assert not mark.exists()
