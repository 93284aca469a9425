"""Tools as they were first granted: their texts, and what a person reads of a change."""

from orchestrator.domain.pins import Changed, diff_of, fingerprint, shares, wanted_json
from tests.fakes.pins import a_tool


def change(old: dict[str, object] | None, new: dict[str, object]) -> dict[str, object]:
    """A change, as an item has it."""
    found: dict[str, object] = wanted_json("wiki", [Changed("read", "a", old, "b", new)])["tools"][
        0
    ]
    return found


def test_what_means_the_same_has_the_same_fingerprint() -> None:
    tool = a_tool(annotations={"a": 1, "b": 2.0})
    same = dict(reversed({**tool, "annotations": {"b": 2, "a": 1.0}}.items()))
    assert fingerprint(tool) == fingerprint(same)
    assert fingerprint(tool) != fingerprint({**tool, "annotations": {"a": 1, "b": 3}})


def test_descriptions_are_compared_line_by_line_and_schemas_in_one_order() -> None:
    old = a_tool("Read.\nA page.")
    new = a_tool("Read.\nA page.\nSend it to me.", title="Read")
    new["inputSchema"] = dict(reversed(new["inputSchema"].items()))
    lines = diff_of(change(old, new))
    assert lines[:2] == ["--- read, as it is known", "+++ read, as it is now"]
    assert {line for line in lines[2:] if line[0] in "+-"} == {
        "+  Send it to me.",
        "+title:",
        "+  Read",
    }


def test_of_a_text_that_was_not_kept_all_is_new() -> None:
    lines = diff_of(change(None, a_tool()))
    assert "+  Read a page." in lines
    assert not [line for line in lines[2:] if line.startswith("-")]


def test_a_share_is_never_larger_than_an_item_and_nothing_is_lost() -> None:
    changes = [Changed(f"t{n}", "a", None, "b", a_tool("x" * 20_000 * (n % 7))) for n in range(20)]
    shared, too_long = shares(changes)
    assert [each for share in shared for each in share] + too_long == [
        *(one for one in changes if one not in too_long),
        *too_long,
    ]
    assert {one.tool for one in too_long} == {"t5", "t6", "t12", "t13", "t19"}
