"""`sandgate run watch`: live, to the end, also when the runner is restarted in the middle."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from orchestrator.cli.client import Runner, RunnerAway, lines
from orchestrator.cli.codes import Code
from orchestrator.domain.run import Cause, Outcome, Run, RunState, changed
from orchestrator.settings import inherited_environment
from orchestrator.stack.installation import Installation
from tests.fakes.run import a_run
from tests.servers.api import TOKEN, Api, api_server
from tests.servers.command import Done, sandgate_beside
from tests.waiting import until


async def begun(api: Api, *texts: str) -> Run:
    run = a_run(state=RunState.RUNNING)
    await api.fakes.runs.create(run)
    await api.world.tell(run.id, [("text", {"text": text}) for text in texts])
    return run


async def end(api: Api, run: Run, outcome: Outcome, cause: Cause = Cause.HANDED_OVER) -> None:
    await api.world.amend(
        run.id, lambda r: changed(r, state=RunState.ENDED, outcome=outcome, cause=cause)
    )


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (Outcome.SUBMITTED, Code.OK),
        (Outcome.ASKED, Code.OK),
        (Outcome.DELEGATED, Code.OK),
        (Outcome.FAILED, Code.RUN_FAILED),
        (Outcome.STOPPED, Code.RUN_STOPPED),
    ],
)
async def test_the_exit_code_says_how_the_run_ended(api: Api, outcome: Outcome, code: Code) -> None:
    run = await begun(api, "one")
    await end(api, run, outcome)
    done = await sandgate_beside("run", "watch", run.id)
    assert done.code == code
    assert done.out.splitlines()[0].endswith("│ one")
    assert done.out.splitlines()[-1].startswith(f"{run.id} ended {outcome} (handed_over): 0 tokens")


async def test_json_is_one_event_a_line(api: Api) -> None:
    run = await begun(api, "one", "two\u2028\u202e\x1b[2J", "x" * 300_000)
    await end(api, run, Outcome.SUBMITTED)
    done = await sandgate_beside("run", "watch", run.id, "--json")
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [row["seq"] for row in rows] == [0, 1, 2]
    assert rows[1]["data"]["text"] == "two\u2028\u202e\x1b[2J"
    assert not set(done.out) & set("\x1b\u202e\u2028")


async def test_a_task_whose_run_is_about_to_begin_is_waited_for(api: Api) -> None:
    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(sandgate_beside("run", "watch", "DEMO/DEMO-soon"))
        run = a_run(task="DEMO/DEMO-soon", state=RunState.ENDED, outcome=Outcome.SUBMITTED)
        await api.fakes.runs.create(run)
    assert watching.result().code == 0


async def restarting(api: Api, here: Installation, run: Run, watching: asyncio.Task[Done]) -> None:
    """End the API once somebody watches; serve the same world again, and then end the run."""
    await until(lambda: bool(api.world.live._watchers))
    assert api.runner
    await api.runner.cleanup()
    await asyncio.sleep(0.5)  # long enough for a look that finds nobody
    assert not watching.done()
    async with api_server(here.home / "again", port=here.ports.runner) as again:
        again.fakes.runs._runs = api.fakes.runs._runs
        again.fakes.runs._events = api.fakes.runs._events
        await again.world.note(run.id, "text", {"text": "after the restart"})
        await until(lambda: bool(again.world.live._watchers))
        await end(again, run, Outcome.SUBMITTED)
        await until(watching.done)


async def test_a_restart_of_the_runner_does_not_end_the_watching(
    api: Api, here: Installation
) -> None:
    """`sandgate up` in another terminal restarts what is to run differently."""
    run = await begun(api, "before the restart")
    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(sandgate_beside("run", "watch", run.id))
        await restarting(api, here, run, watching)
    done = watching.result()
    assert done.code == 0
    texts = [line.partition("│ ")[2] for line in done.out.splitlines()[:-1]]
    assert texts == ["before the restart", "after the restart"], "each event once"
    assert done.err.splitlines() == [
        "the runner went away; waiting for it, 60 s at most",
        "the runner is back",
    ]


async def test_patience_has_an_end(api: Api, here: Installation) -> None:
    run = await begun(api, "one")
    told: list[str] = []

    def watch() -> None:
        runner = Runner(api.base, here.keys / "api.token")
        try:
            for _ in runner.watch(run.id, tell=told.append, patience_s=0.5):
                pass
        finally:
            runner.close()

    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(fails(asyncio.to_thread(watch)))
        await until(lambda: bool(api.world.live._watchers))
        assert api.runner
        await api.runner.cleanup()
    assert "doesn't answer" in str(watching.result())
    assert told == ["the runner went away; waiting for it, 0 s at most"]


async def fails(doing: object) -> RunnerAway:
    with pytest.raises(RunnerAway) as raised:
        await doing  # type: ignore[misc]
    return raised.value


async def test_an_outage_of_the_store_is_waited_for_as_well(api: Api) -> None:
    run = await begun(api, "one")
    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(sandgate_beside("run", "watch", run.id))
        await until(lambda: bool(api.world.live._watchers))
        api.fakes.runs.down = True
        api.world.live.tell(run.id)
        await until(lambda: not api.world.live._watchers)
        await asyncio.sleep(0.5)  # long enough for a look that is answered 503
        api.fakes.runs.down = False
        await end(api, run, Outcome.SUBMITTED)
    assert watching.result().code == 0


async def test_a_run_that_is_gone_after_a_restart_ends_the_watching(
    api: Api, here: Installation
) -> None:
    run = await begun(api, "one")
    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(sandgate_beside("run", "watch", run.id))
        await until(lambda: bool(api.world.live._watchers))
        assert api.runner
        await api.runner.cleanup()
        async with api_server(here.home / "other", port=here.ports.runner):
            await until(watching.done)
    assert watching.result().code == Code.NOT_FOUND


@asynccontextmanager
async def answering(here: Installation, body: bytes, kind: str) -> AsyncIterator[None]:
    """Something else on the runner's port."""

    async def answer(_request: web.Request) -> web.Response:
        return web.Response(body=body, content_type=kind)

    app = web.Application()
    app.router.add_route("*", "/{any:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", here.ports.runner).start()
    try:
        yield
    finally:
        await runner.cleanup()


