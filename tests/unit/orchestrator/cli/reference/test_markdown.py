"""Tables, pages and diagrams as text."""

from orchestrator.cli.reference.markdown import code, fence, page, states, table


def test_a_table_has_a_line_a_row() -> None:
    assert table(("a", "b"), [(1, "x")]) == "| a | b |\n|---|---|\n| 1 | x |"


def test_no_rows_are_no_table() -> None:
    assert table(("a",), []) == ""


def test_a_cell_can_break_no_table() -> None:
    assert table(("a",), [("x | y\nz",)]).splitlines()[-1] == "| x \\| y z |"


def test_a_page_begins_with_its_title_and_leaves_out_what_is_empty() -> None:
    made = page("Title", "one", "", "\ntwo\n")
    assert made.startswith("# Title\n\n<!-- Made by `make docs`")
    assert made.endswith("-->\n\none\n\ntwo\n")


def test_nothing_is_not_code() -> None:
    assert (code(""), code("x")) == ("", "`x`")


def test_a_state_diagram_names_its_edges() -> None:
    drawn = states([("[*]", "queued", ""), ("queued", "ended", "over")])
    assert drawn == fence("mermaid", "stateDiagram-v2\n  [*] --> queued\n  queued --> ended: over")
