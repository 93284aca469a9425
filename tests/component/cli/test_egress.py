"""`sandgate egress`: the log on the screen, in files, and at collectors."""

import csv
import io
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import orjson
import pytest

from orchestrator.cli.codes import Code
from orchestrator.stack.installation import Installation
from tests.fakes.egress_log import FakeEgressLog
from tests.servers import collector as collectors
from tests.servers.certificates import certificate
from tests.servers.command import sandgate, sandgate_beside
from tests.waiting import until

EVIL = "\x1b]0;owned\x07\x1b[2J\u202eexe.\x9bA\nrm -rf"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


@pytest.fixture
def log(here: Installation) -> FakeEgressLog:
    log = FakeEgressLog(here.data("egress"))
    log.attempt()
    log.decided(
        decision="deny",
        host="evil.example",
        url="https://evil.example/",
        reason="no rule allows evil.example",
        run="run-2",
    )
    log.seal()
    log.attempt(host="b.files.example", url="https://b.files.example/b", run="run-2")
    log.decided(decision="hold", door="mcp", kind="tool_call", method="", url="", host="",
                subject="polarion/comment", reason="comment changes polarion")  # fmt: skip
    return log


@pytest.mark.usefixtures("log")
def test_attempts_are_listed_and_totalled_by_host() -> None:
    done = sandgate("egress", "ls")
    text = done.out
    first, second, third, fourth = text.split("\n\n")[0].splitlines()[1:]
    assert first.split() == [
        "2026-11-30", "12:00:02", "allow", "egress", "GET", "https://files.example/a", "200", "312",
        "B", "4.0", "KiB", "34", "run-1", "pypi",
    ]  # fmt: skip
    assert second.endswith("run-2  no rule allows evil.example")
    assert "b.files.example" in third
    assert "polarion/comment" in fourth
    totals = [line.split() for line in text.split("\n\n")[1].splitlines()]
    assert totals[0] == ["host", "attempts", "allowed", "held", "denied", "sent", "got"]
    assert totals[1] == ["b.files.example", "1", "1", "0", "0", "312", "B", "4.0", "KiB"]
    assert totals[-1] == ["evil.example", "1", "0", "0", "1", "0", "B", "0", "B"]
    assert totals[-2][:3] == ["(no", "host)", "1"]


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(
    ("options", "seqs"),
    [
        ([], [2, 4, 6, 8]),
        (["--run", "run-2"], [4, 6]),
        (["--run", "run-2", "--run", "run-1"], [2, 4, 6, 8]),
        (["--host", "files.example"], [2, 6]),
        (["--decision", "deny", "--decision", "hold"], [4, 8]),
        (["--door", "mcp"], [8]),
        (["--since", "2026-11-30T12:00:06"], [6, 8]),
        (["--until", "2026-11-30T12:00:06"], [2, 4]),
        (["--agent", "nobody"], []),
        (["--limit", "1"], [8]),
    ],
)
def test_filters_pick_attempts(options: list[str], seqs: list[int]) -> None:
    found = sandgate("egress", "ls", "--json", *options).json
    assert isinstance(found, dict)
    assert [one["seq"] for one in found["attempts"]] == seqs
    if options == ["--run", "run-2"]:
        assert found["attempts"][0]["decided_at"] == "2026-11-30T12:00:04+00:00"
        assert found["attempts"][0]["detail"] == {}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--since", "soon"], "write 15m"),
        (["--decision", "maybe"], "one of allow, deny, hold"),
        (["--door", "window"], "one of egress, entrance"),
    ],
)
@pytest.mark.usefixtures("log")
def test_options_that_make_no_sense_are_said(options: list[str], said: str) -> None:
    done = sandgate("egress", "ls", *options)
    assert (done.code, said in done.err) == (Code.USAGE, True)


@pytest.mark.parametrize("command", [["ls"], ["tail"], ["query", "SELECT 1"], ["export", "-"]])
def test_where_there_is_no_log_that_is_said(here: Installation, command: list[str]) -> None:
    here.data("egress").rmdir() if here.data("egress").exists() else None
    done = sandgate("egress", *command)
    assert (done.code, "there is no egress log at" in done.err) == (Code.NOT_FOUND, True)


def test_nothing_of_that_kind_is_said(log: FakeEgressLog) -> None:
    assert sandgate("egress", "ls", "--run", "none").out == "nothing of that kind is in the log\n"
    assert log.seq


@pytest.mark.skipif(
    os.geteuid() != 0, reason="changing who one is needs root (`make test` is run as root)"
)
def test_who_may_not_read_the_log_is_told_what_to_do(log: FakeEgressLog) -> None:
    log.folder.chmod(0o700)
    words = ["egress", "ls", "--log", str(log.folder)]
    script = f"import os; from orchestrator.cli.main import main; os.setuid(65534); main({words!r})"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, "as its user; --log FOLDER" in done.stderr) == (Code.REFUSED, True)


