import asyncio
import os
import resource
import signal
import zipfile
from pathlib import Path
from time import monotonic

import aiohttp
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from entrance.errors import Conflict, Forbidden, Malformed, NotFound, Unavailable
from orchestrator.adapters.pocketbase import SUPERUSER
from orchestrator.adapters.pocketbase.client import PAGE, PocketBase
from orchestrator.adapters.pocketbase.filters import where
from orchestrator.adapters.pocketbase.ids import new_id
from orchestrator.stack import pocketbase
from tests.servers.pocketbase import PocketBaseServer
from tests.waiting import until

COLLECTIONS = ["runs", "events", "usage", "task_state", "secrets", "_superusers"]
NASTY = st.sampled_from(
    ["'", "\\", '"', "&&", "||", "//", "(", ")", "%", "_", "@now", "\n", "{:x}"]
)
TEXTS = st.lists(
    st.one_of(
        st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1),
        st.lists(NASTY, min_size=1, max_size=8).map("".join),
    ),
    min_size=20,
    max_size=20,
    unique=True,
)


def state(task: str, **more: object) -> dict[str, object]:
    return {"id": new_id(), "task": task, "version": 0, "body": {}, **more}


async def test_a_guest_may_do_nothing(server: PocketBaseServer) -> None:
    async with aiohttp.ClientSession(server.url) as guest:
        for collection in COLLECTIONS:
            path = f"/api/collections/{collection}/records"
            assert (await guest.get(path)).status == 403
            assert (await guest.get(f"{path}/{new_id()}")).status == 403
            assert (await guest.post(path, json={})).status == 403
        assert (await guest.get("/api/collections/users/records")).status == 404
        assert (await guest.get("/api/collections")).status == 401
        cas = await guest.post(
            f"/api/sandgate/cas/runs/{new_id()}", json={"expected": 0, "set": {}}
        )
        assert cas.status == 401


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(texts=TEXTS)
def test_a_filter_finds_exactly_the_text_that_it_was_made_from(
    server: PocketBaseServer, texts: list[str]
) -> None:
    asyncio.run(_assert_each_finds_itself(server, texts))


async def _assert_each_finds_itself(server: PocketBaseServer, texts: list[str]) -> None:
    async with server.client() as store:
        ids = {text: new_id() for text in texts}
        await store.batch("task_state", [state(text, id=id_) for text, id_ in ids.items()])
        try:
            for text in [*texts, *(text + "'" for text in texts)]:
                filter_ = where(("task", "=", text), ("version", "=", 0))
                found = [row["id"] for row in await store.list("task_state", filter_, sort="id")]
                assert found == ([ids[text]] if text in ids else [])
        finally:
            for id_ in ids.values():
                await store.delete("task_state", id_)


async def test_pages_follow_each_other_to_the_end(store: PocketBase) -> None:
    for first in range(0, PAGE, 500):
        await store.batch("task_state", [state(f"T/{n}") for n in range(first, first + 500)])
    assert len([row async for row in store.all("task_state", sort="@rowid")]) == PAGE
    await store.create("task_state", state("one more"))
    tasks = [row["task"] async for row in store.all("task_state", sort="@rowid", fields="task")]
    assert len(set(tasks)) == PAGE + 1
    assert tasks[-1] == "one more"


async def test_a_batch_is_stored_whole_or_not_at_all(store: PocketBase) -> None:
    await store.create("task_state", state("taken"))
    with pytest.raises(Conflict):
        await store.batch("task_state", [state("free"), state("taken")])
    assert not await store.list("task_state", where(("task", "=", "free")), sort="id")


async def test_put_replaces_the_record_with_its_id_or_makes_one(store: PocketBase) -> None:
    record = state("T/1", body={"old": True})
    await store.put("task_state", record)
    await store.put("task_state", {**record, "body": {"new": True}})
    assert (await store.get("task_state", str(record["id"])))["body"] == {"new": True}


async def test_compare_and_set_moves_the_version_on_by_itself(store: PocketBase) -> None:
    record = state("T/1")
    id_ = str(record["id"])
    await store.create("task_state", record)
    await store.cas("task_state", id_, expected=0, fields={"body": {"a": 1}, "version": 99})
    assert (await store.get("task_state", id_))["version"] == 1
    with pytest.raises(Conflict, match="version is 1, not 0"):
        await store.cas("task_state", id_, expected=0, fields={"body": {"b": 1}})
    assert (await store.get("task_state", id_))["body"] == {"a": 1}


