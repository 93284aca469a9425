"""What agents get to read: JSON that stays whole."""

from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entrance.mcp.gateway import RESULT_CHARS
from orchestrator.adapters.polarion.resources import EPOCH, Comment, Text, WorkItem
from orchestrator.adapters.polarion.showing import (
    TEXT_CHARS,
    comments_shown,
    item_shown,
    rows_shown,
    shortened,
)

ITEM = WorkItem(
    id="DEMO/DEMO-1",
    type="task",
    title="T",
    status="open",
    description=Text("<p>a</p><p>b</p>", "text/html"),
    author="lead",
    assignees=("bot-rex",),
    custom={"repository": "r", "ledger": Text("<b>x</b>", "text/html"), "cost": 1.5},
    created=EPOCH,
    updated=EPOCH,
)
COMMENT = Comment("DEMO/DEMO-1/1", "lead", Text("hi"), "title", EPOCH, resolved=False, parent=None)
FAT = '"' * 1_000_000


def shown(item: WorkItem) -> Any:
    text = item_shown(item)
    assert len(text) < RESULT_CHARS
    return orjson.loads(text)


def test_an_item_is_shown_with_plain_texts() -> None:
    assert shown(ITEM) == {
        "id": "DEMO/DEMO-1",
        "type": "task",
        "title": "T",
        "status": "open",
        "description": "a\nb",
        "assignees": ["bot-rex"],
        "author": "lead",
        "fields": {"repository": "r", "ledger": "x", "cost": 1.5},
    }


@pytest.mark.parametrize(
    "custom",
    [
        {},
        {"text": Text(FAT)},
        {f"text{n}": Text(FAT) for n in range(50)},
        {"string": FAT},
        {"table": {"rows": [FAT] * 3}},
        {"list": [[FAT]] * 3},
        {f"field{n}": "x" for n in range(20_000)},
    ],
)
def test_an_item_that_holds_very_much_is_shown_in_part(custom: dict[str, Any]) -> None:
    fat = replace(ITEM, title=FAT, description=Text(FAT), assignees=("b",) * 9999, custom=custom)
    read = shown(fat)
    assert "characters]" in read["description"]
    assert read["id"] == ITEM.id


def test_a_text_that_is_cut_says_so() -> None:
    assert shortened("abc", 3) == "abc"
    assert shortened("abcd", 3) == "abc [cut: 3 of 4 characters]"
    read = shown(replace(ITEM, description=Text("x" * (TEXT_CHARS + 1))))
    assert read["description"].endswith(f"[cut: {TEXT_CHARS} of {TEXT_CHARS + 1} characters]")


def test_comments_are_shown_oldest_first() -> None:
    read = orjson.loads(
        comments_shown([COMMENT, replace(COMMENT, text=Text("<i>ho</i>", "text/html"))])
    )
    assert [row["text"] for row in read] == ["hi", "ho"]
    assert read[0].keys() == {"author", "title", "text", "created"}
    assert orjson.loads(comments_shown([])) == []


def test_of_too_many_comments_the_newest_are_shown() -> None:
    many = [replace(COMMENT, text=Text(f"{n} " + "x" * 1_000)) for n in range(500)]
    text = comments_shown(many)
    assert len(text) < RESULT_CHARS
    first, *rest = orjson.loads(text)
    assert first == {"left_out": f"{500 - len(rest)} older comments"}
    assert rest[-1]["text"].startswith("499 ")
    assert len(rest) > 20


@settings(max_examples=50)
@given(st.lists(st.text(max_size=50), max_size=6), st.integers(1, 5_000))
def test_comments_of_any_length_stay_json(texts: list[str], times: int) -> None:
    text = comments_shown([replace(COMMENT, text=Text(one * times), title=one) for one in texts])
    assert len(text) < RESULT_CHARS
    orjson.loads(text)


def test_found_items_are_shown_in_short() -> None:
    [row] = orjson.loads(rows_shown([ITEM]))
    assert row == {"id": "DEMO/DEMO-1", "type": "task", "title": "T", "status": "open"}
    assert len(rows_shown([replace(ITEM, title=FAT)] * 50)) < RESULT_CHARS
