"""One scenario plays the same over every provider's own SDK, with every harness' tools."""

from collections.abc import Sequence
from pathlib import Path

import httpx2
import pytest

from tests.component.scripted.serving import served
from tests.component.scripted.talkers import (
    MODEL,
    Talker,
    over_anthropic,
    over_chat,
    over_gemini,
    over_responses,
)
from tests.component.scripted.workbench import CLAUDE, CODEX, NATIVE, Workbench

SCENARIO = """
scenario: 1
conversations:
  - name: all
    when: {prompt_contains: T-7}
    capture: {item: '(T-\\d+)'}
    steps:
      - say: I look.
        mcp: get_task
        arguments: {id: "{{item}}"}
        expect: {contains: "task T-7 is open"}
        capture: {state: 'is (\\w+)$'}
      - parallel:
          - read: a.txt
            expect: {matches: '^  two$'}
          - shell: cat nowhere
            expect: {error: true, contains: No such file}
        usage: {input_tokens: 100, cache_read_tokens: 900, output_tokens: 70, reasoning_tokens: 50}
      - read: a.txt
      - edit: a.txt
        old: "two\\n"
        new: "2\\n\\n  '2.5'\\n"
      - edit: a.txt
        old: ree
        new: "REE"
      - write: b.txt
        content: "it's {{state}}\\n"
      - shell: "cat a.txt b.txt # slow"
        expect: {error: false, contains: ["2.5", thREE, "it's open"]}
      - edit: a.txt
        old: "one"
        new: "'1'"
      - write: c.txt
        content: no end
      - say: All done.
"""

TALKS = [
    pytest.param(over_anthropic.talk, NATIVE, id="Anthropic, native"),
    pytest.param(over_anthropic.talk, CLAUDE, id="Anthropic, Claude Code"),
    pytest.param(over_responses.talk, NATIVE, id="Responses, native"),
    pytest.param(over_responses.talk, CODEX, id="Responses, Codex"),
    pytest.param(over_chat.talk, NATIVE, id="Chat Completions, native"),
    pytest.param(over_gemini.talk, NATIVE, id="Gemini, native"),
]


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize(("talker", "tools"), TALKS)
async def test_every_dialect_and_harness_does_the_same(
    talker: Talker,
    tools: Sequence[str],
    stream: bool,  # noqa: FBT001 - a table
    tmp_path: Path,
) -> None:
    bench = Workbench(tmp_path, tools)
    (tmp_path / "a.txt").write_text("one\n  two\nthree\n")
    async with served(SCENARIO) as url, httpx2.AsyncClient(base_url=url) as plain:
        last, used = await talker(url, "Do T-7.", bench, stream=stream)
        counted = (await plain.get("/served")).json()
    assert last == "All done."
    assert (tmp_path / "a.txt").read_text() == "'1'\n  2\n\n  '2.5'\nthREE\n"
    assert (tmp_path / "b.txt").read_text() == "it's open\n"
    assert (tmp_path / "c.txt").read_text() == "no end"
    assert (1000, 900, 70, 50) in used
    total = counted["total"]
    assert counted["models"] == {MODEL: total}
    assert (total["answers"], total["unfinished"]) == (len(used), 0)
    assert total["input_tokens"] + total["cache_read_tokens"] == sum(each[0] for each in used)
    assert total["cache_read_tokens"] == sum(each[1] for each in used)
    assert total["output_tokens"] == sum(each[2] for each in used)
    assert total["reasoning_tokens"] == sum(each[3] for each in used)


async def test_codex_patches_what_it_has_read_and_waits_for_what_is_slow(tmp_path: Path) -> None:
    bench = Workbench(tmp_path, CODEX)
    (tmp_path / "a.txt").write_text("one\n  two\nthree\n")
    async with served(SCENARIO) as url:
        await over_responses.talk(url, "T-7", bench, stream=True)
    run, poll, patch = "exec_command", "write_stdin", "apply_patch"
    looked = ["mcp__sandgate__get_task", run, run, run]
    assert bench.used == [*looked, patch, patch, patch, run, poll, run, run]
