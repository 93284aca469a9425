"""What a merge does that no other commit shows."""

from collections.abc import Callable
from pathlib import Path

from entrance.git.pktline import FLUSH
from entrance.push_policy import Mode
from tests.component.git.matrix import packs
from tests.component.git.matrix.acts import after, run, to, write
from tests.component.git.matrix.promises import Host
from tests.component.git.matrix.test_heads_by_hand import command
from tests.servers.git import Door


async def theirs(at_door: Door, host: Host, clone: Path, *versions: bytes) -> None:
    """Somebody changes a workflow on `main`, a commit each; the clone has fetched it."""
    work = at_door.git.home / "theirs"
    await at_door.git.ok("clone", "-q", at_door.root / host.repository, work)
    (work / ".github/workflows").mkdir(parents=True)
    for version in versions:
        await at_door.commit(work, ".github/workflows/ci.yml", version)
    await at_door.git.ok("push", "-q", "origin", "HEAD:main", cwd=work)
    host.refs = await at_door.refs()
    await at_door.git.ok("fetch", "-q", "origin", cwd=clone)


async def test_a_merge_that_takes_back_what_others_changed_of_a_gate_is_found(
    at_door: Door, host: Host, clone: Path, policy: Callable[..., None]
) -> None:
    """Nobody's commit shows it: the merge's file is the same as on one side."""
    await theirs(at_door, host, clone, b"one\n", b"two, which is safer\n")
    await run("checkout", "-q", "origin/main~1")(at_door, clone)
    await after(write("mine.txt"), run("merge", "-q", "-s", "ours", "--no-edit", "origin/main"))(
        at_door, clone
    )
    policy({"gate-path": Mode.DENY})

    said = await at_door.git("push", "origin", to("fix"), cwd=clone)

    assert said.code != 0, said.text
    assert "[gate-path]" in said.text


async def test_a_merge_that_brings_others_changes_of_a_gate_is_none(
    at_door: Door, host: Host, clone: Path, policy: Callable[..., None]
) -> None:
    await theirs(at_door, host, clone, b"one\n", b"two, which is safer\n")
    await after(write("mine.txt"), run("merge", "-q", "--no-edit", "origin/main"))(at_door, clone)
    policy({"gate-path": Mode.DENY})

    said = await at_door.git("push", "origin", to("fix"), cwd=clone)

    assert said.code == 0, said.text


async def test_a_merge_of_three_that_takes_back_a_gate_is_found(
    at_door: Door, host: Host, clone: Path, policy: Callable[..., None]
) -> None:
    await theirs(at_door, host, clone, b"one\n", b"two, which is safer\n")
    more = run("checkout", "-q", "-b", "more", "origin/main~1")
    back = run("checkout", "-q", "-b", "mine", "origin/main~1")
    merge = run("merge", "-q", "-s", "ours", "--no-edit", "origin/main", "more")
    await after(more, write("more.txt"), back, write("mine.txt"), merge)(at_door, clone)
    policy({"gate-path": Mode.DENY})

    said = await at_door.git("push", "origin", to("fix"), cwd=clone)

    assert said.code != 0, said.text
    assert "[gate-path]" in said.text


async def test_a_merge_that_settles_a_conflict_is_taken_like_any_other_work(
    at_door: Door, host: Host, clone: Path, policy: Callable[..., None]
) -> None:
    await theirs(at_door, host, clone, b"one\n")
    await write("readme.txt", b"mine\n")(at_door, clone)
    await run("push", "-q", "origin", to("fix"))(at_door, clone)
    host.refs = await at_door.refs()
    work = at_door.git.home / "theirs"
    await at_door.commit(work, "readme.txt", b"theirs\n")
    await at_door.git.ok("push", "-q", "origin", "HEAD:main", cwd=work)
    host.refs = await at_door.refs()
    settle = run("merge", "-q", "--no-edit", "-X", "ours", "origin/main")
    await after(run("fetch", "-q", "origin"), settle)(at_door, clone)
    policy({"gate-path": Mode.DENY})

    said = await at_door.git("push", "origin", to("fix"), cwd=clone)

    assert said.code == 0, said.text


async def test_a_merge_of_histories_that_have_nothing_in_common_is_looked_at_whole(
    at_door: Door, host: Host, clone: Path, policy: Callable[..., None]
) -> None:
    await theirs(at_door, host, clone, b"one\n")
    alone = run("checkout", "-q", "--orphan", "alone")
    clear = run("rm", "-q", "-r", "-f", ".")
    merge = run(
        "merge", "-q", "-s", "ours", "--no-edit", "--allow-unrelated-histories", "origin/main"
    )
    await after(alone, clear, write("mine.txt"), merge)(at_door, clone)
    policy({"gate-path": Mode.DENY})

    said = await at_door.git("push", "origin", to("fix"), cwd=clone)

    assert said.code != 0, said.text
    assert "[gate-path]" in said.text


async def test_a_push_of_very_many_merges_is_refused(at_door: Door) -> None:
    """Each is a question or two for git."""
    main = (await at_door.refs())["refs/heads/main"]
    file = packs.blob(b"x\n")
    tree = packs.tree((b"100644", b"x.txt", file.oid))
    made = [packs.commit(tree.oid, main)]
    for _ in range(120):
        made.append(packs.commit(tree.oid, made[-1].oid, main))
    pack = packs.pack([packs.whole(each) for each in (*made, tree, file)])

    _, said = await at_door.post("git-receive-pack", command(new=made[-1].oid) + FLUSH + pack)

    assert b"push in smaller steps" in said
