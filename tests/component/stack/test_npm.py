"""npm packages: whole and the pinned ones, or nothing and a sentence. npm is a script of the tests."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.stack.npm import NpmPackage, cached, fetch, integrity_of
from orchestrator.stack.steps import Step, StepFailed

BODY = b"the package"
PACKAGE = NpmPackage("@team/tool@1.0.0", "")
NPM = """\
#!/bin/sh
for arg; do case $arg in
--pack-destination=*) into=${{arg#*=}} ;;
--cache=*) cache=${{arg#*=}} ;;
esac; done
mkdir -p "$cache"
{does}
"""
Install = Callable[[str], None]


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Makes an npm that does what a line of shell says."""

    def install(does: str) -> None:
        program = tmp_path / "bin" / "npm"
        program.parent.mkdir(exist_ok=True)
        program.write_text(NPM.format(does=does))
        program.chmod(0o755)

    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin")
    return install


@pytest.fixture
def package(tmp_path: Path) -> NpmPackage:
    (tmp_path / "body").write_bytes(BODY)
    return replace(PACKAGE, integrity=integrity_of(tmp_path / "body"))


GIVES = f'printf %s "{BODY.decode()}" >"$into/team-tool-1.0.0.tgz"'


def a_step() -> Step:
    return Step("Images", lambda _: None)


def left(tmp_path: Path) -> list[str]:
    return [file.name for file in (tmp_path / "cache" / "npm").glob("*")]


def test_a_package_is_fetched_once(npm: Install, package: NpmPackage, tmp_path: Path) -> None:
    npm(GIVES)
    archive = fetch(package, cache=tmp_path / "cache", step=a_step())
    assert archive.read_bytes() == BODY
    assert left(tmp_path) == [archive.name]
    npm("exit 1")
    step = a_step()
    assert fetch(package, cache=tmp_path / "cache", step=step) == archive
    assert not step.worked


def test_a_damaged_one_is_fetched_again(npm: Install, package: NpmPackage, tmp_path: Path) -> None:
    npm(GIVES)
    kept = cached(package, tmp_path / "cache")
    kept.parent.mkdir(parents=True)
    kept.write_bytes(BODY[:4])
    assert fetch(package, cache=tmp_path / "cache", step=a_step()).read_bytes() == BODY


@pytest.mark.parametrize(
    ("does", "why"),
    [
        pytest.param('printf other >"$into/x.tgz"', "not the pinned package", id="another content"),
        pytest.param("echo no route >&2; exit 1", "no route", id="npm fails"),
        pytest.param("exit 0", "left no archive", id="npm does nothing"),
        pytest.param("exec sleep 60", "nothing has come for 1 s", id="nothing comes any more"),
    ],
)
def test_a_failed_download_says_why_and_leaves_nothing(
    does: str, why: str, npm: Install, package: NpmPackage, tmp_path: Path
) -> None:
    npm(does)
    with pytest.raises(StepFailed, match=why):
        fetch(package, cache=tmp_path / "cache", step=a_step(), stall_s=1)
    assert left(tmp_path) == []


def test_an_interrupted_download_ends_npm_and_leaves_nothing(
    npm: Install, package: NpmPackage, tmp_path: Path
) -> None:
    npm('echo $$ >"$into/../../pid"; printf half >"$cache/x"; exec sleep 60')

    def interrupt(_: str) -> None:
        if (tmp_path / "cache" / "pid").exists():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(package, cache=tmp_path / "cache", step=Step("x", lambda _: None, interrupt))
    assert left(tmp_path) == []
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "cache" / "pid").read_text()), 0)


def test_who_watches_sees_how_far_it_is(npm: Install, package: NpmPackage, tmp_path: Path) -> None:
    npm(f'head -c 3000000 /dev/zero >"$cache/x"; sleep 0.5; {GIVES}')
    seen: list[str] = []
    step = Step("Images", seen.append, seen.append)
    fetch(package, cache=tmp_path / "cache", step=step, size=6_000_000)
    assert seen[0] == "downloading @team/tool@1.0.0, 6 MB"
    assert seen[-1] == "downloading @team/tool@1.0.0: 3 of 6 MB"
