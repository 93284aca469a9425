"""An agent in a real sandbox calls a tool that waits for a person: it is held, and made once when allowed."""

import json
from typing import Any

import pytest

from tests.e2e.house import House
from tests.e2e.supervisor import decide

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]

WORDS = "Released on Monday."
TOOLS = {"polarion": {"tools": {"get_task": "read", "add_comment": "approval"}}}


def said_by(house: House, task: str, bot: str) -> list[str]:
    """What a user has said on the task, but for what goes with a handover."""
    found = house.runner.get(f"/api/tasks/{task}")
    return [one["text"] for one in found["comments"] if one["by"] == bot and not one["title"]]


def held(house: House, task: str) -> dict[str, Any]:
    """The one item of the task's newest run that waits."""
    run = house.run_of(task)
    waiting = house.runner.get("/api/approvals?state=waiting")
    (item,) = [one for one in waiting if one["run"] == run["id"]]
    found: dict[str, Any] = item
    return found


def test_a_write_is_held_allowed_made_once_and_its_task_goes_on(house: House) -> None:
    house.hire("scribe", tools=TOOLS)
    task = house.task("HELD WRITE", agent="scribe")
    first = house.ended(task)
    assert (first["outcome"], first["cause"]) == ("held", "handed_over"), first
    item = held(house, task)
    assert (item["kind"], item["wanted"]["arguments"]) == ("call", {"text": WORDS})
    assert not said_by(house, task, "bot-scribe")
    shown = house.sandgate("approvals", "show", item["id"]).stdout
    for words in (WORDS, "needs_approval", first["id"], task):
        assert words in shown

    done = house.sandgate("approvals", "approve", item["id"], "--note", "Fine.").stdout
    assert "is released" in done
    assert f"{task} goes on" in done
    assert said_by(house, task, "bot-scribe") == [WORDS]
    again = house.sandgate("approvals", "approve", item["id"], check=False)
    assert again.returncode != 0

    second = house.wait(task, lambda run: run["id"] != first["id"] and run["state"] == "ended")
    assert (second["trigger"], second["outcome"]) == ("hold_decided", "submitted"), second
    assert said_by(house, task, "bot-scribe") == [WORDS]
    lines = [line for line in house.lines() if line.get("run") == first["id"]]
    calls = [line for line in lines if line.get("subject") == "polarion/add_comment"]
    assert [(line["decision"], line["rule"]) for line in calls] == [
        ("hold", "needs_approval"),
        ("allow", f"approval/{item['id']}"),
    ]
    assert house.verified().finding is None


def test_a_standing_rule_lets_the_next_one_through_and_is_there_for_who_is_hired_again(
    house: House,
) -> None:
    house.hire("clerk", tools=TOOLS)
    first = house.task("SAY IT", agent="clerk")
    house.ended(first)
    item = held(house, first)
    made = house.sandgate("approvals", "rule", item["id"], "--until", "2099-12-31", "--json").stdout
    assert json.loads(made)["approval"]["state"] == "released"
    listed = house.runner.get("/api/engagements")
    first_engagement = next(one["id"] for one in listed if one["agent"] == "clerk")
    decide(house, first_engagement, "end")
    house.hire("clerk", tools=TOOLS)
    second = house.task("SAY IT", "Again.", agent="clerk")
    house.ended(second)
    assert said_by(house, second, "bot-clerk") == [WORDS], "nobody was asked"
