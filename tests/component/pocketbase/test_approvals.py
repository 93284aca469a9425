"""Approvals in PocketBase: what their contract doesn't say."""

import pytest

from entrance.errors import Malformed
from orchestrator.adapters.pocketbase.approvals import COLLECTION, PocketBaseApprovals
from orchestrator.adapters.pocketbase.client import PocketBase
from orchestrator.domain.approval import ApprovalState
from tests.contracts.test_approvals import numbered


async def test_one_that_can_not_be_read_opens_nothing_and_hides_no_other(
    store: PocketBase,
) -> None:
    items = PocketBaseApprovals(store)
    good, bad = (numbered(n, ApprovalState.STANDING) for n in (1, 2))
    await items.create(good)
    await items.create(bad)
    await store.put(COLLECTION, {"id": bad.id, "body": {"id": bad.id, "state": "standing"}})
    assert await items.in_force() == [good]
    assert await items.listed(None, 10) == [good]
    assert await items.listed(ApprovalState.STANDING, 10) == [good]
    assert await items.of_run(good.run) == [good]
    assert await items.of_task(good.task) == [good]
    with pytest.raises(Malformed, match=bad.id):
        await items.get(bad.id)
