"""Sealed rows, remembered for a moment."""

import asyncio
from collections.abc import Sequence

import pytest

from entrance.errors import Unavailable
from entrance.vault.remembered import RememberedSecrets
from entrance.vault.vault import Sealed
from tests.fakes.secrets import FakeSecretStore

OLD, NEW = (Sealed("a", "k1", version, b"x", {}) for version in (1, 2))


class Clock:
    """Seconds that a test moves on."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def remembered() -> tuple[RememberedSecrets, FakeSecretStore, Clock]:
    store, clock = FakeSecretStore(), Clock()
    await store.put(OLD)
    return RememberedSecrets(store, clock, remembered_s=10), store, clock


async def test_a_row_is_asked_for_once_until_its_time_is_over() -> None:
    secrets, store, clock = await remembered()
    assert await secrets.get("a") == OLD
    await store.put(NEW)
    assert await secrets.get("a") == OLD
    clock.now = 10
    assert await secrets.get("a") == NEW


async def test_what_is_changed_through_it_counts_at_once() -> None:
    secrets, _, _ = await remembered()
    assert await secrets.get("a") == OLD
    await secrets.put(NEW)
    assert await secrets.get("a") == NEW
    await secrets.delete("a")
    assert await secrets.get("a") is None


async def test_a_row_that_is_not_there_is_asked_for_each_time() -> None:
    secrets, store, _ = await remembered()
    assert await secrets.get("b") is None
    await store.put(Sealed("b", "k1", 1, b"x", {}))
    assert await secrets.get("b") is not None
    assert [row.name for row in await secrets.list()] == ["a", "b"]


async def test_a_store_that_is_down_says_so_when_it_is_asked() -> None:
    secrets, store, clock = await remembered()
    assert await secrets.get("a") == OLD
    store.down = True
    assert await secrets.get("a") == OLD
    with pytest.raises(Unavailable):
        await secrets.put(NEW)
    with pytest.raises(Unavailable):
        await secrets.get("a")
    clock.now = 10
    with pytest.raises(Unavailable):
        await secrets.list()


async def test_an_answer_that_was_on_its_way_while_the_row_changed_is_not_remembered() -> None:
    class Slow(FakeSecretStore):
        """Reads what is there, and is slow to say it."""

        async def get(self, name: str) -> Sealed | None:
            row = await super().get(name)
            await asyncio.sleep(0)
            return row

        async def list(self) -> Sequence[Sealed]:
            return []

    store = Slow()
    await store.put(OLD)
    secrets = RememberedSecrets(store, Clock())
    async with asyncio.TaskGroup() as tasks:
        reading = tasks.create_task(secrets.get("a"))
        await asyncio.sleep(0)
        await secrets.put(NEW)
    assert reading.result() == OLD
    assert await secrets.get("a") == NEW
