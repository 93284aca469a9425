"""An agent gives a part of its task to another one, and goes on when that is done."""

import json
from typing import Any

import pytest

from tests.e2e.house import House

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]


def shown(house: House, task: str) -> Any:
    return json.loads(house.sandgate("task", "show", task, "--json").stdout)


def test_the_end_of_a_part_wakes_the_agent_that_gave_it(house: House) -> None:
    house.sandgate("agent", "create", "ada", "--model", "anthropic:claude-sonnet-5")
    terms = ("--project=DEMO", "--supervisor=lead", "--budget=5")
    house.sandgate("hire", "ada", *terms, "--read", f"{house.stage.repository_url}=githost")
    task = house.task("GIVE A PART AWAY")
    first = house.ended(task)
    assert first["outcome"] == "delegated", first
    (part,) = [
        one["id"]
        for one in json.loads(house.sandgate("task", "ls", "--json").stdout)
        if one["title"] == "A PART FOR ADA"
    ]
    assert shown(house, task)["waits_for"].startswith(f"{part}, which was delegated and is ")
    assert house.ended(part)["outcome"] == "submitted"
    house.sandgate("task", "approve", part)
    last = house.wait(task, lambda run: run["id"] != first["id"] and run["state"] == "ended")
    assert (last["trigger"], last["outcome"]) == ("subtask_done", "submitted"), last
    now = shown(house, task)
    assert now["status"] == "in_review"
    assert [one["title"] for one in now["comments"]].count(f"{part} done") == 1
