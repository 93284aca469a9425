"""The shapes of the REST API that our own client doesn't show: what other clients read."""

import pytest

from orchestrator.adapters.polarion import NewItem, PolarionClient, Text
from tests.servers.polarion import Wire

ALL = "fields%5Bworkitems%5D=%40all"


@pytest.fixture
async def task(admin: PolarionClient, project: str) -> str:
    """The full id of a task."""
    return await admin.items.create(project, NewItem("task", "T", assignees=["rex"]))


def path_of(item: str) -> str:
    project, inner = item.split("/")
    return f"/projects/{project}/workitems/{inner}"


async def test_metadata_tells_the_limits(wire: Wire) -> None:
    attributes = (await wire.ask("GET", "/metadata")).json["data"]["attributes"]
    limits = attributes["apiProperties"]
    assert (limits["defaultPageSize"], limits["maxPageSize"]) == (100, 100)
    assert limits["bodySizeLimit"] == 2 * 1024 * 1024
    assert attributes["version"]


async def test_a_creation_answers_with_ids_and_links_only(wire: Wire, project: str) -> None:
    rows = [{"type": "workitems", "attributes": {"type": "task", "title": t}} for t in "ab"]
    reply = await wire.ask("POST", f"/projects/{project}/workitems", json={"data": rows})
    assert reply.status == 201
    assert [row["id"] for row in reply.json["data"]] == [
        f"{project}/{project}-1",
        f"{project}/{project}-2",
    ]
    assert set(reply.json["data"][0]) == {"type", "id", "links"}
    assert set(reply.json["data"][0]["links"]) == {"self", "portal"}
    own = reply.json["data"][0]["links"]["self"].removeprefix(wire.base)
    assert (await wire.ask("GET", own)).json["data"]["id"] == f"{project}/{project}-1"


async def test_an_item_shows_its_relationships(
    wire: Wire, admin: PolarionClient, task: str, project: str
) -> None:
    """Links with five part ids and `suspect`; included users only with the fields asked for."""
    await admin.links.add(task, "parent", task)
    reply = await wire.ask("GET", f"{path_of(task)}?{ALL}&include=author&fields%5Busers%5D=name")
    data = reply.json["data"]
    related = data["relationships"]
    assert related["author"]["data"] == {"type": "users", "id": "admin"}
    assert related["assignee"]["data"] == [{"type": "users", "id": "rex"}]
    assert related["project"]["data"] == {"type": "projects", "id": project}
    link = {"type": "linkedworkitems", "id": f"{task}/parent/{task}", "suspect": False}
    assert related["linkedWorkItems"]["data"] == [link]
    assert "meta" not in related["linkedWorkItems"]
    [user] = reply.json["included"]
    assert (user["id"], user["attributes"]) == ("admin", {"name": "Administrator"})


async def test_every_write_is_a_new_revision(wire: Wire, task: str) -> None:
    """Comments, too: what hangs on an item counts as a change of it."""
    path = path_of(task)

    async def revision() -> int:
        return int((await wire.ask("GET", path)).json["data"]["revision"])

    first = await revision()
    comment = {
        "type": "workitem_comments",
        "attributes": {"text": {"type": "text/plain", "value": "x"}},
    }
    assert (await wire.ask("POST", f"{path}/comments", json={"data": [comment]})).status == 201
    second = await revision()
    patch = {"data": {"type": "workitems", "id": task, "attributes": {"title": "U"}}}
    assert (await wire.ask("PATCH", path, json=patch)).status == 204
    assert first < second < await revision()


async def test_a_patch_for_another_item_is_a_conflict(wire: Wire, task: str) -> None:
    patch = {"data": {"type": "workitems", "id": f"{task}0", "attributes": {"title": "U"}}}
    reply = await wire.ask("PATCH", path_of(task), json=patch)
    assert (reply.status, reply.error["source"]["pointer"]) == (409, "$.data.id")


async def test_comments_include_their_answers_and_only_get_resolved(
    wire: Wire, admin: PolarionClient, task: str
) -> None:
    first = await admin.comments.add(task, Text("Q"))
    second = await admin.comments.add(task, Text("A"), parent=first)
    path = f"{path_of(task)}/comments"
    wish = "?fields%5Bworkitem_comments%5D=%40all&include=childComments,author"
    reply = await wire.ask("GET", path + wish)
    root = reply.json["data"][0]
    assert root["relationships"]["childComments"]["data"] == [
        {"type": "workitem_comments", "id": second}
    ]
    assert "parentComment" not in root["relationships"]
    assert {one["id"] for one in reply.json["included"]} == {"admin"}, (
        "the answer is in the list already"
    )
    for attributes, status in (({"resolved": True}, 204), ({"text": "other"}, 400), ({}, 400)):
        patch = {"data": {"type": "workitem_comments", "id": first, "attributes": attributes}}
        assert (await wire.ask("PATCH", f"{path}/1", json=patch)).status == status
    assert (await admin.comments.of(task))[0].resolved
    assert (await wire.ask("DELETE", f"{path}/1")).status == 405


