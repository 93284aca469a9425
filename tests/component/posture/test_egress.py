"""The battery against the egress proxy, whole; and each control of it that is loosened is caught."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import pytest
import pytest_asyncio

from entrance.session import RunId, TaskId
from orchestrator.adapters.posture.script import script
from orchestrator.posture.battery import BATTERY
from orchestrator.posture.battery.egress import LISTED, OPEN
from orchestrator.posture.judging import Result, found_in, judge, orders
from orchestrator.posture.probe import Area, Caps, Place, Probe, Stage, Tokens, Wall
from proxy.authority import ensure
from proxy.rules import Rule
from tests.component.posture.loose_proxy import loose_proxy
from tests.servers.egress import (
    ORIGIN,
    OTHER,
    OTHER_TOKEN,
    PORT,
    PROXY,
    SANDBOX,
    TOKEN,
    Egress,
    egress,
    other,
    sandbox,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")
WEB: frozenset[Literal["http", "https"]] = frozenset({"http", "https"})
POSTURE = Rule(name="posture", host=LISTED, schemes=WEB, paths=(f"{OPEN}**",))
STAGE = Stage(
    place=Place(
        gateway=PROXY,
        door=8080,
        egress=PORT,
        sibling=OTHER,
        broadcast="10.7.0.255",
        canary=8443,
        git_canary=1,
        outside=ORIGIN,
    ),
    tokens=Tokens(TOKEN, OTHER_TOKEN, "token-of-an-ended-run"),
    caps=Caps(1, 1, 1, 1, 1),
    run=RunId("run"),
    task=TaskId("P/P-1"),
    second_door=True,
)
PROBES = [probe for probe in BATTERY if probe.area is Area.EGRESS and probe.who == "sandbox"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Egress]:
    async with egress(tmp_path_factory.mktemp("egress")) as started:
        # What speaks to the proxy without saying from where speaks as the sandbox.
        local = ("local", PROXY, "dev", "lo", "table", "local", "src", SANDBOX)
        started.near.ip("route", "replace", *local)
        yield started


async def play(running: Egress, probes: Sequence[Probe] = PROBES) -> Mapping[str, Result]:
    """Try these probes as the sandbox."""
    running.forget()
    file, asked = running.folder / "posture.pyz", running.folder / "orders.json"
    file.write_bytes(script())
    asked.write_text(json.dumps(orders(probes, STAGE, "sandbox")))
    script_argv = ("/usr/bin/env", "python3", "-I", str(file), str(asked), "12")
    code, out, err = await running.run(*script_argv)
    assert code == 0, err
    found = dict(filter(None, map(found_in, map(json.loads, out.splitlines()))))
    results = judge(probes, "runc", found, {})
    assert (running.origin.hits, running.evil.hits) == ([], [])
    return {result.probe.name: result for result in results}


def bad(results: Mapping[str, Result]) -> dict[str, str]:
    return {
        name: f"{result.told}: {result.found.evidence}"
        for name, result in results.items()
        if not result.ok
    }


async def test_the_proxy_passes_every_probe(running: Egress) -> None:
    await running.apply(sandbox(POSTURE), other())
    results = await play(running)
    assert bad(results) == {}
    assert len(results) > 35


@pytest.mark.parametrize(
    ("rule", "caught"),
    [
        pytest.param(
            replace(POSTURE, host="*"), {"egress-unlisted-hosts", "egress-resolvers"}, id="any host"
        ),
        pytest.param(
            replace(POSTURE, paths=("/**",)), {"egress-paths", "egress-tunnel-path"}, id="any path"
        ),
        pytest.param(
            replace(POSTURE, methods=frozenset({"GET", "POST"})),
            {"egress-methods", "egress-tunnel-method"},
            id="writing",
        ),
        pytest.param(
            replace(POSTURE, ports=frozenset({22, 80, 443})), {"egress-odd-ports"}, id="any port"
        ),
        pytest.param(replace(POSTURE, upgrade=True), {"egress-upgrades"}, id="upgrades"),
    ],
)
async def test_a_policy_that_is_too_wide_is_caught(
    running: Egress, rule: Rule, caught: set[str]
) -> None:
    await running.apply(sandbox(rule), other())
    assert set(bad(await play(running))) >= caught


async def test_a_policy_that_cannot_be_read_is_caught(running: Egress) -> None:
    """Everything is refused then, which is safe; that nothing is let through is seen all the same."""
    await running.apply(sandbox(POSTURE), other())
    running.write_policy(b"{")
    listed = [probe for probe in PROBES if "unreachable" in probe.expected]
    failed, wanted = set[str](), {"egress-listed", "egress-tunnel-listed"}
    with suppress(TimeoutError):
        async with asyncio.timeout(20):
            while failed != wanted:
                failed = set(bad(await play(running, listed)))
    assert failed == wanted


async def test_a_token_that_opens_from_elsewhere_is_caught(running: Egress) -> None:
    foreign = replace(sandbox(POSTURE), token_sha256=other().token_sha256)
    await running.apply(foreign)
    probes = [probe for probe in PROBES if probe.wall is Wall.EGRESS_IDENTITY]
    assert set(bad(await play(running, probes))) == {"egress-siblings-token"}


async def test_a_proxy_that_lets_everything_through_passes_no_probe(tmp_path: Path) -> None:
    """HTTP/2 on, no policy, no identity, no look at what is asked: each is caught by its own probe."""
    certificate, key = tmp_path / "ca.pem", tmp_path / "ca.key"
    ensure(key, certificate, name="a test", now=datetime.now(UTC))  # noqa: TID251 - a real certificate
    with loose_proxy(certificate, key) as port:
        place = replace(STAGE.place, gateway="127.0.0.1", egress=port)
        asked = orders(PROBES, replace(STAGE, place=place), "sandbox")
        (tmp_path / "orders.json").write_text(json.dumps(asked))
        (tmp_path / "posture.pyz").write_bytes(script())
        argv = ("-I", tmp_path / "posture.pyz", tmp_path / "orders.json", "12")
        running = await asyncio.create_subprocess_exec(
            "python3", *argv, stdout=asyncio.subprocess.PIPE
        )
        out, _ = await running.communicate()
    found = dict(filter(None, map(found_in, map(json.loads, out.splitlines()))))
    results = judge(PROBES, "runc", found, {})
    assert [result.probe.name for result in results if result.ok] == []
    assert found["egress-http2-in-tunnel"].word == "h2"
