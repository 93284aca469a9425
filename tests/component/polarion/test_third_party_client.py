"""A public client, unmodified, works against the embedded server."""

import asyncio
from collections.abc import AsyncIterator, Callable

import polarion_rest_api_client as third_party
import pytest

from orchestrator.adapters.polarion import PolarionClient
from tests.servers.polarion import ADMIN_TOKEN, PolarionServer

NAME = "run & log ü.txt"


@pytest.fixture
async def theirs(server: PolarionServer) -> AsyncIterator[third_party.PolarionClient]:
    client = third_party.PolarionClient(server.base, ADMIN_TOKEN, verify_ssl=False)
    yield client
    client.client.get_httpx_client().close()
    await client.client.get_async_httpx_client().aclose()


async def off_the_loop[T](work: Callable[[], T]) -> T:
    return await asyncio.to_thread(work)


async def test_it_knows_which_projects_exist(
    theirs: third_party.PolarionClient, project: str
) -> None:
    """A project exists or it does not."""
    assert await off_the_loop(theirs.generate_project_client(project).exists)
    assert not await off_the_loop(theirs.generate_project_client("NOWHERE").exists)


async def test_it_makes_more_items_than_a_page_holds_and_lists_them_all(
    theirs: third_party.PolarionClient, project: str
) -> None:
    """130 items with a custom field go in by batches and come back over two pages."""
    items = theirs.generate_project_client(project).work_items
    new = [
        third_party.WorkItem(
            type="task",
            title=f"T{n}",
            description=third_party.HtmlContent("<p>x</p>"),
            status="open",
            additional_attributes={"repository": f"https://git.example/{n}"},
        )
        for n in range(130)
    ]
    await off_the_loop(lambda: items.create(new))
    assert len({item.id for item in new}) == 130
    found = await off_the_loop(lambda: items.get_all("type:task", fields={"workitems": "@all"}))
    assert {item.title for item in found} == {f"T{n}" for n in range(130)}
    assert found[7].additional_attributes["repository"] == "https://git.example/7"


async def test_it_reads_changes_and_deletes_an_item(
    theirs: third_party.PolarionClient, project: str
) -> None:
    """Get, update with a custom field and a type, delete, and the 404 afterwards."""
    items = theirs.generate_project_client(project).work_items
    item = third_party.WorkItem(type="task", title="before", status="open")
    await off_the_loop(lambda: items.create(item))
    assert item.id
    changed = third_party.WorkItem(
        id=item.id, title="after", additional_attributes={"baseBranch": "main"}
    )
    await off_the_loop(lambda: items.update(changed))
    read = await off_the_loop(lambda: items.get(item.id or ""))
    assert read is not None
    assert (read.title, read.type, read.status) == ("after", "task", "open")
    assert read.additional_attributes["baseBranch"] == "main"
    await off_the_loop(lambda: items.delete(item))
    with pytest.raises(third_party.PolarionApiException) as caught:
        await off_the_loop(lambda: items.get(item.id or ""))
    assert "404" in str(caught.value.args[0])


async def test_it_links_items_both_ways_of_asking(
    theirs: third_party.PolarionClient, project: str
) -> None:
    """Links are made, listed, shown in the item, and deleted."""
    items = theirs.generate_project_client(project).work_items
    first, second = (third_party.WorkItem(type="task", title=t, status="open") for t in "ab")
    await off_the_loop(lambda: items.create([first, second]))
    assert first.id
    assert second.id
    link = third_party.WorkItemLink(
        first.id, second.id, "delegated_from", secondary_work_item_project=project
    )
    await off_the_loop(lambda: items.links.create(link))
    listed = await off_the_loop(lambda: items.links.get_all(first.id or ""))
    assert [(one.role, one.secondary_work_item_id) for one in listed] == [
        ("delegated_from", second.id)
    ]
    read = await off_the_loop(lambda: items.get(first.id or ""))
    assert read is not None
    assert [one.secondary_work_item_id for one in read.linked_work_items] == [second.id]
    await off_the_loop(lambda: items.links.delete(link))
    assert await off_the_loop(lambda: items.links.get_all(first.id or "")) == []


async def test_it_attaches_a_file_with_a_difficult_name(
    theirs: third_party.PolarionClient, admin: PolarionClient, project: str
) -> None:
    """CASE-110: the name `run & log ü.txt` survives, and so do the bytes."""
    items = theirs.generate_project_client(project).work_items
    item = third_party.WorkItem(type="task", title="with a file", status="open")
    await off_the_loop(lambda: items.create(item))
    assert item.id
    attachment = third_party.WorkItemAttachment(
        item.id, "", "Log", content_bytes=b"line\n", mime_type="text/plain", file_name=NAME
    )
    await off_the_loop(lambda: items.attachments.create(attachment))
    [listed] = await off_the_loop(lambda: items.attachments.get_all(item.id or ""))
    assert (listed.file_name, listed.title) == (NAME, "Log")
    full = f"{project}/{item.id}/{listed.id}"
    assert b"".join([chunk async for chunk in admin.attachments.content(full)]) == b"line\n"
    listed.content_bytes, listed.title = b"other", "Other"
    await off_the_loop(lambda: items.attachments.update(listed))
    assert b"".join([chunk async for chunk in admin.attachments.content(full)]) == b"other"
    await off_the_loop(lambda: items.attachments.delete(listed))
    assert await off_the_loop(lambda: items.attachments.get_all(item.id or "")) == []


async def test_its_asynchronous_half_works_too(
    theirs: third_party.PolarionClient, project: str
) -> None:
    """Create and list by the async methods."""
    items = theirs.generate_project_client(project).work_items
    new = [third_party.WorkItem(type="task", title=f"A{n}", status="open") for n in range(5)]
    await items.async_create(new)
    found = await items.async_get_all("status:open AND type:task")
    assert sorted(item.title or "" for item in found) == [f"A{n}" for n in range(5)]