async def test_workflow_actions_are_described(wire: Wire, task: str) -> None:
    reply = await wire.ask("GET", f"{path_of(task)}/actions/getWorkflowActions")
    start, fail = reply.json["data"]
    assert fail["nativeActionId"] == "fail"
    assert start == {
        "id": "1",
        "available": True,
        "nativeActionId": "start",
        "name": "Start",
        "targetStatus": "in_progress",
        "requiredFields": [],
        "clearedFields": [],
        "isSignatureRequired": False,
        "requiredRoles": [],
    }


async def test_an_action_is_taken_by_its_number_too(
    wire: Wire, admin: PolarionClient, task: str
) -> None:
    patch = {"data": {"type": "workitems", "id": task, "attributes": {"title": "T"}}}
    assert (await wire.ask("PATCH", f"{path_of(task)}?workflowAction=1", json=patch)).status == 204
    assert (await admin.items.get(task)).status == "in_progress"
    reply = await wire.ask("PATCH", f"{path_of(task)}?workflowAction=approve", json=patch)
    assert (reply.status, reply.error["source"]["parameter"]) == (400, "workflowAction")
    both = f"{path_of(task)}?workflowAction=submit&changeTypeTo=memory"
    assert (await wire.ask("PATCH", both, json=patch)).status == 400


async def test_options_are_a_list_and_enumerations_an_object(wire: Wire, project: str) -> None:
    base = f"/projects/{project}"
    options = await wire.ask(
        "GET", f"{base}/workitems/fields/type/actions/getAvailableOptions?type=%7E"
    )
    assert [one["id"] for one in options.json["data"]] == [
        "agentRun",
        "engagement",
        "memory",
        "task",
    ]
    reply = await wire.ask("GET", f"{base}/enumerations/~/workitem-link-role/%7E")
    attributes = reply.json["data"]["attributes"]
    assert reply.json["data"]["id"] == f"{project}/~/workitem-link-role/~"
    roles = {one["id"]: one["oppositeName"] for one in attributes["options"]}
    assert roles["run_of"] == "has run"
    assert (await wire.ask("GET", f"{base}/enumerations/~/nonsense/~")).status == 404


async def test_a_relationship_is_replaced_added_to_and_taken_from(wire: Wire, task: str) -> None:
    path = f"{path_of(task)}/relationships/assignee"

    def users(*ids: str) -> dict[str, object]:
        return {"data": [{"type": "users", "id": one} for one in ids]}

    for method, sent, left in (
        ("PATCH", ("a", "b"), ["a", "b"]),
        ("POST", ("b", "c"), ["a", "b", "c"]),
        ("DELETE", ("a",), ["b", "c"]),
        ("PATCH", (), []),
    ):
        assert (await wire.ask(method, path, json=users(*sent))).status == 204
        now = (await wire.ask("GET", path)).json["data"]
        assert [one["id"] for one in now] == left


@pytest.mark.parametrize("empty", [None, [], {}, [{}]])
async def test_every_way_to_say_nobody_empties_the_assignee(
    wire: Wire, admin: PolarionClient, task: str, empty: object
) -> None:
    """As the guide says: null, [], {} and [{}] all mean empty."""
    data = {"type": "workitems", "id": task, "relationships": {"assignee": {"data": empty}}}
    assert (await wire.ask("PATCH", path_of(task), json={"data": data})).status == 204
    assert (await admin.items.get(task)).assignees == ()


async def test_links_are_not_set_by_the_item_itself(wire: Wire, task: str) -> None:
    related: dict[str, object] = {"linkedWorkItems": {"data": []}}
    data = {"type": "workitems", "id": task, "relationships": related}
    assert (await wire.ask("PATCH", path_of(task), json={"data": data})).status == 400


async def test_a_project_is_made_by_a_job_that_can_be_asked(wire: Wire, project: str) -> None:
    body = {
        "projectId": f"J{project}",
        "trackerPrefix": "J",
        "location": "/J",
        "templateId": None,
        "params": None,
    }
    reply = await wire.ask("POST", "/projects/actions/createProject", json=body)
    assert reply.status == 202
    job = await wire.ask("GET", f"/jobs/{reply.json['data']['id']}")
    assert job.json["data"]["attributes"]["state"] == "FINISHED"
    assert job.json["data"]["attributes"]["status"]["type"] == "OK"
    read = await wire.ask("GET", f"/projects/J{project}?fields%5Bprojects%5D=%40basic")
    assert read.json["data"]["attributes"]["trackerPrefix"] == "J"


async def test_a_very_long_address_is_understood(wire: Wire, project: str) -> None:
    """One public client asks for the fields of every resource type there is."""
    wishes = "&".join(f"fields%5Btype{n}%5D=%40all" for n in range(1000))
    assert (await wire.ask("GET", f"/projects/{project}/workitems?{wishes}")).status == 200


async def test_health_needs_no_token_and_everything_else_does(wire: Wire) -> None:
    health = Wire(wire._session, wire.base.replace("/rest/v1", "/embedded"), "")
    assert (await health.ask("GET", "/healthz")).json == {"status": "ok"}
    stranger = Wire(wire._session, wire.base, "")
    for path in ("/projects", "/nowhere", "/user"):
        reply = await stranger.ask("GET", path)
        assert (reply.status, reply.error["detail"]) == (401, "No access token")
