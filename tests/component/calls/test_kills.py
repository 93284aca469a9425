"""A runner that is killed at any step of a release: the call is made at most once, and its state is true."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.component.pushes.killing import Releaser, releasing_by
from tests.component.pushes.releaser import Plan
from tests.servers.log import lines_in, verified

KILLED = -9
STEPS = 12
"""One more than there are changes of the world from a person's word, a rule with it, to its end."""
CLAIMED, SETTLED = 5, 8
"""The changes by which it is claimed, and by which what came of it is stored; between them it is called."""


@pytest.fixture(scope="module")
def releaser() -> Iterator[Releaser]:
    with releasing_by("tests.component.calls.releaser") as releaser:
        yield releaser


def items(folder: Path) -> dict[str, dict[str, Any]]:
    """By kind; there is one of each."""
    return {one["kind"]: one for one in orjson.loads((folder / "inbox.json").read_bytes()).values()}


def calls(folder: Path) -> list[str]:
    """What the server was asked to write."""
    file = folder / "wiki"
    return file.read_text().splitlines() if file.exists() else []


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(1, STEPS + 1))
async def test_a_kill_at_any_step_of_a_release_is_made_good(
    tmp_path: Path, releaser: Releaser, at: int, *, after: bool
) -> None:
    plan = Plan(tmp_path, "", at, after, verb="rule")
    code = await releaser.run(plan)
    assert code in {0, KILLED}
    assert (code == 0) == (at == STEPS), "the steps are counted"
    assert await releaser.run(replace(plan, at=0)) == 0
    item, rule = items(tmp_path)["call"], items(tmp_path)["call_rule"]
    in_between = (at, after) >= (CLAIMED, True) and (at, after) < (SETTLED, True)
    assert item["state"] == ("unanswered" if in_between else "released")
    called = (at, after) not in {(CLAIMED, True), (CLAIMED + 1, False)}
    assert calls(tmp_path) == ["write Home"] * called, (
        "at most once, and only lost where it says so"
    )
    assert (rule["state"], rule["decided_by"]) == ("standing", "lead")
    said = (tmp_path / "said" / f"Decided:_{item['id']}").read_text().splitlines()

    words = "whether it was done is unknown" if in_between else "It answered: written"
    assert sum(words in line for line in said) == 1
    assert words in (tmp_path / "answered").read_text()
    lines = [line for line in lines_in(tmp_path / "log") if line["type"] in {"decided", "outcome"}]
    assert [line["type"] for line in lines] == ["decided", "outcome"]
    assert lines[0]["decision"] == "allow"
    told = {"unknown"} if in_between and (at, after) < (SETTLED - 1, True) else {"ok"}
    assert {lines[1]["result"]} == told
    assert verified(tmp_path / "log").finding is None


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(1, 6))
async def test_a_kill_while_a_call_is_denied_is_made_good(
    tmp_path: Path, releaser: Releaser, at: int, *, after: bool
) -> None:
    plan = Plan(tmp_path, "", at, after, verb="deny")
    assert await releaser.run(plan) in {0, KILLED}
    assert await releaser.run(replace(plan, at=0)) == 0
    assert not calls(tmp_path)
    assert items(tmp_path)["call"]["state"] == "denied"
    assert "denied by lead" in (tmp_path / "answered").read_text()
    lines = [line for line in lines_in(tmp_path / "log") if line["type"] == "decided"]
    assert [line["decision"] for line in lines] == ["deny"]