async def test_compare_and_set_refuses_what_it_cannot_compare(store: PocketBase) -> None:
    with pytest.raises(NotFound):
        await store.cas("task_state", new_id(), expected=0, fields={})
    usage = {"id": new_id(), "run": new_id(), "cost_usd": "1"}
    await store.create("usage", usage)
    with pytest.raises(Malformed, match="have no version"):
        await store.cas("usage", usage["id"], expected=0, fields={})


async def test_a_value_that_the_schema_refuses_is_named_by_field_not_by_value(
    store: PocketBase,
) -> None:
    with pytest.raises(Malformed, match="cost_usd: validation_invalid_format") as caught:
        await store.create("usage", {"run": new_id(), "cost_usd": "-12.34"})
    assert "12.34" not in str(caught.value)


async def test_a_deleted_record_is_gone(store: PocketBase) -> None:
    record = state("T/1")
    await store.create("task_state", record)
    await store.delete("task_state", str(record["id"]))
    with pytest.raises(NotFound):
        await store.delete("task_state", str(record["id"]))


async def test_a_token_stays_valid_over_a_restart(
    server: PocketBaseServer, store: PocketBase
) -> None:
    await store.ping()
    token = store._token
    server.stop()
    server.start()
    await store.ping()
    assert store._token == token


async def test_a_refused_token_is_replaced_for_all_who_wait(store: PocketBase) -> None:
    await store.ping()
    store._token = worn_out = "worn.out.token"
    await asyncio.gather(*(store.ping() for _ in range(5)))
    assert store._token != worn_out


async def test_a_changed_password_is_taken_over_at_the_next_start(
    server: PocketBaseServer, store: PocketBase
) -> None:
    await store.ping()
    server.stop()
    (server.home / "keys" / "pocketbase.password").write_text("another-password-of-32-characters")
    server.start()
    with pytest.raises(Forbidden):
        await store.ping()
    async with server.client() as renewed:
        await renewed.ping()


async def test_a_wrong_password_is_forbidden_and_not_shown(server: PocketBaseServer) -> None:
    async with aiohttp.ClientSession() as http:
        wrong = PocketBase(http, url=server.url, user=SUPERUSER, password="wrong-wrong")
        with pytest.raises(Forbidden) as caught:
            await wrong.ping()
    assert "wrong-wrong" not in str(caught.value)


def stands_still(pid: int) -> bool:
    """Whether every thread of the process is stopped."""
    states = [
        stat.read_text().rpartition(")")[2].split()[0]
        for stat in Path(f"/proc/{pid}/task").glob("*/stat")
    ]
    return set(states) == {"T"}


async def test_a_store_that_hangs_is_unavailable_within_the_timeout(
    server: PocketBaseServer,
) -> None:
    pid = server.start()
    async with server.client(timeout_s=0.3) as store:
        await store.ping()
        os.kill(pid, signal.SIGSTOP)
        try:
            await until(lambda: stands_still(pid))  # its threads stop one by one
            began = monotonic()
            with pytest.raises(Unavailable):
                await store.ping()
            assert monotonic() - began < 3
        finally:
            os.kill(pid, signal.SIGCONT)
        await store.ping()


async def test_a_full_disk_is_unavailable_and_passes(
    server: PocketBaseServer, store: PocketBase
) -> None:
    await store.ping()
    files = (server.home / "data" / "pocketbase").iterdir()
    limit = max(file.stat().st_size for file in files) + 20_000
    pid, unlimited = server.start(), resource.RLIM_INFINITY
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (limit, unlimited))
    stored = await _fill(store)
    await store.ping()
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (unlimited, unlimited))
    await store.create("task_state", state("more room"))
    assert len(await store.list("task_state", sort="id")) == stored + 1
    assert stored


async def _fill(store: PocketBase) -> int:
    """Store until it is refused for want of room; how many were stored."""
    for stored in range(200):
        try:
            await store.create("task_state", state(f"T/{stored}", body={"text": "x" * 5000}))
        except Unavailable:
            return stored
    raise AssertionError("there was always more room")


async def test_a_backup_holds_the_data(server: PocketBaseServer, store: PocketBase) -> None:
    await store.create("task_state", state("T/1"))
    await store.backup("before.zip")
    backup = server.home / "data" / "pocketbase" / "backups" / "before.zip"
    assert "data.db" in zipfile.ZipFile(backup).namelist()
    assert pocketbase.ready(server.port)
