"""Every `sandgate` command that a page shows is one that there is, with options that it has."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from orchestrator.cli.main import app

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^ *```(?:sh)?\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
SAID = re.compile(r"^ *(?:[A-Z_]+=\S+ )*(sandgate .*)$", re.MULTILINE)


def shown(text: str) -> Iterator[list[str]]:
    """The commands in a page's code blocks, each as its words; usage lines are no commands."""
    for block in FENCE.findall(text):
        for line in SAID.findall(block.replace("\\\n", " ")):
            if "[" not in line and "..." not in line:
                yield shlex.split(re.split(r"\s[<>|&]", line)[0], comments=True)


def trouble(words: list[str]) -> str:
    """What is wrong with a command; empty when nothing is."""
    command: Any = typer.main.get_command(app)
    rest = words[1:]
    while rest and hasattr(command, "commands"):
        if rest[0] not in command.commands:
            return f"there is no {rest[0]}"
        command = command.commands[rest.pop(0)]
    known = {option for one in command.params for option in one.opts}
    return ", ".join(
        word for word in rest if word.startswith("--") and word.partition("=")[0] not in known
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_on_a_page_is_there(page: Path) -> None:
    wrong = {" ".join(words): trouble(words) for words in shown(page.read_text()) if trouble(words)}
    assert wrong == {}


def test_commands_are_found_and_wrong_ones_told() -> None:
    text = (
        "```sh\nA=b sandgate up --model x=y &\nsandgate fly\nsandgate run ls \\\n  --colour\n```\n"
    )
    assert [(words[1], trouble(words)) for words in shown(text)] == [
        ("up", ""),
        ("fly", "there is no fly"),
        ("run", "--colour"),
    ]
    assert any(list(shown(page.read_text())) for page in PAGES)
