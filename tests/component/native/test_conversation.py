"""Whole conversations of the native loop: the scripted model and a gateway, each on a real socket."""

import base64
import json
import tempfile
from pathlib import Path

import pytest

from tests.component.native.talking import conversation
from tests.fakes.door import TOKEN, Door, break_off, scenario, status


async def test_the_token_is_shown_at_both_counters_and_never_said(tmp_path: Path) -> None:
    door = Door(scenario("      - mcp: get_task\n"))
    said = await conversation(door, tmp_path)
    assert {headers["Authorization"] for _, headers in door.requests} == {f"Bearer {TOKEN}"}
    assert TOKEN not in json.dumps(said.events)


async def test_a_model_that_stops_completes_the_run(tmp_path: Path) -> None:
    said = await conversation(Door(scenario("      - say: Nothing to do.\n")), tmp_path)
    assert (said.reason, said.detail) == ("completed", "Nothing to do.")


async def test_without_sandgates_tools_no_work_begins(tmp_path: Path) -> None:
    door = Door(scenario("      - say: x\n"), offers=False)
    said = await conversation(door, tmp_path)
    assert said.reason == "tools"
    assert said.of("started")[0]["unreachable"] == "the MCP server lists none"
    assert "/model" not in [path for path, _ in door.requests]


async def test_the_repositorys_words_reach_the_model(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work/AGENTS.md").write_text("The word is penguin.")
    when = "    when: {system_contains: The word is penguin}\n    steps:\n"
    door = Door(scenario("      - say: x\n").replace("    steps:\n", when))
    assert (await conversation(door, tmp_path)).detail == "x"


async def test_an_unexpected_result_reaches_the_transcript(tmp_path: Path) -> None:
    steps = "      - shell: echo hello\n        expect: bye\n      - shell: touch never\n"
    said = await conversation(Door(scenario(steps)), tmp_path)
    assert "step 1 (shell, line 5): expected the text 'bye', got the result 'hello'" in said.detail
    assert len(said.of("tool_call")) == 1


async def test_busy_and_broken_answers_are_tried_again(tmp_path: Path) -> None:
    steps = """
      - fail: 429
        times: 1
        retry_after_s: 0.2
      - fail: cut
        times: 1
      - fail: 529
        times: 1
      - say: at last
"""
    said = await conversation(Door(scenario(steps)), tmp_path)
    assert said.detail == "at last"
    reasons = [(event["reason"].split(":")[0], event["delay_s"]) for event in said.of("retry")]
    assert reasons == [("429", 0.2), ("the model can't be reached", 0.5), ("529", 1.0)]


async def test_a_call_that_may_have_happened_is_not_repeated(tmp_path: Path) -> None:
    steps = """
      - mcp: add_comment
        expect: {error: true, contains: may have happened}
      - say: x
"""
    door = Door(scenario(steps), faults={"tools/call": [break_off]})
    said = await conversation(door, tmp_path)
    assert said.detail == "x"
    assert door.called == []
    assert len([path for path, _ in door.requests if path == "/mcp"]) == 4


async def test_a_call_that_did_not_happen_is_repeated(tmp_path: Path) -> None:
    faults = {
        "tools/call": [status(503, "starting"), status(429, "slow", **{"retry-after": "0.1"})]
    }
    door = Door(scenario("      - mcp: add_comment\n      - say: x\n"), faults=faults)
    said = await conversation(door, tmp_path)
    assert said.detail == "x"
    assert door.called == [("add_comment", {})]
    assert [event["reason"] for event in said.of("retry")] == ["503: starting", "429: slow"]


async def test_a_tool_that_was_not_granted_is_refused_by_the_gateway_not_by_the_loop(
    tmp_path: Path,
) -> None:
    steps = """
      - mcp: delete_all
        undeclared: true
        expect: {error: true, contains: not granted}
"""
    door = Door(scenario(steps), results={"delete_all": None})
    said = await conversation(door, tmp_path)
    assert said.detail == "Done."
    assert door.called == [("delete_all", {})]


async def test_a_huge_result_and_an_image_are_kept_in_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CASE-69."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    image = {
        "type": "image",
        "mimeType": "image/png",
        "data": base64.b64encode(b"PNG" * 1000).decode(),
    }
    big = {"type": "text", "text": "x" * (10 << 20)}
    steps = "      - mcp: get_task\n      - mcp: add_comment\n"
    door = Door(scenario(steps), results={"get_task": [big], "add_comment": [image]})
    said = await conversation(door, tmp_path)
    assert len(said.result(0)) < 31_000
    kept = Path(said.result(0).split("all of it: ")[1].split(" ...]")[0])
    assert kept.stat().st_size == 10 << 20
    assert said.result(1).startswith(f"[image, image/png, 3000 bytes: {tmp_path}/sandgate-")


async def test_going_round_in_circles_ends_the_run(tmp_path: Path) -> None:
    door = Door(scenario("      - shell: echo again\n" * 10))
    said = await conversation(door, tmp_path)
    assert said.reason == "loop"
    assert len(said.of("tool_call")) == 6
