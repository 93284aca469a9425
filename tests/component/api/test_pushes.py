"""Pushes over HTTP: listed, shown, held ones with what they change."""

from dataclasses import replace

import pytest

from entrance.git.preview import CommitLine, FileLine, Preview
from orchestrator.domain.pushes import RecordedPush
from tests.fakes.clock import START
from tests.fakes.pushes import NEW, REF, ZERO
from tests.servers.api import Api

UPDATES = {"updates": [{"ref": REF, "old": ZERO, "new": NEW}]}
HELD = RecordedPush(
    41,
    START,
    "run1",
    "DEMO/DEMO-7",
    "bot-rex",
    "git.example/a",
    "hold",
    "a workflow",
    detail=UPDATES,
)
TAKEN = replace(HELD, seq=40, run="run2", task="DEMO/DEMO-8", decision="allow", result="ok")
PREVIEW = Preview(
    (CommitLine(NEW, "rex <rex@x>", "2026-01-05T09:00:00Z", "Change \x1b[31mit"),),
    (FileLine(".github/workflows/ci.yml", 1, 0),),
    "diff --git a/x b/x\n+\x1b]0;owned\x07\n",
)


async def test_pushes_are_listed_newest_first_and_filtered(api: Api) -> None:
    item = await api.held()
    api.pushed.recorded = [replace(HELD, run=item.run), TAKEN]
    found = (await api.ask("GET", "/api/pushes")).json
    assert [(one["id"], one["state"], one["approval"]) for one in found] == [
        (41, "held", item.id),
        (40, "taken", ""),
    ]
    assert found[0]["refs"] == [REF]
    for query, ids in (("run=run2", [40]), ("task=DEMO/DEMO-7", [41]), ("state=held", [41])):
        assert [one["id"] for one in (await api.ask("GET", f"/api/pushes?{query}")).json] == ids
    assert (await api.ask("GET", "/api/pushes?state=lost")).status == 400
    api.pushed.down = True
    assert (await api.ask("GET", "/api/pushes")).status == 503


async def test_what_is_pushed_again_while_it_is_held_is_listed_once(api: Api) -> None:
    item = await api.held()
    detail = {"updates": item.wanted["moved"]}
    repository, task = item.wanted["repository"], item.task
    held = replace(HELD, run=item.run, task=task, repository=repository, detail=detail)
    api.pushed.recorded = [replace(held, seq=43), held]
    listed = (await api.ask("GET", "/api/pushes")).json
    assert [one["id"] for one in listed] == [41]
    again = (await api.ask("GET", "/api/pushes/43")).json
    assert (again["state"], again["approval"]) == ("held", item.id)


@pytest.mark.parametrize("by", ["number", "item"])
async def test_a_held_push_is_shown_with_what_it_changes_as_data(api: Api, by: str) -> None:
    item = await api.held()
    api.pushed.recorded, api.pushes.kept.shown = [replace(HELD, run=item.run)], PREVIEW
    name = "41" if by == "number" else item.id
    shown = await api.ask("GET", f"/api/pushes/{name}")
    assert shown.json["item"]["id"] == item.id
    diff = await api.ask("GET", f"/api/pushes/{name}/diff")
    assert diff.json["patch"] == PREVIEW.patch
    assert diff.json["commits"][0]["oid"] == NEW
    assert not set(diff.body) & {0x1B, 0x07}, "no byte that a terminal obeys"


async def test_what_a_held_push_changes_is_shown_by_its_item_also_without_the_log(api: Api) -> None:
    item = await api.held()
    api.pushed.down, api.pushes.kept.shown = True, PREVIEW
    diff = await api.ask("GET", f"/api/pushes/{item.id}/diff")
    assert (diff.status, diff.json["patch"]) == (200, PREVIEW.patch)


async def test_a_push_that_is_not_held_any_more_has_no_diff(api: Api) -> None:
    item = await api.held()
    api.pushed.recorded = [replace(HELD, run=item.run), TAKEN]
    assert (await api.ask("POST", f"/api/approvals/{item.id}/deny", {"note": "no"})).status == 200
    refused = await api.ask("GET", "/api/pushes/41/diff")
    assert (refused.status, "denied" in refused.error["message"]) == (404, True)
    assert (await api.ask("GET", "/api/pushes/40/diff")).status == 404
    for name in ("39", "nothing", "9" * 30):
        assert (await api.ask("GET", f"/api/pushes/{name}")).status == 404


async def test_a_push_is_allowed_and_the_answer_says_what_came_of_it(api: Api) -> None:
    item = await api.held()
    done = (await api.ask("POST", f"/api/approvals/{item.id}/once", {})).json
    assert (done["approval"]["state"], done["in_force"]) == ("released", True)
    assert done["approval"]["came"]["detail"]["refs"] == {REF: "ok"}
    assert {"owed", "grant"}.isdisjoint(done["approval"]["came"])
    assert len(api.pushes.hosts.posts) == 1
    again = await api.ask("POST", f"/api/approvals/{item.id}/once", {})
    assert again.status == 409


@pytest.mark.parametrize(
    ("call", "body", "status", "says"),
    [
        ("run", {}, 409, "is a push"),
        ("rule", {}, 409, "is a push"),
        ("once", {"host": "a.example"}, 400, "is a push"),
        ("try", {}, 400, "there is no standing rule for pushes"),
    ],
)
async def test_a_push_is_decided_in_no_other_way(
    api: Api, call: str, body: dict[str, str], status: int, says: str
) -> None:
    item = await api.held()
    refused = await api.ask("POST", f"/api/approvals/{item.id}/{call}", body)
    assert refused.status == status
    assert says in refused.error["message"]
    assert api.inbox.store.items[item.id].state == "waiting"
