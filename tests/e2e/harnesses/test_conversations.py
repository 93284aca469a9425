"""Work that is sent back goes on in the same conversation, where there still is one."""

import pytest

from tests.e2e.harnesses import scenes
from tests.e2e.harnesses.rows import (
    CLAUDE_CODE,
    CODEX,
    CODEX_WITH_TOOLS,
    NATIVE,
    Program,
    how,
    whole,
)
from tests.e2e.house import House
from tests.e2e.supervisor import decide

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]


def short(program: Program) -> str:
    return program.short


@pytest.mark.parametrize("program", [CLAUDE_CODE, CODEX, CODEX_WITH_TOOLS, NATIVE[0]], ids=short)
def test_what_is_sent_back_goes_on_in_the_same_conversation(lodge: House, program: Program) -> None:
    first, second = scenes.sent_back(lodge, program)
    assert (second["outcome"], second["trigger"]) == ("asked", "sent_back"), whole(second)
    assert "On with penguin?" in second["summary"]
    assert scenes.conversation(lodge, first) == scenes.conversation(lodge, second)


@pytest.mark.parametrize("program", [CLAUDE_CODE, CODEX, NATIVE[0]], ids=short)
def test_a_conversation_that_is_gone_is_begun_anew(lodge: House, program: Program) -> None:
    _, second = scenes.sent_back(lodge, program, scenes.lost)
    assert (second["outcome"], second["trigger"]) == ("asked", "sent_back"), whole(second)
    assert "Anew with penguin?" in second["summary"]


def test_a_conversation_that_can_not_be_read_is_tried_once(lodge: House) -> None:
    _, second = scenes.sent_back(lodge, CODEX, scenes.emptied)
    assert how(second) == ("failed", "harness_error"), whole(second)
    assert "thread/resume failed" in second["evidence"]["said"]["detail"], whole(second)
    decide(lodge, second["task"], "retry")
    assert how(third := scenes.after(lodge, second)) == ("submitted", "handed_over"), whole(third)