@pytest.mark.usefixtures("log")
def test_the_tail_shows_decisions_and_what_came_of_them() -> None:
    done = sandgate("egress", "tail", "--no-follow", "-n", "3")
    lines = done.out.splitlines()
    assert [line.split()[1:3] for line in lines] == [
        ["✗", "deny"], ["■", "opened"], ["✓", "allow"], ["└", "#6"], ["⏸", "hold"],
    ]  # fmt: skip
    assert lines[0].startswith("12:00:04 ✗ deny  egress   GET https://evil.example/  pypi no rule")
    assert lines[3] == "12:00:07   └ #6 ok, 200, 312 B sent, 4.0 KiB got, 34 ms"


@pytest.mark.usefixtures("log")
def test_a_tail_with_a_filter_shows_only_that() -> None:
    done = sandgate("egress", "tail", "--no-follow", "--host", "b.files.example", "--json")
    assert [orjson.loads(line)["seq"] for line in done.out.splitlines()] == [6, 7]


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize("count", ["0"])
def test_a_tail_may_begin_with_nothing(count: str) -> None:
    assert sandgate("egress", "tail", "--no-follow", "-n", count).out == ""


@pytest.fixture
def tail(here: Installation, log: FakeEgressLog) -> Iterator["subprocess.Popen[str]"]:
    assert log.seq
    command = [sys.executable, "-m", "orchestrator.cli", "egress", "tail", "-n", "1"]
    script = "from orchestrator.cli.entry import main; main()"
    with subprocess.Popen(
        [sys.executable, "-u", "-c", script, *command[3:]],
        env={"SANDGATE_HOME": str(here.home), "PATH": os.environ["PATH"]},  # noqa: TID251 - a real shell
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        process.kill()


def test_a_tail_follows_over_a_rotation_until_it_is_stopped(
    tail: "subprocess.Popen[str]", log: FakeEgressLog
) -> None:
    assert tail.stdout
    assert "hold" in tail.stdout.readline()
    log.attempt(url="https://files.example/one")
    assert "files.example/one" in tail.stdout.readline()
    assert "└ #9" in tail.stdout.readline()
    log.seal()
    log.attempt(url="https://files.example/two")
    assert "opened 3" in tail.stdout.readline()
    assert "files.example/two" in tail.stdout.readline()
    tail.send_signal(signal.SIGINT)
    assert tail.wait(20) == Code.INTERRUPTED


@pytest.mark.usefixtures("log")
def test_a_query_answers_in_three_forms() -> None:
    sql = "SELECT decision, count(*) AS n, max(detail) d FROM attempts GROUP BY ALL ORDER BY ALL"
    table = sandgate("egress", "query", sql).out.splitlines()
    assert [line.split() for line in table] == [["decision", "n", "d"], ["allow", "2"], ["deny", "1"],
                                                ["hold", "1"]]  # fmt: skip
    assert sandgate("egress", "query", sql, "--json").json == [
        {"decision": word, "n": n, "d": {}} for word, n in (("allow", 2), ("deny", 1), ("hold", 1))
    ]
    read = list(csv.reader(io.StringIO(sandgate("egress", "query", sql, "--format", "csv").out)))
    assert read[:2] == [["decision", "n", "d"], ["allow", "2", ""]]


@pytest.mark.usefixtures("log")
def test_a_query_may_come_from_stdin_and_says_when_it_was_cut() -> None:
    done = sandgate(
        "egress", "query", "-", "--rows", "2", "--json", stdin=b"SELECT seq FROM attempts"
    )
    assert isinstance(done.json, list)
    assert len(done.json) == 2
    assert "more than these 2 rows" in done.err


@pytest.mark.usefixtures("log")
def test_a_query_that_does_more_than_read_is_refused() -> None:
    done = sandgate("egress", "query", "SELECT * FROM read_text('/etc/passwd')")
    assert (done.code, done.out) == (Code.REFUSED, "")
    assert "read_text may not be read from here" in done.err


@pytest.mark.parametrize(
    "command",
    [
        ["ls"],
        ["ls", "--json"],
        ["tail", "--no-follow"],
        ["tail", "--no-follow", "--json"],
        ["query", "FROM attempts"],
        ["query", "FROM attempts", "--json"],
        ["query", "FROM attempts", "--format", "csv"],
        ["query", 'SELECT 1 AS "a\x1b[2J"'],
        ["query", 'SELECT "nope\x1b[2J" FROM attempts'],
        ["export", "-"],
        ["export", "-", "--format", "jsonl"],
    ],
)
def test_what_a_sandbox_wrote_never_moves_the_terminal(
    log: FakeEgressLog, command: list[str]
) -> None:
    for field in ("url", "subject", "host", "reason", "rule", "run", "agent", "sni", "door"):
        log.attempt(**{field: EVIL})
    log.attempt(cause={"tool": EVIL}, detail={EVIL: EVIL})
    log.line("opened", segment=EVIL)
    done = sandgate("egress", *command)
    assert CONTROL.findall(done.out + done.err) == []
    assert "owned" in done.out or "nope" in done.err or "a\N{REPLACEMENT CHARACTER}" in done.out


def test_an_export_to_a_file_goes_on_where_it_ended(log: FakeEgressLog, tmp_path: Path) -> None:
    out = tmp_path / "siem.jsonl"
    done = sandgate("egress", "export", str(out), "--json")
    assert isinstance(done.json, dict)
    assert (done.json["sent"], done.json["first"], done.json["last"]) == (8, 1, 8)
    log.attempt()
    done = sandgate("egress", "export", str(out))
    assert done.out.startswith("2 records sent, from 9 to 10; the cursor is ")
    events = [orjson.loads(line) for line in out.read_bytes().splitlines()]
    assert [one["metadata"]["sequence"] for one in events] == list(range(1, 11))
    assert {one["metadata"]["tenant_uid"] for one in events} == {"sg"}
    done = sandgate("egress", "export", str(out), "--from-start", "--json")
    assert isinstance(done.json, dict)
    assert done.json["sent"] == 10


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(("tool", "subjects"), [("comment", ["polarion/comment"]), ("drop", [])])
def test_an_export_has_the_calls_of_the_tools_that_are_wanted(
    tool: str, subjects: list[str]
) -> None:
    done = sandgate("egress", "export", "-", "--format", "jsonl", "--tool", tool)
    assert [orjson.loads(line)["subject"] for line in done.out.splitlines()] == subjects


@pytest.mark.usefixtures("log")
def test_an_export_as_parquet_has_the_attempts_that_are_wanted(tmp_path: Path) -> None:
    out = tmp_path / "run's.parquet"
    done = sandgate("egress", "export", str(out), "--format", "parquet", "--run", "run-2")
    assert done.out == f"2 attempts are in {out}\n"
    again = sandgate(
        "egress", "export", str(out), "--format", "parquet", "--run", "run-2", "--json"
    )
    assert again.json == {"attempts": 2, "file": str(out)}
    found = duckdb.read_parquet(str(out)).fetchall()
    assert [row[0] for row in found] == [4, 6]
    assert out.stat().st_mode & 0o777 == 0o600
    done = sandgate("egress", "export", "udp://siem", "--to", "syslog", "--format", "parquet")
    assert done.code == Code.USAGE


@pytest.mark.usefixtures("log")
async def test_an_export_by_http_shows_its_secret_to_nobody_else(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("Bearer of-the-siem\n")
    with collectors.http() as got:
        done = await sandgate_beside(
            "egress", "export", got.url, "--to", "http", "--body", "array",
            "--header", f"Authorization=@{tmp_path / 'token'}",
        )  # fmt: skip
    assert done.code == 0
    assert "of-the-siem" not in done.out + done.err
    assert {post.headers["Authorization"] for post in got.got} == {"Bearer of-the-siem"}
    assert sum(len(orjson.loads(post.body)) for post in got.got) == 8


@pytest.mark.usefixtures("log")
async def test_an_export_over_syslog_and_tls(tmp_path: Path) -> None:
    made = certificate(tmp_path)
    with collectors.tcp(made.context) as got:
        done = await sandgate_beside(
            "egress", "export", f"tls://127.0.0.1:{got.port}", "--to", "syslog",
            "--ca", str(made.certificate), "--decision", "deny",
        )  # fmt: skip
        await until(lambda: bool(got.got))
    assert done.code == 0
    assert b'"disposition":"Blocked"' in got.got[0]
    assert len(got.got) == 1


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(
    "command",
    [
        ["siem.example", "--to", "syslog"],
        ["siem.example", "--to", "http"],
        ["https://siem.example", "--to", "http", "--header", "Authorization"],
    ],
)
def test_targets_that_make_no_sense_are_said(command: list[str]) -> None:
    assert sandgate("egress", "export", *command).code == Code.USAGE


def test_a_log_that_lies_elsewhere_needs_no_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDGATE_HOME", str(tmp_path / "none"))
    log = FakeEgressLog(tmp_path / "copy")
    log.attempt()
    where = ["--log", str(log.folder)]
    assert sandgate("egress", "ls", *where).code == 0
    assert sandgate("egress", "export", "out", *where).code == Code.USAGE
    kept = ["--cursor", str(tmp_path / "cursor")]
    assert sandgate("egress", "export", str(tmp_path / "out"), *where, *kept).code == 0


def test_an_export_that_is_killed_in_the_middle_doubles_and_loses_nothing(
    here: Installation, log: FakeEgressLog, tmp_path: Path
) -> None:
    for number in range(5000):
        log.attempt(subject=f"attempt {number}" * 20)
    out = tmp_path / "out.jsonl"
    script = "from orchestrator.cli.entry import main; main()"
    words = ["egress", "export", str(out), "--format", "jsonl"]
    environment = {"SANDGATE_HOME": str(here.home), "PATH": os.environ["PATH"]}  # noqa: TID251
    with subprocess.Popen([sys.executable, "-c", script, *words], env=environment) as process:
        late = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < late:
            if out.exists() and out.stat().st_size:
                process.kill()
            time.sleep(0.001)
    assert process.returncode == -signal.SIGKILL
    assert sandgate(*words).code == 0
    found = [orjson.loads(line)["seq"] for line in out.read_bytes().splitlines()]
    assert found == list(range(1, log.seq + 1))
