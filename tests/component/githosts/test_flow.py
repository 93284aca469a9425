"""From a GitHub App's key to a pull request: the real door, the real git, the real settling."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from structlog.testing import capture_logs

from entrance.app import Outbound, make_app, make_runner
from entrance.git.proxy import Keeping
from entrance.git.upstream import client_session as git_session
from entrance.honeytokens.watch import Watch
from entrance.log.shelf import Shelf
from entrance.log.trail import trail
from entrance.model.prices import shipped_prices
from entrance.push_policy import Mode, PushPolicy
from entrance.registry import SessionRegistry
from entrance.session import Authorship, hash_token
from entrance.vault.installation import InstallationTokens
from entrance.vault.repositories import VaultRepositories
from entrance.vault.seal import Keyring
from entrance.vault.vault import Vault
from orchestrator.adapters.githosts.hosts import RestGitHosts
from orchestrator.domain.grants import after_handover, session_for
from orchestrator.domain.run import Ending, Outcome, Run, RunState, Tried, Work, changed
from orchestrator.domain.team import Grants, Repository
from orchestrator.runner.settle import settle
from orchestrator.runner.world import World
from tests.component.githosts.conftest import Seconds
from tests.fakes.alarm import HONEY, FakeAlarm
from tests.fakes.clock import FakeClock
from tests.fakes.meter import FakeMeter
from tests.fakes.run import a_run
from tests.fakes.secrets import FakeSecretStore
from tests.fakes.tracker import FakeTracker
from tests.fakes.world import AGENT, ENGAGEMENT, TASK, FakeWorld
from tests.servers.git import RUN_TOKEN, Git, put_small_repository
from tests.servers.githosts.github import APP, GitHub, app_key, github
from tests.servers.githosts.serving import Repo, Trouble, said
from tests.servers.log import open_log

NAME, BRANCH = "team/thing", "agent/DEMO-7/fix"


@dataclass
class Stage:
    """Everything that runs."""

    folder: Path
    host: GitHub
    git: Git
    seconds: Seconds
    registry: SessionRegistry
    fakes: FakeWorld
    world: World
    run: Run
    door: str
    """The base URL that a sandbox has."""

    @property
    def remote(self) -> str:
        """The repository at the door, with the run's token."""
        assert self.run.session
        name = self.run.session.repositories[0].name
        return f"{self.door.replace('://', f'://run:{RUN_TOKEN}@')}/git/{name}"

    async def work(self) -> str:
        """Clone, commit, push; the commit."""
        clone = self.folder / "sandbox"
        await self.git.ok("clone", "--quiet", self.remote, clone)
        (clone / "new.txt").write_text("new\n")
        await self.git.ok("add", "--all", cwd=clone)
        await self.git.ok("commit", "--quiet", "--message", "Add new.txt", cwd=clone)
        await self.git.ok("push", "--quiet", "origin", f"HEAD:refs/heads/{BRANCH}", cwd=clone)
        return await self.git.ok("rev-parse", "HEAD", cwd=clone)

    async def submit(self, work: Work) -> Run:
        """The agent hands over, as the desk notes it, and the run is settled."""
        ending = Ending(Outcome.SUBMITTED, work.words, self.fakes.clock.now(), work=work)
        run = changed(self.run, ending=ending, state=RunState.SETTLING)
        assert run.session
        self.registry.open(after_handover(run.session))
        await self.fakes.runs.replace(run)
        await settle(self.world, run)
        return await self.fakes.runs.get(run.id)


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with AsyncExitStack() as stack:
        host = GitHub(repos={NAME: Repo()}, installations={NAME: 77}, git=tmp_path / "host")
        put_small_repository(tmp_path / "host" / f"{NAME}.git")
        base = await stack.enter_async_context(github(host))
        http = await stack.enter_async_context(aiohttp.ClientSession(trust_env=False))
        vault = Vault(FakeSecretStore(), Keyring("k", {"k": b"k" * 32}), lambda: host.now)
        await vault.put("hub", app_key()[0], [base], f"github-app:{APP}")
        seconds = Seconds()
        tokens = InstallationTokens(vault, http, seconds)
        registry, log = SessionRegistry(), open_log(tmp_path / "egress")
        stack.push_async_callback(log.close)
        run = _run(Repository(f"{base}/{NAME}.git", credential="hub", host="github", api=base))
        assert run.session
        registry.open(run.session)
        app = make_app(
            sessions=registry,
            audit=log,
            watch=Watch(HONEY, log, FakeAlarm()),
            vault=vault,
            meter=FakeMeter(),
            providers=[],
            prices=shipped_prices(),
            tool_providers=[],
            outbound=Outbound(await stack.enter_async_context(git_session()), http, http),
            pushes=Keeping(tmp_path / "git"),
            tokens=tokens,
        )
        runner = make_runner(app)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        fakes = _fakes(tmp_path, f"{base}/{NAME}.git")
        await fakes.runs.create(run)

        async def of_run(one: Run) -> Sequence[Mapping[str, Any]]:
            return await asyncio.to_thread(trail, Shelf(tmp_path / "egress"), one.id)

        world = replace(
            fakes.world(),
            door=registry,
            trail=of_run,
            githosts=RestGitHosts(http, VaultRepositories(vault, tokens)),
        )
        home = tmp_path / "home"
        home.mkdir()
        door = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield Stage(tmp_path, host, Git(home), seconds, registry, fakes, world, run, door)


