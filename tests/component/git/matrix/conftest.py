"""The door before the matrix's repository; at the end of each test its promises are looked at."""

import logging
import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from entrance.git.checks.rules import NAMED
from entrance.push_policy import Mode, PushPolicy
from tests.component.git.matrix.promises import Host
from tests.component.git.matrix.template import Template, make_template
from tests.fakes.push_inbox import FakePushInbox
from tests.servers.git import Door, door

CLONED = "host/small.git"


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return make_template(tmp_path_factory.mktemp("template"))


@pytest.fixture
def limits() -> dict[str, Any]:
    """What the door's limits are, where they are not what they always are."""
    return {}


@pytest.fixture
def inbox() -> FakePushInbox:
    """Where a person would be asked."""
    return FakePushInbox()


@pytest.fixture
async def at_door(
    tmp_path: Path, template: Template, inbox: FakePushInbox, limits: dict[str, Any]
) -> AsyncIterator[Door]:
    async with door(tmp_path, inbox, **limits) as opened:
        for name in ("small.git", "read.git"):
            shutil.rmtree(opened.root / name)
            shutil.copytree(template.bare, opened.root / name)
        yield opened


@pytest.fixture
def repository() -> str:
    """The one that a test is about."""
    return "small.git"


@pytest.fixture(autouse=True)
async def host(
    at_door: Door, repository: str, caplog: pytest.LogCaptureFixture
) -> AsyncIterator[Host]:
    host = Host(at_door, await at_door.refs(repository), repository)
    yield host
    await host.assert_kept()
    crashed = [each.getMessage() for each in caplog.records if each.levelno >= logging.ERROR]
    assert not crashed, "a request ended in an error that nobody foresaw"


@pytest.fixture
async def clone(at_door: Door, template: Template) -> Path:
    """A clone with the door as its `origin`: copied, as cloning is not what is tested."""
    target = at_door.git.home / "clone"
    shutil.copytree(template.clone, target)
    await at_door.git.ok("remote", "set-url", "origin", at_door.url(CLONED), cwd=target)
    return target


@pytest.fixture
def policy(at_door: Door) -> Callable[..., None]:
    """Opens the session again with a policy whose rules only note, but for these."""

    def set_policy(modes: dict[str, Mode], **more: Any) -> None:
        policy = PushPolicy({**dict.fromkeys(NAMED, Mode.NOTE), **modes}, **more)
        at_door.registry.open(replace(at_door.session, push_policy=policy))

    return set_policy
