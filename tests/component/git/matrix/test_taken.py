"""Pushes that are taken: what the host then has is what the agent has."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.component.git.matrix import acts
from tests.component.git.matrix.acts import OWN, Act, after, run, to, write
from tests.component.git.matrix.promises import pushes_at_host
from tests.component.git.matrix.ways import BODIES, PROTOCOLS, Options
from tests.servers.git import Door


@dataclass(frozen=True, slots=True)
class Row:
    """A push. `tips`: the branches that it moves, and what of the clone they then are."""

    name: str
    before: Act
    arguments: tuple[str, ...] = (to("fix"),)
    tips: tuple[tuple[str, str], ...] = (("fix", "HEAD"),)
    options: Options = ()


ROWS = (
    Row("a commit on a new branch", acts.commit),
    Row("two commits", after(acts.commit, write("another.txt"))),
    Row("a branch in folders", acts.commit, (to("a/b/c"),), (("a/b/c", "HEAD"),)),
    Row("a second time to one branch", after(acts.publish, write("another.txt"))),
    Row(
        "a branch that an earlier run began",
        after(acts.take_up_earlier, acts.commit),
        (to("earlier"),),
        (("earlier", "HEAD"),),
    ),
    Row(
        "a new branch at a commit that the host has",
        acts.nothing,
        (to("at", "main~3"),),
        (("at", "main~3"),),
    ),
    Row(
        "a branch moved forward to a commit that the host has",
        acts.nothing,
        (to("earlier", "main~1"),),
        (("earlier", "main~1"),),
    ),
    Row(
        "two branches at once",
        acts.commit,
        (to("fix"), to("too", "HEAD~1")),
        (("fix", "HEAD"), ("too", "HEAD~1")),
    ),
    Row(
        "two branches, all or none",
        acts.commit,
        ("--atomic", to("fix"), to("too")),
        (("fix", "HEAD"), ("too", "HEAD")),
    ),
    Row("a delta against what the host has", acts.change_a_long_file),
    Row("a pack that needs nothing else", acts.change_a_long_file, ("--no-thin", to("fix"))),
    Row("deltas among themselves", acts.make_deltas_in_the_pack),
    Row(
        "deltas that name their base",
        acts.make_deltas_in_the_pack,
        options=("-c", "repack.useDeltaBaseOffset=false"),
    ),
    Row(
        "a merge of main",
        after(acts.take_up_earlier, acts.commit, run("merge", "-q", "--no-edit", "origin/main")),
    ),
    Row("a file taken away", after(run("rm", "-q", "readme.txt"), run("commit", "-qm", "Less"))),
    Row("a file renamed", after(run("mv", "long.txt", "x"), run("commit", "-qm", "Moved"))),
    Row("a commit that changes nothing", run("commit", "-q", "--allow-empty", "-m", "Empty")),
    Row("a path that is not ASCII", write("grüße/ÿ.txt")),
    Row("a force that moves forward all the same", acts.publish_more, ("--force", to("fix"))),
    Row("a lease that holds", acts.publish_more, ("--force-with-lease", to("fix"))),
    Row("a history of its own", after(run("checkout", "-q", "--orphan", "new"), acts.commit)),
    Row("words about each step", acts.commit, ("--verbose", "--progress", to("fix"))),
    Row("words for a program", acts.commit, ("--porcelain", to("fix"))),
    Row("a branch that is followed from then on", acts.commit, ("--set-upstream", to("fix"))),
)
LARGE = 300_000


async def assert_taken(at_door: Door, clone: Path, row: Row, options: Options) -> None:
    """Push it, and see the host's branches where they should be, after one request."""
    asked = pushes_at_host(at_door)

    said = await at_door.git(*options, *row.options, "push", "origin", *row.arguments, cwd=clone)

    assert said.code == 0, said.text
    refs = await at_door.refs()
    for name, what in row.tips:
        assert refs[f"{OWN}/{name}"] == await at_door.git.ok("rev-parse", what, cwd=clone)
    assert pushes_at_host(at_door) == asked + 1
    outcome = at_door.audit.outcome_of(at_door.audit.decisions("git_push")[-1])
    assert outcome is not None
    assert outcome.result == "ok"
    assert set(outcome.detail["refs"]) == {f"{OWN}/{name}" for name, _ in row.tips}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_what_is_pushed_arrives(at_door: Door, clone: Path, row: Row) -> None:
    """CASE-38, CASE-39, CASE-54."""
    await row.before(at_door, clone)
    await assert_taken(at_door, clone, row, ())
    assert not await at_door.git.ok("-C", at_door.root / "small.git", "fsck", "--no-dangling")


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("body", BODIES)
async def test_a_large_push_arrives(at_door: Door, clone: Path, protocol: str, body: str) -> None:
    """CASE-32, CASE-33, CASE-51: in chunks after a probe, and with a length."""
    await acts.write_random(LARGE)(at_door, clone)
    options = (*PROTOCOLS[protocol], *BODIES[body])
    await assert_taken(at_door, clone, Row("large", acts.nothing), options)


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("--depth", "1"), id="of one commit"),
        pytest.param(("--depth", "4"), id="of four commits"),
        pytest.param(("--filter=blob:none",), id="without files"),
        pytest.param(("--filter=tree:0",), id="without trees"),
        pytest.param(("--single-branch", "--no-tags"), id="of one branch"),
    ],
)
async def test_a_clone_that_lacks_something_pushes_too(
    at_door: Door, arguments: tuple[str, ...]
) -> None:
    """CASE-37: the second push of a shallow clone has `shallow` lines and no command."""
    part = at_door.git.home / "part"
    await at_door.git.ok("clone", "-q", *arguments, at_door.url("host/small.git"), part)
    await at_door.commit(part)
    await assert_taken(at_door, part, Row("part", acts.nothing), ())

    again = await at_door.git("push", "origin", to("fix"), cwd=part)

    assert (again.code, "up-to-date" in again.text) == (0, True), again.text
    await at_door.commit(part, "more.txt")
    await assert_taken(at_door, part, Row("more", acts.nothing), ())
