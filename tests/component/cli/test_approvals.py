"""`sandgate approvals` and `sandgate policy`, against a real API."""

from dataclasses import replace
from pathlib import Path

import pytest

from entrance.git.preview import CommitLine, FileLine, Preview
from entrance.ports import Moved
from orchestrator.adapters.egress_files import registries_file, write_registries
from orchestrator.cli.codes import Code
from orchestrator.domain.access import Attempt
from orchestrator.domain.approval import Approval, ApprovalState, Scope
from orchestrator.domain.egress_compile import Compiled
from orchestrator.domain.presets import Registry, Unavailable, place_of
from orchestrator.domain.pushes import RecordedPush
from orchestrator.domain.task import TaskStatus
from orchestrator.stack.installation import Installation
from proxy.policy import Rule
from tests.fakes.clock import START
from tests.fakes.pushes import REASON, REF, ZERO, a_push
from tests.fakes.run import a_run
from tests.fakes.world import TASK
from tests.servers.api import Api
from tests.servers.command import sandgate_beside

URL = "https://docs.example/x"
EVIL = "x\x1b]0;owned\x07\u202e[red]y[/red]"
RECORDED = RecordedPush(
    41, START, "run1", TASK.id, "bot-rex", "git.example/a", "hold", f"a workflow {EVIL}",
    detail={"updates": [{"ref": REF, "old": ZERO, "new": "b" * 40}], "findings": [EVIL]},
)  # fmt: skip


def state(api: Api, item: Approval) -> ApprovalState:
    return api.inbox.store.items[item.id].state


async def test_what_waits_is_listed_and_shown_and_an_agents_words_do_nothing(api: Api) -> None:
    item = await api.asked(URL, EVIL)
    listed = await sandgate_beside("approvals", "ls")
    shown = await sandgate_beside("approvals", "show", item.id)
    for done in (listed, shown):
        assert done.code == 0
        assert item.id in done.out
        assert URL in done.out
        assert not set(done.out) & set("\x1b\x07\u202e")
    assert item.happens in shown.out


@pytest.mark.parametrize(
    ("options", "after"),
    [
        (("--once",), ApprovalState.ALLOWED_ONCE),
        (("--run", "--note", "go on", "--as", "boss"), ApprovalState.ALLOWED_RUN),
    ],
)
async def test_it_is_approved(api: Api, options: tuple[str, ...], after: ApprovalState) -> None:
    item = await api.asked(URL)
    done = await sandgate_beside("approvals", "approve", item.id, *options)
    assert (done.code, state(api, item)) == (0, after)
    assert f"is {after}" in done.out
    assert (await sandgate_beside("approvals", "ls", "--json")).json == []


async def test_a_standing_rule_says_what_it_would_have_allowed_and_is_listed_and_revoked(
    api: Api,
) -> None:
    item = await api.asked(URL)
    api.inbox.record.tried = [
        Attempt(START, "GET", "https://a.docs.example/en/1", "deny", "r1"),
        Attempt(START, "GET", "https://a.docs.example/de/1", "deny", "r1"),
    ]
    done = await sandgate_beside(
        "approvals", "approve", item.id, "--rule", "--until", "2030-12-31",
        "--host", "*.docs.example", "--path", "/en/**", "--for", "project",
    )  # fmt: skip
    assert done.code == 0
    assert "would have allowed 1 recorded attempts in 30 days (a.docs.example 1), 0 of" in done.out
    kept = api.inbox.store.items[item.id]
    assert kept.scope == Scope("project", "DEMO")
    assert kept.until
    assert kept.until.isoformat() == "2031-01-01T00:00:00+00:00"
    rules = await sandgate_beside("approvals", "rules")
    for word in (item.id, "*.docs.example /en/**", "project DEMO", "2031-01-01", "lead"):
        assert word in rules.out
    revoked = await sandgate_beside("approvals", "revoke", item.id)
    assert (revoked.code, state(api, item)) == (0, ApprovalState.REVOKED)
    assert (await sandgate_beside("approvals", "rules", "--json")).json == []


