"""Reading resources, whatever is missing in them."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from entrance.errors import Malformed
from orchestrator.adapters.polarion.resources import (
    EPOCH,
    Attachment,
    Comment,
    Link,
    Project,
    Text,
    User,
    WorkItem,
    encoded,
    split_item,
)


def test_a_bare_resource_is_read_with_empty_fields() -> None:
    """CASE-108's kin: null and missing members anywhere do no harm."""
    for data in (
        {"id": "P/P-1"},
        {"id": "P/P-1", "attributes": None, "relationships": None},
        {"id": "P/P-1", "attributes": {"title": None, "created": "never"},
         "relationships": {"author": None, "assignee": {"data": None}}},
        {"id": "P/P-1", "attributes": [], "relationships": {"assignee": {"data": [None, {}, {"id": 7}]}}},
    ):  # fmt: skip
        item = WorkItem.read(data)
        assert (item.project, item.title, item.author, item.assignees) == ("P", "", "", ())
        assert item.created == EPOCH
        assert item.description == Text("")


@pytest.mark.parametrize("data", [{}, {"id": None}, {"id": ""}, {"id": 7}])
def test_a_resource_without_an_id_is_malformed(data: dict[str, Any]) -> None:
    for kind in (WorkItem, Comment, Attachment, User, Project, Link):
        with pytest.raises(Malformed):
            kind.read(data)


def test_unknown_attributes_are_custom_ones() -> None:
    data = {
        "id": "P/P-1",
        "attributes": {
            "title": "T",
            "priority": "50.0",
            "ledger": {"type": "text/plain", "value": "{}"},
            "table": {"keys": [], "rows": []},
            "extra": None,
        },
    }
    custom = WorkItem.read(data).custom
    assert custom["ledger"] == Text("{}")
    assert custom["table"] == {"keys": [], "rows": []}
    assert (custom["priority"], custom["extra"]) == ("50.0", None)
    assert "title" not in custom


@pytest.mark.parametrize(
    ("data", "link"),
    [
        ({"id": "P/P-1/run_of/Q/Q-2"}, Link("P/P-1", "run_of", "Q/Q-2")),
        (
            {
                "id": "P/P-1/run_of/Q/Q-2",
                "attributes": {"role": "parent", "suspect": True},
                "relationships": {"workItem": {"data": {"id": "R/R-3"}}},
            },
            Link("P/P-1", "parent", "R/R-3", suspect=True),
        ),
    ],
)
def test_a_link_is_read_from_its_relationship_or_else_its_id(
    data: dict[str, Any], link: Link
) -> None:
    assert Link.read(data) == link


def test_a_user_s_roles_are_pairs() -> None:
    data = {
        "id": "u",
        "relationships": {"projectRoles": {"data": [{"id": "A/B/agent"}, {"id": "P/agent"}]}},
    }
    assert User.read(data).project_roles == {("A/B", "agent"), ("P", "agent")}


def test_values_are_encoded_as_polarion_writes_them() -> None:
    east = datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    assert encoded(Text("x", "text/html")) == {"type": "text/html", "value": "x"}
    assert encoded(east) == "2026-01-01T10:00:00.000Z"
    assert encoded(datetime(2026, 1, 1, tzinfo=UTC)) == "2026-01-01T00:00:00.000Z"
    assert encoded(None) is None
    assert encoded(7) == 7


@pytest.mark.parametrize("item", ["", "P", "/P-1", "P/", "P/P-1/2", "//"])
def test_what_is_no_full_id_is_refused(item: str) -> None:
    with pytest.raises(ValueError, match="write PROJECT/ITEM"):
        split_item(item)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("a\tb\r\nc \u00e9 \U0001f600", "a\tb\r\nc \u00e9 \U0001f600"),
        ("\x1b[2J\x00\x07", "\ufffd[2J\ufffd\ufffd"),
        ("half \ud800 a pair", "half \ufffd a pair"),
    ],
)
def test_what_polarion_refuses_is_replaced_and_the_rest_of_a_text_arrives(
    written: str, kept: str
) -> None:
    """An agent's question with an escape sequence in it was never seen by anybody."""
    assert encoded(written) == kept
    assert encoded(Text(written)) == {"type": "text/plain", "value": kept}
