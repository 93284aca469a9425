"""Whatever an agent, a git host or a person writes: a terminal shows it, and obeys none of it."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from orchestrator.cli.demo_summary import show_summary
from orchestrator.cli.run import summary
from orchestrator.cli.screen import (
    escaped,
    event_line,
    one_line,
    plain,
    print_json,
    print_table,
    say,
)

AT = "2026-11-29T15:23:41+00:00"
NASTY = {
    "clear the screen": "\x1b[2J\x1b[H",
    "set the title": "\x1b]0;owned\x07",
    "a link that lies": "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "put into the clipboard": "\x1b]52;c;aGk=\x07",
    "ask the terminal": "\x1b[6n",
    "the one-byte CSI": "\x9b31m",
    "go back and overwrite": "rm -rf x\rls      ",
    "backspace": "evil\b\b\b\bgood",
    "turn the text around": "\u202eevil\u2066\u2069",
    "an Arabic mark": "\u061c",
    "hidden words": "\U000e0041\U000e0042",
    "zero width": "a\u200bb\ufeff",
    "a line separator": "a\u2028b\u2029",
    "form feed": "a\x0cb",
    "delete": "a\x7fb",
}
MARKUP = "[red]x[/red] [link=http://evil.example]y[/link] [/] [bold"
NEVER = set("\x07\x08\r\x0c\x7f\x9b\u202e\u2066\u2069\u061c\u200b\ufeff\u2028\u2029\U000e0041")


def shown(*lines: Any) -> str:
    """What a terminal gets that can do everything."""
    file = StringIO()
    console = Console(file=file, force_terminal=True, color_system="truecolor", width=200)
    for line in lines:
        if isinstance(line, str | Text):
            say(console, line) if isinstance(line, str) else console.print(line, soft_wrap=True)
        else:
            print_table(console, ("title", "x"), [line])
    return file.getvalue()


def is_harmless(output: str, payload: str) -> None:
    assert not NEVER & set(output)
    # Rich itself writes colours; nothing else that begins with an escape is there.
    for sequence in ("\x1b]", "\x1b[2J", "\x1b[H", "\x1b[6n", "\x1b\\"):
        assert sequence not in output
    assert payload not in output


@pytest.mark.parametrize("payload", NASTY.values(), ids=NASTY.keys())
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(lambda p: ("text", {"text": p}), id="text"),
        pytest.param(lambda p: ("raw", {"text": p}), id="raw"),
        pytest.param(lambda p: ("tool_call", {"name": p, "input": {p: p}}), id="call"),
        pytest.param(lambda p: ("tool_result", {"text": p, "is_error": True}), id="result"),
        pytest.param(lambda p: ("retry", {"reason": p, "delay_s": p}), id="retry"),
        pytest.param(lambda p: ("ended", {"reason": p, "detail": p}), id="ended"),
        pytest.param(lambda p: ("phase", {"state": p, "why": p}), id="phase"),
        pytest.param(lambda p: ("text", {"text": [p, {p: None}]}), id="no text"),
    ],
)
def test_an_event_does_nothing_to_a_terminal(payload: str, data: Any) -> None:
    kind, facts = data(payload)
    line = event_line({"kind": kind, "at": AT, "data": facts})
    assert line is not None
    is_harmless(shown(line), payload)
    assert shown(line).count("\n") == 1


@pytest.mark.parametrize("payload", NASTY.values(), ids=NASTY.keys())
def test_a_table_a_sentence_and_a_summary_do_nothing_either(payload: str) -> None:
    usage = {"input_tokens": 1, "output_tokens": 2, "cost_usd": payload}
    run = {"id": payload, "outcome": payload, "cause": payload, "usage": usage}
    output = shown((payload, [payload]), f"made {payload}", summary(run))
    is_harmless(output, payload)
    assert "made " in output


USED = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "calls")


@pytest.mark.parametrize("payload", NASTY.values(), ids=NASTY.keys())
def test_the_demos_table_does_nothing_either(tmp_path: Path, payload: str) -> None:
    summary = dict.fromkeys(
        (
            *("task", "run", "outcome", "cause", "branch", "cost_usd", "agent_run"),
            *("main_unchanged", "agent", "harness", "model"),
        ),
        f"{payload} {MARKUP}",
    ) | {
        "repository_path": "/x",
        "diff": {"files": [payload], "stat": f" {payload} | 1 +\n{MARKUP}"},
        "tests": {"result": payload, "command": "pytest"},
        "usage": dict.fromkeys(USED, 1),
        "served": {**dict.fromkeys(USED, 1), "cost_usd": payload},
        "equal": False,
        "seconds": {"running": 1},
        "refused": [{"kind": payload, "reason": f"{payload} {MARKUP}"}],
        "transcript": {"attachment": payload, "bytes": 1},
    }
    file = StringIO()
    console = Console(file=file, force_terminal=True, color_system="truecolor", width=400)
    show_summary(console, summary, log=tmp_path)
    is_harmless(file.getvalue(), payload)
    assert MARKUP in file.getvalue()


def test_markup_is_shown_as_it_was_written() -> None:
    usage = {"input_tokens": 1, "output_tokens": 2, "cost_usd": "0"}
    run = {"id": MARKUP, "outcome": MARKUP, "cause": "x", "usage": usage}
    event = event_line({"kind": "text", "at": AT, "data": {"text": MARKUP}})
    for line in ((MARKUP, "x"), MARKUP, summary(run), event):
        output = shown(line)
        assert "[red]x[/red]" in output
        assert "[link=http://evil.example]y[/link] [/] [bold" in output
        assert "\x1b]8" not in output


@pytest.mark.parametrize("payload", NASTY.values(), ids=NASTY.keys())
def test_json_for_programs_says_the_same_and_does_nothing_to_a_terminal(
    payload: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = {"title": payload, payload: [payload]}
    for lines in (False, True):
        print_json(data, lines=lines)
        output = capsys.readouterr().out
        assert not (NEVER | {"\x1b"}) & set(output)
        assert json.loads(output) == data
        assert output.count("\n") == 1 or not lines


@given(st.text())
def test_escaped_json_is_the_same_json(text: str) -> None:
    whole = json.dumps({text: text}, ensure_ascii=False)
    assert json.loads(escaped(whole)) == {text: text}


@given(st.text())
def test_plain_keeps_what_can_be_seen(text: str) -> None:
    kept = plain(text)
    assert len(kept) == len(text)
    assert all(b in {a, "\N{REPLACEMENT CHARACTER}"} for a, b in zip(text, kept, strict=True))
    assert not any(ord(char) < 32 and char not in "\t\n" for char in kept)


@given(st.text())
def test_one_line_is_one(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1
    assert len(one_line(text)) <= 160


def test_ordinary_text_of_all_languages_stays() -> None:
    for text in ("Grüße", "日本語", "עברית", "العربية", "→ ✓ 🙂", "a\tb"):
        assert plain(text) == text