async def test_a_rule_that_allows_what_a_person_denied_needs_a_yes(api: Api) -> None:
    item = await api.asked(URL)
    denied = replace(item, id="d" * 15, state=ApprovalState.DENIED)
    api.inbox.store.items[denied.id] = denied
    api.inbox.record.tried = [Attempt(START, "GET", URL, "deny", "r1")]
    rule = ("approvals", "approve", item.id, "--rule", "--until", "2030-12-31")
    refused = await sandgate_beside(*rule)
    assert (refused.code, state(api, item)) == (Code.REFUSED, ApprovalState.WAITING)
    assert "1 of which a person denied" in refused.err
    done = await sandgate_beside(*rule, "--yes")
    assert (done.code, state(api, item)) == (0, ApprovalState.STANDING)


async def test_it_is_denied_with_words_from_a_file(api: Api, tmp_path: Path) -> None:
    item = await api.asked(URL)
    (tmp_path / "note").write_text("use the copy that we have")
    done = await sandgate_beside("approvals", "deny", item.id, "--note", f"@{tmp_path / 'note'}")
    assert (done.code, state(api, item)) == (0, ApprovalState.DENIED)
    assert api.inbox.store.items[item.id].note == "use the copy that we have"
    again = await sandgate_beside("approvals", "approve", item.id, "--once")
    assert again.code == Code.REFUSED
    assert "is denied by lead" in again.err


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--once", "--run"),
        ("--rule",),
        ("--rule", "--until", "tomorrow"),
        ("--rule", "--until", "2030-13-01"),
    ],
)
async def test_a_command_that_is_not_clear_decides_nothing(
    api: Api, options: tuple[str, ...]
) -> None:
    item = await api.asked(URL)
    done = await sandgate_beside("approvals", "approve", item.id, *options)
    assert (done.code, state(api, item)) == (Code.USAGE, ApprovalState.WAITING)


async def test_a_policy_that_is_not_in_force_yet_is_said(api: Api) -> None:
    item = await api.asked(URL)
    api.inbox.in_time = False
    done = await sandgate_beside("approvals", "approve", item.id, "--run")
    assert done.code == 0
    assert "has not taken it up yet" in done.out


async def test_presets_say_what_they_are_for_and_what_is_missing_here(here: Installation) -> None:
    url = "https://mirror.example/simple"
    found: dict[str, Registry | Unavailable] = {
        "python": Registry(url, (place_of(url),)),
        "npm": Unavailable("this machine has no npm"),
    }
    write_registries(registries_file(here.home), found)
    done = await sandgate_beside("policy", "presets", "--json")
    assert isinstance(done.json, list)
    available = {one["preset"]: one["available"] for one in done.json}
    assert available == {
        "pypi": True, "npm": False, "debian": False, "github-read": True, "docs": True,
    }  # fmt: skip
    assert "this machine has no npm" in (await sandgate_beside("policy", "presets")).out


