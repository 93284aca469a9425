"""A runner that is killed at any step of a release: the push reaches the host once, and nothing is lost."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from entrance.errors import NotFound
from tests.component.pushes.conftest import Held
from tests.component.pushes.killing import Releaser, releasing_by
from tests.component.pushes.packing import REF
from tests.component.pushes.releaser import Plan
from tests.servers.log import lines_in, verified
from tests.waiting import until

KILLED = -9
RECEIVE = "/small.git/git-receive-pack"
STEPS = 14
"""One more than there are changes of the world from a person's word to its end."""


@pytest.fixture(scope="module")
def releaser() -> Iterator[Releaser]:
    with releasing_by("tests.component.pushes.releaser") as releaser:
        yield releaser


def items(folder: Path) -> list[dict[str, object]]:
    return list(orjson.loads((folder / "inbox.json").read_bytes()).values())


def sent(held: Held) -> int:
    """How often the push was sent to the host."""
    return held.posts.count(RECEIVE)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(1, STEPS + 1))
async def test_a_kill_at_any_step_of_a_release_is_made_good(
    held: Held, releaser: Releaser, at: int, *, after: bool
) -> None:
    plan = Plan(held.folder, held.url, at, after)
    code = await releaser.run(plan)
    assert code in {0, KILLED}
    assert (code == 0) == (at == STEPS), "the steps are counted"
    assert await releaser.run(replace(plan, at=0)) == 0
    assert sent(held) == 1
    assert (await held.refs())[REF] == held.commit
    (item,) = items(held.folder)
    assert item["state"] == "released"
    with pytest.raises(NotFound):
        held.packs.get(held.push.id)
    assert (held.folder / f"vouched-{item['id']}").read_text() == held.commit
    assert (held.folder / "answered").read_text().startswith("lead: push agent/DEMO-7/fix")
    said = (held.folder / "said" / f"Decided:_{item['id']}").read_text().splitlines()
    assert sum("at the host now" in line for line in said) == 1
    lines = [
        line for line in lines_in(held.folder / "log") if line["type"] in {"decided", "outcome"}
    ]
    assert [line["type"] for line in lines] == ["decided", "outcome"]
    assert (lines[0]["decision"], lines[1]["result"]) == ("allow", "ok")
    assert verified(held.folder / "log").finding is None


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(1, 7))
async def test_a_kill_while_a_push_is_denied_is_made_good(
    held: Held, releaser: Releaser, at: int, *, after: bool
) -> None:
    plan = Plan(held.folder, held.url, at, after, verb="deny")
    assert await releaser.run(plan) in {0, KILLED}
    assert await releaser.run(replace(plan, at=0)) == 0
    assert held.posts == [], "the host heard nothing of it"
    (item,) = items(held.folder)
    assert item["state"] == "denied"
    with pytest.raises(NotFound):
        held.packs.get(held.push.id)
    assert "denied by lead" in (held.folder / "answered").read_text()
    lines = [line for line in lines_in(held.folder / "log") if line["type"] == "decided"]
    assert [line["decision"] for line in lines] == ["deny"]


async def test_a_kill_while_half_of_it_is_sent_is_made_good_when_nothing_has_arrived(
    held: Held, releaser: Releaser
) -> None:
    plan = Plan(held.folder, held.url, midway=True)
    assert await releaser.run(plan) == KILLED
    await until(lambda: sent(held) == 1)  # the host has heard of it
    assert REF not in await held.refs()
    assert await releaser.run(replace(plan, midway=False)) == 0
    assert (await held.refs())[REF] == held.commit
    (item,) = items(held.folder)
    assert item["state"] == "released"
    lines = lines_in(held.folder / "log")
    assert [line["result"] for line in lines if line["type"] == "outcome"] == ["ok"]