def _run(repository: Repository) -> Run:
    engagement = replace(ENGAGEMENT, grants=Grants(repositories=(repository,)))
    run = a_run(
        task=TASK.id,
        agent=AGENT.bot,
        model=AGENT.model,
        engagement=ENGAGEMENT.id,
        state=RunState.RUNNING,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    session = session_for(
        run,
        replace(TASK, repository=repository.url),
        engagement,
        address="127.0.0.1",
        token_sha256=hash_token(RUN_TOKEN),
        authorship=Authorship("agent", "agent@localhost", AGENT.model, frozenset({run.id})),
        push_policy=PushPolicy({"trailers": Mode.NOTE}),
    )
    return replace(run, session=session)


def _fakes(folder: Path, url: str) -> FakeWorld:
    tracker = FakeTracker(
        tasks=[replace(TASK, repository=url)], agents=[AGENT], engagements=[ENGAGEMENT]
    )
    return FakeWorld(folder, clock=FakeClock(), tracker=tracker)


async def test_what_an_agent_pushed_and_submitted_is_a_pull_request_with_its_packet(
    stage: Stage,
) -> None:
    commit = await stage.work()
    tests = (Tried("make test", "passed", "12 of 12"),)
    run = await stage.submit(Work("I added a file. Closes #1.", BRANCH, tests, "Windows."))
    (pull,) = stage.host.repos[NAME].pulls
    assert (pull.head, pull.base, pull.title) == (BRANCH, "main", "DEMO-7: Fix it")
    for words in (
        "- `new.txt`",
        f"sandgate verify . {commit}",
        "| make test | passed | 12 of 12 |",
        "> Windows.",
        "| note |",
        f"| run | `{run.id}` |",
    ):
        assert words in pull.body
    assert "Closes #1" not in pull.body
    assert run.pull_request
    assert run.pull_request.url == f"https://github.com/{NAME}/pull/1"
    told = {one.title: one.text for one in stage.fakes.tracker.comments[TASK.id]}
    assert run.pull_request.url in told[f"Pull request of run {run.id}"]


async def test_each_token_is_narrow_and_all_are_revoked_when_the_run_has_ended(
    stage: Stage,
) -> None:
    await stage.work()
    made = {token: dict(one.permissions) for token, one in stage.host.tokens.items()}
    assert list(made.values()) == [{"contents": "write", "metadata": "read"}]
    await stage.submit(Work("Done.", BRANCH))
    assert not stage.host.tokens
    assert len(stage.host.revoked) == 2
    assert made.keys() < set(stage.host.revoked)


async def test_a_token_that_has_ended_in_the_middle_of_a_run_is_made_anew(stage: Stage) -> None:
    await stage.work()
    stage.host.now += timedelta(hours=2)
    stage.seconds.at += 7200
    clone = stage.folder / "sandbox"
    await stage.git.ok("commit", "--allow-empty", "--quiet", "--message", "More", cwd=clone)
    await stage.git.ok("push", "--quiet", "origin", f"HEAD:refs/heads/{BRANCH}", cwd=clone)
    await stage.submit(Work("Done.", BRANCH))
    assert len(stage.host.repos[NAME].pulls) == 1


async def test_a_token_that_the_host_takes_no_more_is_made_anew(stage: Stage) -> None:
    """It was revoked by somebody else, or the host's clock is not what it said."""
    await stage.work()
    (before,) = stage.host.tokens
    stage.host.tokens.clear()
    clone = stage.folder / "sandbox"
    await stage.git.ok("commit", "--allow-empty", "--quiet", "--message", "More", cwd=clone)
    await stage.git.ok("push", "--quiet", "origin", f"HEAD:refs/heads/{BRANCH}", cwd=clone)
    assert stage.host.tokens
    assert before not in stage.host.tokens


async def test_a_host_that_takes_none_is_not_asked_without_end(stage: Stage) -> None:
    for _ in range(2):
        stage.host.troubles = [Trouble(lambda r: ".git/" in r.path, lambda: said(401), 9)]
        stage.host.came.clear()
        refused = await stage.git("ls-remote", stage.remote)
        assert "502" in refused.text
        assert len(stage.host.methods(".git/")) == 2


async def test_neither_the_apps_key_nor_a_token_is_anywhere_but_on_its_way(stage: Stage) -> None:
    """Not in the log, a file of ours, the sandbox's clone, a page, or what is printed."""
    with capture_logs() as printed:
        await stage.work()
        run = await stage.submit(Work("Done.", BRANCH))
    secrets = [*app_key()[0].splitlines()[1:-1], *stage.host.revoked]
    assert len(stage.host.revoked) == 2
    pages = f"{printed} {run!r} {stage.world!r} {stage.fakes.tracker.records} {stage.host.repos}"
    attached = b"".join(stage.fakes.tracker.attached.values())
    files = [path for path in stage.folder.rglob("*") if path.is_file()]
    assert len(files) > 20
    for secret in secrets:
        assert secret not in pages
        assert secret.encode() not in attached
        assert not [path for path in files if secret.encode() in path.read_bytes()]
    # The host saw the App's own token on the App's paths only, and never the run's.
    for came in stage.host.came:
        assert RUN_TOKEN not in came.authorization
        app_paths = "installation" in came.path
        assert came.authorization.startswith(("Bearer eyJ", "Bearer ghs_") if app_paths else ("B",))
        assert app_paths or "eyJ" not in came.authorization
