"""Packs that git would not send: refused whole, with a reason, and no ref moves."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from entrance.git.pktline import FLUSH, encode
from tests.component.git.matrix import packs
from tests.component.git.matrix.acts import OWN
from tests.component.git.matrix.packs import OFS_DELTA, REF_DELTA, Object, blob, pack, tree, whole
from tests.component.git.matrix.promises import pushes_at_host
from tests.servers.git import Door

NONE = "0" * 40
FILE = b"100644"
HELLO = blob(b"by hand\n")
AWAY = blob(b"../../away")
PLAIN = tree((FILE, b"a.txt", HELLO.oid))


@dataclass(frozen=True, slots=True)
class Sent:
    """A pack, and the object that the branch is to be at."""

    data: bytes
    new: str


Make = Callable[[str], Sent]
"""Given the id of `main`."""


def a_tree(top: Object, *more: Object) -> Make:
    """A commit of this tree, whole in every other way."""

    def make(main: str) -> Sent:
        new = packs.commit(top.oid, main)
        return Sent(pack([whole(each) for each in (new, top, *more)]), new.oid)

    return make


def named(name: bytes, mode: bytes = FILE) -> Make:
    """A commit of a tree that has this name in it."""
    return a_tree(tree((mode, name, HELLO.oid)), HELLO)


def _whole(main: str) -> tuple[list[bytes], str]:
    new = packs.commit(PLAIN.oid, main)
    return [whole(each) for each in (new, PLAIN, HELLO)], new.oid


def framed(change: Callable[[list[bytes]], bytes]) -> Make:
    """A good commit, in a pack that is made in this way from its entries."""

    def make(main: str) -> Sent:
        entries, new = _whole(main)
        return Sent(change(entries), new)

    return make


def with_entries(*more: bytes) -> Make:
    return framed(lambda entries: pack([*entries, *more]))


def flipped(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


def cyclic() -> list[bytes]:
    """Two deltas that each name the other as their base."""
    one, two = bytes.fromhex("11" * 20), bytes.fromhex("22" * 20)
    body = packs.delta(8, 8, packs.copy(0, 8))
    return [packs.entry(REF_DELTA, body, one), packs.entry(REF_DELTA, body, two)]


def a_commit(make: Callable[[str], Object]) -> Make:
    """Another commit object, on a good tree."""

    def sent(main: str) -> Sent:
        new = make(main)
        return Sent(pack([whole(each) for each in (new, PLAIN, HELLO)]), new.oid)

    return sent


def without(missing: Object) -> Make:
    """A good commit whose pack lacks one of its objects."""

    def make(main: str) -> Sent:
        new = packs.commit(PLAIN.oid, main)
        kept = [each for each in (new, PLAIN, HELLO) if each != missing]
        return Sent(pack([whole(each) for each in kept]), new.oid)

    return make


BASE = bytes.fromhex(HELLO.oid)
REFUSED = {
    "no pack at all": framed(lambda _: b""),
    "words": framed(lambda _: b"I am no pack"),
    "a pack cut in its head": framed(lambda entries: pack(entries)[:9]),
    "a pack cut in an object": framed(lambda entries: pack(entries)[:40]),
    "a pack cut before its hash": framed(lambda entries: pack(entries)[:-20]),
    "a pack cut in its hash": framed(lambda entries: pack(entries)[:-1]),
    "a hash of something else": framed(lambda entries: flipped(pack(entries))),
    "bytes behind the pack": framed(lambda entries: pack(entries, tail=b"x")),
    "a second pack behind the pack": framed(lambda entries: pack(entries) * 2),
    "one object too few": framed(lambda entries: pack(entries, count=4)),
    "one object too many": framed(lambda entries: pack(entries, count=2)),
    "a number of objects beyond reason": framed(lambda e: pack(e, count=0xFFFFFFFF)),
    "a version that is not known": framed(lambda entries: pack(entries, version=4)),
    "an object of no type": with_entries(packs.entry(0, b"x")),
    "an object of a type to come": with_entries(packs.entry(5, b"x")),
    "an object longer than it says": with_entries(packs.entry(packs.BLOB, b"xxxx", size=2)),
    "an object shorter than it says": with_entries(packs.entry(packs.BLOB, b"xx", size=4)),
    "an object of terabytes": with_entries(packs.entry(packs.BLOB, b"x", size=1 << 43)),
    "a size without an end": with_entries(b"\xb0" + b"\xff" * 40 + zlib.compress(b"")),
    "an object that does not inflate": with_entries(b"\x31not zlib"),
    "a delta whose base is nowhere": with_entries(
        packs.entry(REF_DELTA, packs.delta(8, 8, packs.copy(0, 8)), bytes.fromhex("11" * 20))
    ),
    "deltas that go round in a circle": framed(lambda entries: pack([*entries, *cyclic()])),
    "a delta of a base before the pack": with_entries(
        packs.entry(OFS_DELTA, packs.delta(8, 8, packs.copy(0, 8)), packs.back(1 << 20))
    ),
    "a delta of itself": with_entries(
        packs.entry(OFS_DELTA, packs.delta(8, 8, packs.copy(0, 8)), packs.back(0))
    ),
    "a delta of a base of another size": with_entries(
        packs.entry(REF_DELTA, packs.delta(9, 8, packs.copy(0, 8)), BASE)
    ),
    "a delta that copies beyond its base": with_entries(
        packs.entry(REF_DELTA, packs.delta(8, 16, packs.copy(0, 16)), BASE)
    ),
    "a delta that makes more than it says": with_entries(
        packs.entry(REF_DELTA, packs.delta(8, 4, packs.copy(0, 8)), BASE)
    ),
    "a delta of a kind to come": with_entries(
        packs.entry(REF_DELTA, packs.delta(8, 8, b"\0"), BASE)
    ),
    "a folder .git": named(b".git"),
    "a folder .GIT": named(b".GIT"),
    "a folder .git for Windows": named(b"git~1"),
    "a folder .git for a Mac": named(b".g\xe2\x80\x8cit"),
    "a folder dot": named(b"."),
    "a folder dot dot": named(b".."),
    "a name with a slash": named(b"a/b"),
    "no name": named(b""),
    "a mode with a zero before it": named(b"a.txt", b"0100644"),
    "names in disorder": a_tree(tree((FILE, b"b", HELLO.oid), (FILE, b"a", HELLO.oid)), HELLO),
    "a name twice": a_tree(tree((FILE, b"a", HELLO.oid), (FILE, b"a", HELLO.oid)), HELLO),
    "an object of zeros": a_tree(tree((FILE, b"a", NONE)), HELLO),
    "a symbolic link as .gitmodules": named(b".gitmodules", b"120000"),
    "a tree cut in the middle": a_tree(Object(packs.TREE, PLAIN.data[:-3]), HELLO),
    "a commit without its tree": without(PLAIN),
    "a tree without its file": without(HELLO),
    "a commit whose parent is nowhere": a_commit(lambda _: packs.commit(PLAIN.oid, "1" * 40)),
    "a commit whose tree is a file": a_commit(lambda main: packs.commit(HELLO.oid, main)),
    "a commit whose parent is a tree": a_commit(lambda _: packs.commit(PLAIN.oid, PLAIN.oid)),
    "a commit without an author": a_commit(
        lambda main: Object(packs.COMMIT, f"tree {PLAIN.oid}\nparent {main}\n\nx\n".encode())
    ),
    "a commit with NUL in its head": a_commit(
        lambda main: packs.commit(PLAIN.oid, main, more=b"x-\0: y\n")
    ),
    "a commit with a second author behind its own": a_commit(
        lambda main: packs.commit(PLAIN.oid, main, more=b"author " + packs.WHO + b"\n")
    ),
    "a commit with a second committer behind its own": a_commit(
        lambda main: packs.commit(PLAIN.oid, main, more=b"committer " + packs.WHO + b"\n")
    ),
    "a commit with a parent behind its people": a_commit(
        lambda main: packs.commit(PLAIN.oid, main, more=f"parent {main}\n".encode())
    ),
    "a commit with a second tree behind its people": a_commit(
        lambda main: packs.commit(PLAIN.oid, main, more=f"tree {PLAIN.oid}\n".encode())
    ),
    "a commit that is no commit": a_commit(lambda _: Object(packs.COMMIT, b"hello\n")),
    "a branch at a file": framed(pack),
    "a file that nothing leads to": with_entries(whole(blob(b"hidden\n"))),
    "a commit that nothing leads to": with_entries(whole(packs.commit(PLAIN.oid))),
    "a tag that nothing leads to": with_entries(
        whole(Object(packs.TAG, b"object %b\ntype blob\ntag x\n\nx\n" % HELLO.oid.encode()))
    ),
    "a link out of the tree, its mode in disguise": a_tree(tree((b"123456", b"a", AWAY.oid)), AWAY),
}


def body(ref: str, new: str, old: str = NONE) -> bytes:
    wanted = f"{old} {new} {ref}\0 report-status side-band-64k agent=by-hand".encode()
    return encode(wanted) + FLUSH


@pytest.mark.parametrize("what", REFUSED)
async def test_what_git_would_not_send_moves_nothing(at_door: Door, what: str) -> None:
    """CASE-38."""
    sent = REFUSED[what]((await at_door.refs())["refs/heads/main"])
    new = HELLO.oid if what == "a branch at a file" else sent.new

    status, said = await at_door.post("git-receive-pack", body(f"{OWN}/x", new) + sent.data)

    assert status in {200, 400}
    assert b"ok refs" not in said
    assert status != 200 or b"ng " + OWN.encode() in said, said
    assert f"{OWN}/x" not in await at_door.refs()
    assert not pushes_at_host(at_door)
    assert at_door.audit.decisions("git_push")[-1].decision.word == "deny"


async def test_a_good_pack_made_by_hand_arrives(at_door: Door) -> None:
    """So that the others are refused for what is said of them."""
    entries, new = _whole((await at_door.refs())["refs/heads/main"])

    _, said = await at_door.post("git-receive-pack", body(f"{OWN}/x", new) + pack(entries))

    assert b"ok " + OWN.encode() in said
    assert (await at_door.refs())[f"{OWN}/x"] == new


async def test_an_object_that_comes_twice_is_counted_as_it_comes(at_door: Door) -> None:
    """git takes such a pack; what the door looks at is all that the host gets."""
    entries, new = _whole((await at_door.refs())["refs/heads/main"])

    _, said = await at_door.post(
        "git-receive-pack", body(f"{OWN}/x", new) + pack([*entries, entries[-1]])
    )

    arrived = f"{OWN}/x" in await at_door.refs()
    assert arrived == (b"ok refs" in said)
    assert arrived or b"ng refs" in said
