"""What agents and people wrote is shown, and can do nothing to a terminal."""

from io import StringIO

import pytest
from rich.console import Console

from orchestrator.cli.screen import event_line, one_line, plain, print_table, readable


def printed(*, terminal: bool, width: int) -> str:
    file = StringIO()
    console = Console(file=file, force_terminal=terminal, width=width, color_system=None)
    print_table(console, ("run", "task"), [("4ecg7fhzz98aljp", "WEB/WEB-2")])
    return file.getvalue()


def test_in_a_pipe_a_row_is_one_line_however_long_and_ends_with_its_last_cell() -> None:
    head, row = printed(terminal=False, width=10).splitlines()
    assert (head, row) == ("run              task", "4ecg7fhzz98aljp  WEB/WEB-2")


def test_on_a_narrow_terminal_no_cell_is_cut() -> None:
    shown = printed(terminal=True, width=14)
    assert "…" not in shown
    rows = [line.split() for line in shown.splitlines()[1:]]
    assert "".join(row[0] for row in rows) == "4ecg7fhzz98aljp"


@pytest.mark.parametrize(
    ("width", "kept"),
    [(60, ["run", "outcome", "tokens"]), (33, ["run", "outcome"])],
)
def test_a_narrow_terminal_goes_without_the_spare_columns(width: int, kept: list[str]) -> None:
    """An id that is folded into two lines can't be copied."""
    file = StringIO()
    console = Console(file=file, force_terminal=True, width=width, color_system=None)
    row = ("4ecg7fhzz98aljp", "submitted", 1234567)
    print_table(console, ("run", "outcome", "tokens"), [row], spare=["tokens"])
    head, first = [line.split() for line in file.getvalue().splitlines()]
    assert head == kept
    assert first[0] == row[0]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, ""),
        ("text", "text"),
        ({"queued": 0.1, "running": 2}, "queued 0.1, running 2"),
        ({"exit": {"code": None, "detail": ""}, "tools": ["a", "b"]},
         "exit (code -, detail -), tools (a, b)"),
    ],
)  # fmt: skip
def test_a_value_is_shown_as_people_write_it(value: object, shown: str) -> None:
    assert readable(value) == shown


@pytest.mark.parametrize("nasty", ["\x1b[2J", "\x07", "\u202e", "\x9b31m"])
def test_control_bytes_never_reach_the_terminal(nasty: str) -> None:
    assert nasty[0] not in plain(f"a{nasty}b")


def test_a_long_text_is_one_shortened_line() -> None:
    text = one_line("word\n" * 100)
    assert "\n" not in text
    assert len(text) == 160
    assert text.endswith("…")


def test_an_event_that_is_not_worth_a_line_has_none() -> None:
    at = "2026-11-29T15:23:41+00:00"
    assert event_line({"kind": "usage", "at": at, "data": {}}) is None
    shown = event_line({"kind": "text", "at": at, "data": {"text": "hello"}})
    assert shown is not None
    assert shown.plain == "15:23:41 │ hello"