async def test_another_program_on_the_runners_port_is_not_taken_for_it(here: Installation) -> None:
    async with answering(here, b"<html>hello</html>", "text/html"):
        done = await sandgate_beside("run", "ls")
    assert done.code == Code.NOT_RUNNING
    assert "is not the runner" in done.err


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_lines_are_put_together_from_any_pieces(size: int) -> None:
    text = "data: a\u2028b\u0085c\r\n\ndata: zwei: äöü\n".encode()

    def pieces() -> Iterator[bytes]:
        for at in range(0, len(text), size):
            yield text[at : at + size]

    assert list(lines(pieces())) == text.split(b"\n")[:-1]


def test_ctrl_c_ends_with_a_sentence(here: Installation) -> None:
    """A real process and a real signal: a runner that takes the call and says nothing."""
    with socket.create_server(("127.0.0.1", here.ports.runner)) as silent:
        command = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "from orchestrator.cli.entry import main; main()",
                "run",
                "watch",
                "x",
            ],
            env={**inherited_environment(), "SANDGATE_HOME": str(here.home)},
            cwd=Path(__file__).parents[3],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        silent.settimeout(30)
        connection, _ = silent.accept()
        with connection:
            threading.Event().wait(0.2)  # it waits for the answer by now
            os.kill(command.pid, signal.SIGINT)
            out, err = command.communicate(timeout=30)
    assert command.returncode == Code.INTERRUPTED
    assert err == "stopped; what was begun goes on by itself: `sandgate status`\n"
    assert out == ""
    assert TOKEN not in err
