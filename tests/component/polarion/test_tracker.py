"""What only Polarion can do to the tracker: people delete and edit what it relies on."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.adapters.polarion import NewItem, Text
from orchestrator.domain.run import Outcome
from orchestrator.ports import RunRecord
from tests.component.polarion.office import Office, an_office
from tests.servers.polarion import PolarionServer


@pytest.fixture
async def office(strict_server: PolarionServer, tmp_path: Path) -> AsyncIterator[Office]:
    async with an_office(strict_server, tmp_path) as office:
        yield office


async def test_a_record_that_was_deleted_is_made_anew(office: Office) -> None:
    """Settling goes on: the run ends with a record."""
    run = replace(await office.now(), outcome=Outcome.FAILED)
    await office.admin.items.delete(run.record)
    record = RunRecord(run, "Run", run.engagement, {}, [])
    item = await office.tracker.record(record)
    assert item != run.record
    assert await office.tracker.record(record) == item
    assert (await office.item(item)).status == "ended"
    assert await office.links(item) == {("run_of", run.task), ("performed_by", run.engagement)}


async def test_a_skill_that_was_deleted_is_left_out(office: Office) -> None:
    agent = await office.tracker.agent(office.rex)
    assert agent
    for title in ("kept", "deleted"):
        new = NewItem("skill", title, status="approved", custom={"instructions": Text(title)})
        skill = await office.admin.items.create("AGENTS", new)
        await office.admin.links.add(agent.id, "uses_skill", skill)
        if title == "deleted":
            await office.admin.items.delete(skill)
    agent = await office.tracker.agent(office.rex)
    assert agent
    assert [one.title for one in agent.skills] == ["kept"]


async def test_words_that_polarion_laid_out_anew_are_not_said_again(office: Office) -> None:
    markup = Text("<p>Out of   memory &amp; time.</p><p>See the record.</p>", "text/html")
    await office.admin.comments.add(office.task, markup, title="Run 1 failed")
    words = "Out of memory & time.\n\nSee the record."
    await office.tracker.comment(office.task, "Run 1 failed", words)
    assert len(await office.said()) == 1


async def test_a_thread_is_plain_text(office: Office) -> None:
    await office.admin.comments.add(office.task, Text("<b>Go</b> on.", "text/html"))
    assert [one.text for one in await office.tracker.thread(office.task)] == ["Go on."]
