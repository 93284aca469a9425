"""PID 1's duties, as far as they show without a container: orphans, sweep, limits, other users."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.component.execd.daemon import Daemon, gone, running, sandbox_python, until

ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
AS_NOBODY = ["setpriv", "--reuid=64999", "--regid=64999", "--clear-groups"]


async def test_orphans_are_adopted_and_reaped(execd: Daemon) -> None:
    """CASE-78."""
    await execd.commands.run("for i in 1 2 3 4 5; do (setsid sh -c 'sleep 0.1' &) ; done")

    async def none_left() -> bool:
        return execd.children() == set()

    await until(none_left)
    assert execd.children() == set()


async def test_the_sweep_ends_what_a_run_left_behind_in_any_session(execd: Daemon) -> None:
    done = await execd.commands.run(
        "setsid sh -c 'trap \"\" TERM INT HUP; sleep 600' >/dev/null 2>&1 & echo $!; sleep 0.2"
    )
    left = int(done.logs.stdout[0].text)
    command = await execd.background("sleep 600")
    async with execd.http.post("/sweep") as answer:
        swept = await answer.json()
    assert answer.status == 200
    assert swept["remaining"] == 0
    assert swept["count"] >= 2
    assert left in {process["pid"] for process in swept["killed"]}
    assert (await execd.ended(command))["exit_code"] == 137
    await gone(left)


async def test_the_sweep_spares_the_entrypoint_and_execd_does_not_need_it(
    pyz: Path, tmp_path: Path
) -> None:
    arguments = ("--init", "tail", "-f", "/dev/null")
    async with running(pyz, tmp_path, arguments=arguments) as execd:
        (entrypoint,) = execd.children()
        async with execd.http.post("/sweep") as answer:
            assert (await answer.json())["count"] == 0
        assert execd.children() == {entrypoint}
        fds = {str(Path(f"/proc/{entrypoint}/fd/{fd}").readlink()) for fd in (0, 1, 2)}
        assert fds == {"/dev/null"}
        os.kill(entrypoint, signal.SIGKILL)

        async def reaped() -> bool:
            return execd.children() == set()

        await until(reaped)
        assert (await execd.commands.run("true")).exit_code == 0


async def test_memory_pressure_takes_a_command_before_execd(execd: Daemon) -> None:
    own = int(Path(f"/proc/{execd.pid}/oom_score_adj").read_text())
    done = await execd.commands.run("cat /proc/self/oom_score_adj")
    assert int(done.logs.stdout[0].text) >= max(500, own)
    assert int(Path(f"/proc/{execd.pid}/oom_score_adj").read_text()) == own


@ROOT
async def test_a_command_cannot_read_execd_though_it_has_its_uid(pyz: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    async with running(pyz, tmp_path, prefix=AS_NOBODY) as execd:
        probes = ["cat /proc/$P/environ", "cat /proc/$P/mem", "ls /proc/$P/fd", "cat /proc/$P/maps",
                  "echo x >/proc/$P/mem", "readlink /proc/$P/exe"]  # fmt: skip
        for probe in probes:
            done = await execd.commands.run(f"P=$PPID; {probe}")
            assert done.exit_code != 0, probe
            assert "ermission denied" in "".join(m.text for m in done.logs.stderr) or "exe" in probe


@ROOT
async def test_another_user_is_refused_to_who_is_not_root(pyz: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    async with running(pyz, tmp_path, prefix=AS_NOBODY) as execd:
        for body, status in [({"uid": 0}, 403), ({"uid": 64999, "gid": 64999}, 200)]:
            async with execd.http.post("/command", json={"command": "id -u", **body}) as answer:
                assert answer.status == status
                assert status == 200 or "64999" in (await answer.json())["message"]


@ROOT
async def test_at_the_process_limit_execd_answers_and_says_errno_11(
    pyz: Path, tmp_path: Path
) -> None:
    tmp_path.chmod(0o777)
    prefix = ["setpriv", "--reuid=64998", "--regid=64998", "--clear-groups", "prlimit", "--nproc=8"]
    async with running(pyz, tmp_path, prefix=prefix) as execd:
        errors: list[str] = []
        for _ in range(10):
            async with execd.http.post(
                "/command", json={"argv": ["sleep", "600"], "background": True}
            ) as answer:
                text = await answer.text()
            errors += [text] if '"error"' in text else []
        assert errors
        assert all("[Errno 11]" in error for error in errors)
        async with asyncio.timeout(2), execd.http.get("/ping") as answer:
            assert answer.status == 200
        async with execd.http.get("/files/info?path=/etc") as answer:
            assert answer.status == 200  # threads were made when there was room for them
        async with execd.http.post("/sweep") as answer:
            assert (await answer.json())["remaining"] == 0

        async def starts_again() -> bool:  # the kernel's count follows a little later
            return (await execd.commands.run("true")).exit_code == 0

        await until(starts_again)


@pytest.mark.parametrize("python", sorted({sandbox_python(), sys.executable}))
async def test_execd_runs_on_the_sandboxs_python_and_on_newer_ones(
    pyz: Path, tmp_path: Path, python: str
) -> None:
    async with running(pyz, tmp_path, python=python) as execd:
        assert (await execd.commands.run("exit 3")).exit_code == 3
        await execd.files.write_file(f"{tmp_path}/a", "x")
        assert await execd.files.read_file(f"{tmp_path}/a") == "x"
        assert (await execd.metrics.get_metrics("any")).cpu_count > 0


def test_bootstrap_refuses_to_start_without_a_token() -> None:
    bootstrap = Path(__file__).parents[3] / "images" / "execd" / "bootstrap.sh"
    done = subprocess.run(
        ["sh", bootstrap],
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 78
    assert b"EXECD_ACCESS_TOKEN" in done.stderr


def test_bootstrap_closes_the_way_to_the_engines_log_and_sets_limits(tmp_path: Path) -> None:
    source = Path(__file__).parents[3] / "images" / "execd" / "bootstrap.sh"
    (tmp_path / "bootstrap.sh").write_bytes(source.read_bytes())
    fake = tmp_path / "execd"
    fake.write_text(
        "#!/bin/sh\nfds=$(readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2)\n"
        '{ echo "$@"; umask; ulimit -c; echo "$fds"; } >"$OUT"\n'
    )
    fake.chmod(0o755)
    done = subprocess.run(
        ["sh", tmp_path / "bootstrap.sh", "tail", "-f", "x"],
        env={"PATH": "/usr/bin:/bin", "EXECD_ACCESS_TOKEN": "t", "OUT": str(tmp_path / "out")},
        capture_output=True,
        timeout=20,
        check=True,
    )
    assert (done.stdout, done.stderr) == (b"", b"")
    lines = (tmp_path / "out").read_text().split("\n")[:-1]
    assert lines == ["--init tail -f x", "0022", "0", *["/dev/null"] * 3]
