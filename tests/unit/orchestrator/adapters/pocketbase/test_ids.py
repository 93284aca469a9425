"""Ids of records."""

import re
import string

from orchestrator.adapters.pocketbase.ids import new_id


def test_ids_are_such_as_pocketbase_takes_and_all_different() -> None:
    ids = {new_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(re.fullmatch(r"[a-z0-9]{15}", one) for one in ids)
    assert {one[0] for one in ids} == set(string.ascii_lowercase + string.digits)