@pytest.mark.usefixtures("here")
async def test_a_policy_is_checked_without_changing_anything(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("presets: [pypi]\nrules:\n  - {host: a.example, paths: ['/x/**']}\n")
    done = await sandgate_beside("policy", "check", str(file))
    assert done.code == 0
    assert "policy/a.example" in done.out
    assert "not in it: policy: the preset pypi is not available here" in done.out
    file.write_text("rules:\n  - host: a.example\n    methods: [FETCH]\n")
    refused = await sandgate_beside("policy", "check", str(file))
    assert refused.code == Code.REFUSED
    assert f"{file}, line 3" in refused.err


async def test_what_a_run_may_reach_is_shown(api: Api) -> None:
    run = a_run(task=TASK.id)
    await api.fakes.runs.create(run)
    api.reaches.runs[run.id] = Compiled((Rule(name="engagement/a", host="a.example"),))
    done = await sandgate_beside("policy", "show", run.id)
    assert done.code == 0
    assert "engagement/a" in done.out
    assert "policy 17 is in force" in done.out
    api.reaches.generation = 16
    late = await sandgate_beside("policy", "show", run.id)
    assert "policy 17 is wanted, but 16 in force" in late.out
    away = await sandgate_beside("policy", "show", TASK.id)
    assert away.code == 0


PREVIEW = Preview(
    (CommitLine("b" * 40, "rex <rex@x>", "2026-01-05T09:00:00Z", f"Change {EVIL}"),),
    (FileLine(".github/workflows/ci.yml", 2, 1),),
    f"diff --git a/x b/x\n-old\n+new {EVIL}\n" + "+more\n" * 20,
    cut=True,
)


async def test_a_held_push_is_shown_with_why_what_happens_and_its_diff(api: Api) -> None:
    item = await api.held()
    api.pushed.recorded = [replace(RECORDED, run=item.run)]
    api.pushes.kept.shown = PREVIEW
    shown = await sandgate_beside("approvals", "show", item.id, "--lines", "5")
    assert shown.code == 0
    for words in (item.happens, REASON, "bbbbbbbbbbbb", "ci.yml", "-old", "+new", "19 more lines"):
        assert words in shown.out, words
    assert "larger than what is shown" in shown.out
    assert not set(shown.out) & set("\x1b\x07\u202e")
    assert REASON in (await sandgate_beside("approvals", "ls")).out
    bare = await sandgate_beside("approvals", "show", item.id, "--no-diff")
    assert "+new" not in bare.out
    told = await sandgate_beside("approvals", "show", item.id, "--json")
    assert isinstance(told.json, dict)
    assert told.json["preview"]["files"] == [
        {"path": ".github/workflows/ci.yml", "added": 2, "removed": 1}
    ]
    assert not set(told.out) & set("\x1b\x07\u202e")


async def test_a_held_push_of_which_nothing_can_be_shown_is_shown_without(api: Api) -> None:
    item = await api.held()
    api.pushes.kept.pushes.clear()
    shown = await sandgate_beside("approvals", "show", item.id)
    assert shown.code == 0
    assert item.happens in shown.out
    assert "what it changes can't be shown" in shown.out


async def test_of_two_pushes_of_a_branch_it_is_said_that_one_can_arrive(api: Api) -> None:
    item = await api.held()
    run = await api.fakes.runs.get(item.run)
    other = a_push(run, id="e" * 32, moved=(Moved(REF, ZERO, "d" * 40),), decision=42)
    newer = await api.pushes.held(other)
    api.pushed.recorded = [replace(RECORDED, run=item.run)]
    shown = await sandgate_beside("approvals", "show", item.id, "--no-diff")
    assert f"{newer}: of the same branch" in shown.out


async def test_a_push_is_approved_without_saying_once(api: Api) -> None:
    item = await api.held()
    done = await sandgate_beside("approvals", "approve", item.id)
    assert (done.code, state(api, item)) == (0, ApprovalState.RELEASED)
    assert "is released, as lead" in done.out


async def test_a_push_that_the_host_has_no_place_for_is_said(api: Api) -> None:
    item = await api.held()
    api.pushes.hosts.refs[REF] = "c" * 40
    done = await sandgate_beside("approvals", "approve", item.id, "--once")
    assert (done.code, state(api, item)) == (0, ApprovalState.CONFLICT)
    assert "is at cccccccccccc already" in done.out


async def test_pushes_are_listed_and_shown(api: Api) -> None:
    item = await api.held()
    api.pushed.recorded = [replace(RECORDED, run=item.run)]
    listed = await sandgate_beside("push", "ls", "--state", "held")
    shown = await sandgate_beside("push", "show", "41")
    for done in (listed, shown):
        assert done.code == 0
        assert "agent/DEMO-7/fix" in done.out
        assert not set(done.out) & set("\x1b\x07\u202e")
    assert f"approvals approve|deny {item.id}" in shown.out
    assert (await sandgate_beside("push", "ls", "--state", "lost")).code == Code.REFUSED


async def test_a_task_is_not_approved_while_its_push_is_held(api: Api) -> None:
    await api.held()
    api.fakes.tracker.tasks[TASK.id] = replace(TASK, status=TaskStatus.IN_REVIEW)
    refused = await sandgate_beside("task", "approve", TASK.id)
    assert refused.code == Code.REFUSED
    assert "a push of it is held still" in refused.err
