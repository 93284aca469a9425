"""The battery against a whole door: all of it well; and each control that is broken is caught.

The requests are sent by the very script that runs in a sandbox.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from entrance.session import RepoGrant, RunId, hash_token, new_run_token
from orchestrator.posture.battery.git import NOT_GRANTED, READ_ONLY, door_name
from orchestrator.posture.judging import Result
from orchestrator.posture.probe import Wall
from tests.component.posture.door import PROBES, DoorStage, door_stage

COUNTED = frozenset({"git-get-body"})
"""Its answer may be a good one: what counts is what came through."""


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[DoorStage]:
    async with door_stage(tmp_path) as opened:
        yield opened


def bad(results: Mapping[str, Result]) -> dict[str, str]:
    """What failed, with what was found."""
    return {name: result.told for name, result in results.items() if not result.ok}


async def test_a_whole_door_passes_every_probe(stage: DoorStage) -> None:
    results = await stage.play()
    assert len(results) > 55
    assert bad(results) == {}
    assert stage.canaries.counted == {"git-own-branch": 1, "git-redirect": 1}


def token_from_elsewhere(stage: DoorStage) -> None:
    here = replace(
        stage.door.session,
        run=RunId("sibling"),
        address=stage.stage.place.gateway,
        token_sha256=hash_token(stage.stage.tokens.sibling),
    )
    stage.door.registry.open(here)


def token_after_its_end(stage: DoorStage) -> None:
    token = new_run_token()
    stage.stage = replace(stage.stage, tokens=replace(stage.stage.tokens, ended=token))
    stage.door.registry.open(
        replace(stage.door.session, run=RunId("undead"), token_sha256=hash_token(token))
    )


def every_repository_for_pushing(stage: DoorStage) -> None:
    grants = tuple(replace(grant, push=True) for grant in stage.door.session.repositories)
    stage.door.reopen(repositories=grants)


def one_repository_too_many(stage: DoorStage) -> None:
    name = door_name(stage.stage, NOT_GRANTED)
    grants = (*stage.door.session.repositories, RepoGrant(name, f"http://{name}"))
    stage.door.reopen(repositories=grants)


def another_tasks_branches(stage: DoorStage) -> None:
    stage.door.reopen(continues=frozenset({"OTHER-1"}))


def a_tool(stage: DoorStage) -> None:
    stage.door.reopen(tools={"tracker": frozenset({"get_item"})})


def a_model(stage: DoorStage) -> None:
    stage.door.reopen(models=frozenset({"anthropic:claude-nobody"}), unpriced_models=True)


@pytest.mark.parametrize(
    ("broken", "wall", "caught"),
    [
        (token_from_elsewhere, Wall.IDENTITY, {"token-of-sibling", "token-forwarded"}),
        (token_after_its_end, Wall.IDENTITY, {"token-ended"}),
        (every_repository_for_pushing, Wall.GRANTS, {READ_ONLY}),
        (one_repository_too_many, Wall.GRANTS, {NOT_GRANTED}),
        (another_tasks_branches, Wall.REFS, {"git-other-task"}),
        (a_tool, Wall.GRANTS, {"tools-none"}),
        (a_model, Wall.GRANTS, {"model-not-granted"}),
    ],
    ids=lambda case: case.__name__ if callable(case) else None,
)
async def test_a_control_that_is_broken_is_caught(
    stage: DoorStage, broken: Callable[[DoorStage], None], wall: Wall, caught: set[str]
) -> None:
    broken(stage)
    failed = bad(await stage.play())
    assert set(failed) == caught
    assert {probe.wall for probe in PROBES if probe.name in failed} == {wall}


@pytest.mark.parametrize(
    ("answer", "well"),
    [
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", COUNTED, id="yes"),
        pytest.param(b"", None, id="hangs up"),
    ],
)
async def test_a_door_that_says_the_same_to_all_fails(
    stage: DoorStage, answer: bytes, well: frozenset[str] | None
) -> None:
    """Whatever it says: a probe that such a door passes is none (but that hanging up refuses)."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            await reader.read(1 << 16)
            writer.write(answer)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        place = replace(stage.stage.place, door=server.sockets[0].getsockname()[1])
        stage.stage = replace(stage.stage, place=place)
        results = await stage.play()
    finally:
        server.close()
    passed = {name for name, result in results.items() if result.ok}
    refusing = {probe.name for probe in PROBES if "cut" in probe.expected}
    assert passed == (refusing if well is None else well)
