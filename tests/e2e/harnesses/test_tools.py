"""Everything that can come of a tool, through the real programs: the same scenario for each of them.

Two runs: the first reads, waits in vain, survives a server, and ends as three writes are held; the second
goes on with what a person decided. The programs play them side by side, once, for all tests.
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

from tests.e2e.harnesses.rows import CALL_TIMEOUT_S, Program, hire, whole
from tests.e2e.harnesses.toolyard import (
    BOOK,
    LONG_NAME,
    PROGRAMS,
    SHELVES,
    Yard,
    grants,
    mortal_of,
)
from tests.e2e.house import House
from tests.e2e.served import served_to

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]

PATIENCE_S = 200.0

each_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.short)


@dataclass(frozen=True, slots=True)
class Story:
    """What happened to one program: two runs, and what was there between them."""

    item: str
    first: Mapping[str, Any]
    status: str
    """The task's, between the runs."""
    waiting: Mapping[str, Mapping[str, Any]]
    """The inbox's items by their tools, before they were decided."""
    written: list[str]
    """What the office had written by then."""
    second: Mapping[str, Any]
    told: Mapping[str, str]
    """What the model was told, by the scenario's names."""
    lines: list[dict[str, Any]]
    """Both runs', of the egress log."""

    def calls(self, subject: str) -> list[tuple[str, str, str]]:
        """What was decided about a tool, by which rule, and what came of it; oldest first."""
        came = {line["of"]: line["result"] for line in self.lines if line["type"] == "outcome"}
        return [
            (line["decision"], line["rule"], came.get(line["seq"], ""))
            for line in self.lines
            if line.get("subject") == subject
        ]


type Stories = Mapping[str, Future[Story]]


@pytest.fixture(scope="module")
def stories(lodge: House, yard: Yard) -> Iterator[Stories]:
    """Each program's, by its short name."""
    with ThreadPoolExecutor(len(PROGRAMS)) as several:
        yield {one.short: several.submit(played, lodge, yard, one) for one in PROGRAMS}


def played(lodge: House, yard: Yard, program: Program) -> Story:
    """Have a program play it, and decide what it has held."""
    agent = f"{program.short}-tools"
    hire(lodge, program, agent, tools=grants(program.short))
    task = lodge.task("TRY THE TOOLS", agent=agent, repository="")
    first = lodge.ended(task, PATIENCE_S)
    item = task.rpartition("/")[2]
    assert first["outcome"] == "held", whole(first)
    status = lodge.runner.get(f"/api/tasks/{task}")["status"]
    inbox = lodge.runner.get("/api/approvals?state=waiting")
    waiting = {one["wanted"]["tool"]: one for one in inbox if one["run"] == first["id"]}
    written = yard.office.written_for(item)
    verbs = {"write_page": "once", "drop_page": "deny", "log_entry": "rule"}
    for tool, verb in verbs.items():
        lodge.runner.post(f"/api/approvals/{waiting[tool]['id']}/{verb}", {})
    second = lodge.wait(
        task, lambda run: run["id"] != first["id"] and run["state"] == "ended", PATIENCE_S
    )
    told = {
        name: text for one in served_to(lodge.here, item) for name, text in one["names"].items()
    }
    lines = [*lodge.trail(first["id"]), *lodge.trail(second["id"])]
    return Story(item, first, status, waiting, written, second, told, lines)


@each_program
def test_a_read_is_made_at_once(stories: Stories, yard: Yard, program: Program) -> None:
    story = stories[program.short].result()
    assert yard.office.reads.count(story.item) == 2
    assert story.calls("office/read_page") == [("allow", "read", "ok")] * 2


@each_program
def test_the_last_of_300_tools_is_found_and_called(
    stories: Stories, yard: Yard, program: Program
) -> None:
    story = stories[program.short].result()
    assert yard.taken_for(story.item) == [str(SHELVES)]
    assert story.calls(f"warehouse/take_from_shelf_{SHELVES}") == [("allow", "read", "ok")]


@each_program
def test_a_tool_whose_name_no_provider_takes_is_called_by_a_short_one(
    stories: Stories, program: Program
) -> None:
    story = stories[program.short].result()
    assert story.calls(f"office/{LONG_NAME}") == [("allow", "read", "ok")]


@each_program
def test_a_result_of_5_mb_is_a_file_that_the_gateway_tells_of_and_nobody_cuts(
    stories: Stories, program: Program
) -> None:
    story = stories[program.short].result()
    assert story.told["book"] == str(len(BOOK))
    assert story.calls("office/read_book") == [("allow", "read", "ok")]


@each_program
def test_a_tool_that_gives_no_answer_is_given_up_and_its_server_goes_on(
    stories: Stories, yard: Yard, program: Program
) -> None:
    story = stories[program.short].result()
    limit = f"dream gave no answer in {CALL_TIMEOUT_S} s; whether it was done is not known"
    assert story.told["slow"].endswith(limit)
    assert yard.office.left.count(story.item) == 1, "the server was told that nobody waits"
    assert story.calls("office/dream") == [("allow", "read", "timeout")]


@each_program
def test_a_server_that_dies_in_mid_call_is_not_asked_again_and_is_used_when_it_is_back(
    stories: Stories, yard: Yard, program: Program
) -> None:
    story, name = stories[program.short].result(), mortal_of(program.short)
    gone = f"{name} went away in mid-call; whether it was done is not known"
    assert story.told["dead"].endswith(gone)
    assert yard.mortals[name].called == ["pulse", "die", "pulse"]
    assert story.told["before"] != story.told["after"], "another process answers"
    assert story.calls(f"{name}/die") == [("allow", "write", "unknown")]
    assert story.calls(f"{name}/pulse") == [("allow", "read", "ok")] * 2


@each_program
def test_what_is_held_ends_the_run_and_nothing_is_done_before_it_is_decided(
    stories: Stories, program: Program
) -> None:
    story = stories[program.short].result()
    assert (story.first["outcome"], story.first["cause"]) == ("held", "handed_over")
    assert story.status == "waiting_input"
    asked = {tool: one["wanted"]["arguments"] for tool, one in story.waiting.items()}
    assert asked == {
        "write_page": {"item": story.item, "text": "Monday"},
        "drop_page": {"item": story.item},
        "log_entry": {"item": story.item, "text": "opened"},
    }
    assert story.told["held"].startswith(f"Held for approval, {story.waiting['write_page']['id']}")
    assert not story.written


@each_program
def test_what_a_person_decides_is_done_once_and_wakes_the_task(
    stories: Stories, yard: Yard, program: Program
) -> None:
    """The call that is allowed goes out once; the one that is denied, never."""
    story = stories[program.short].result()
    ended = (story.second["trigger"], story.second["outcome"])
    assert ended == ("hold_decided", "submitted"), whole(story.second)
    page, drop, entry = (
        f"approval/{story.waiting[tool]['id']}" for tool in ("write_page", "drop_page", "log_entry")
    )
    held = ("hold", "needs_approval", "")
    assert story.calls("office/write_page") == [held, ("allow", page, "ok"), held]
    assert story.calls("office/drop_page") == [held, ("deny", drop, "")]
    first, released, by_rule = story.calls("office/log_entry")
    assert (first, released) == (held, ("allow", entry, "ok"))
    assert (by_rule[0], by_rule[2]) == ("allow", "ok")
    assert by_rule[1] != entry, "the rule that was left standing is an item of its own"
    assert yard.office.written_for(story.item) == ["page Monday", "log opened", "log opened"]
    for words in ("It answered: The page is written.", "drop_page", "denied"):
        assert words in story.told["decided"]
