"""What somebody has changed in a repository: refused by name, and nothing of it run or obeyed."""

import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from entrance.attestation.refusals import Word
from tests.component.attestation.pushed import Pushed
from tests.servers.attested import House, Repository, as_of


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


def test_a_shallow_clone_lacks_what_is_vouched_for(pushed: Pushed, tmp_path: Path) -> None:
    shallow = tmp_path / "shallow"
    url = pushed.repository.folder.as_uri()
    pushed.repository.git("clone", "-q", "--depth=1", url, str(shallow))
    assert pushed.verify(repository=shallow) is Word.MISSING_COMMIT


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


def _forged(graph: bytes, commit: str, parent: str) -> bytes:
    """A commit-graph in which a commit has another parent (gitformat-commit-graph); SHA-1."""
    chunks = {
        graph[at : at + 4]: struct.unpack_from(">Q", graph, at + 4)[0] for at in range(8, 56, 12)
    }
    names = graph[chunks[b"OIDL"] : chunks[b"CDAT"]]
    place = {names[at : at + 20].hex(): at // 20 for at in range(0, len(names), 20)}
    at = chunks[b"CDAT"] + 36 * place[commit] + 20
    return graph[:at] + struct.pack(">I", place[parent]) + graph[at + 4 :]


def test_no_summary_of_its_history_is_believed(pushed: Pushed) -> None:
    """git takes the parents of an earlier commit from a repository's commit-graph, where it has one."""
    git, (first, tip) = pushed.repository.git, pushed.push.commits
    base = git("rev-parse", f"{first}^")
    git("commit-graph", "write", "--reachable")
    graph = pushed.repository.folder / ".git" / "objects" / "info" / "commit-graph"
    graph.chmod(0o644)
    graph.write_bytes(_forged(graph.read_bytes(), first, tip))
    assert git("rev-parse", "main~2") == tip
    assert pushed.resolved("main~2") == base
