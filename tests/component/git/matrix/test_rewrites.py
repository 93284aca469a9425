"""What others may have seen of a branch is not taken back, by force or without."""

from pathlib import Path

import pytest

from tests.component.git.matrix import acts
from tests.component.git.matrix.acts import OWN, after, run, to, write
from tests.component.git.matrix.promises import Host
from tests.component.git.matrix.test_refused import Row, assert_refused
from tests.component.git.matrix.test_taken import Row as Taken
from tests.component.git.matrix.test_taken import assert_taken
from tests.servers.git import Door

REWIND = "would lose commits that others may have seen"
FORCE = ("--force", to("fix"))
ROWS = (
    Row("an amended commit", FORCE, (REWIND,), after(acts.publish, acts.amend)),
    Row("a commit taken back, and no pack", FORCE, (REWIND,), after(acts.publish, acts.go_back)),
    Row(
        "a commit taken back, and another in its place",
        FORCE,
        (REWIND,),
        after(acts.publish, acts.go_back, write("other.txt")),
    ),
    Row(
        "a plus for a force",
        (f"+{to('fix')}",),
        (REWIND,),
        after(acts.publish, acts.amend),
    ),
    Row(
        "a lease that holds",
        ("--force-with-lease", to("fix")),
        (REWIND,),
        after(acts.publish, acts.amend),
    ),
    Row(
        "a branch put on main that has not seen it",
        ("--force", to("fix", "origin/main")),
        (REWIND,),
        acts.publish,
    ),
    Row(
        "a history of its own in place of the old one",
        FORCE,
        (REWIND,),
        after(acts.publish, run("checkout", "-q", "--orphan", "new"), write("new.txt", b"more\n")),
    ),
    Row(
        "commits put together into one",
        FORCE,
        (REWIND,),
        after(
            acts.publish_more,
            run("push", "-q", "origin", to("fix")),
            run("reset", "-q", "--soft", "HEAD~2"),
            run("commit", "-q", "-m", "One"),
        ),
    ),
    Row(
        "one branch rewound beside one that goes forward",
        ("--force", to("fix"), to("new", "main~1")),
        (REWIND, "another ref of this push was refused"),
        after(acts.publish, acts.amend),
    ),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_a_branch_does_not_go_back(at_door: Door, clone: Path, row: Row) -> None:
    """CASE-54: refused by the door, whatever the host's own rule."""
    await row.before(at_door, clone)
    text = await assert_refused(at_door, clone, row, ())
    assert "[remote rejected]" in text


async def test_a_push_without_force_is_stopped_by_git_itself(at_door: Door, clone: Path) -> None:
    await after(acts.publish, acts.amend)(at_door, clone)
    await assert_refused(at_door, clone, Row("", (to("fix"),), ("non-fast-forward",)), ())


async def test_a_branch_that_moved_meanwhile_is_not_moved_on_an_old_look(
    at_door: Door, host: Host, clone: Path
) -> None:
    """CASE-39: what it was is compared by the host, and a rewrite is seen on what it is now."""
    await acts.publish(at_door, clone)
    host.refs = await at_door.refs()
    await host.git("update-ref", f"{OWN}/fix", await host.moves_on())
    await write("mine.txt")(at_door, clone)

    said = await at_door.git("push", "origin", to("fix"), cwd=clone)

    assert said.code != 0
    assert "fetch first" in said.text


async def test_after_a_merge_of_what_came_meanwhile_it_goes_forward(
    at_door: Door, host: Host, clone: Path
) -> None:
    """CASE-39: the door's own copy is made fresh first."""
    await acts.publish(at_door, clone)
    host.refs = await at_door.refs()
    await host.moves_on()
    pull = ("pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
    await after(write("mine.txt"), run(*pull))(at_door, clone)

    await assert_taken(at_door, clone, Taken("", acts.nothing), ())


async def test_what_the_host_has_deleted_is_not_had_of_the_doors_copy(
    at_door: Door, host: Host, clone: Path
) -> None:
    """CASE-59: by its id, in the protocol version that would give out anything."""
    await acts.publish(at_door, clone)
    gone = await at_door.git.ok("rev-parse", "HEAD", cwd=clone)
    await write("more.txt")(at_door, clone)
    await run("push", "-q", "origin", to("other", "HEAD~2"))(at_door, clone)
    await host.git("update-ref", "-d", f"{OWN}/fix")
    await host.git("reflog", "expire", "--expire=now", "--all")
    await host.git("gc", "-q", "--prune=now")

    fetch = ("-c", "protocol.version=2", "fetch", "-q", at_door.url("host/small.git"), gone)
    empty = at_door.git.home / "empty"
    await at_door.git.ok("init", "-q", empty)
    said = await at_door.git(*fetch, cwd=empty)

    assert said.code != 0
    assert "not our ref" in said.text
