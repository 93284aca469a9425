"""Every rule finds what it is for, and the worst mode decides."""

import shlex
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.decision import Allow, Deny, Hold
from entrance.git.checks.facts import Brought, Commit, Person, Pointer, Sighting
from entrance.git.checks.judging import HELD_ALONG, judge
from entrance.git.checks.rules import NAMED, RULES, mode_of
from entrance.git.refs import NOT_ALONE
from entrance.push_policy import Mode, PushPolicy
from tests.unit.entrance.git.checks.pushes import (
    BLOB,
    MESSAGE,
    MORE,
    NEW,
    NONE,
    OLD,
    OTHER,
    REF,
    SESSION,
    WHOSE,
    a_change,
    a_commit,
    a_move,
    a_push,
    a_session,
)

SOMEBODY = Person("Bob", "bob@example.org")
LINK, SUBMODULE, PROGRAM = 0o120000, 0o160000, 0o100755
KEY = "a key of AWS"

BROKEN: dict[str, tuple[Brought, ...]] = {
    "rewind": (a_push(moves=(a_move(forward=False),)),),
    "no-commit": (a_push(moves=(a_move(kind="tag"),)), a_push(moves=(a_move(kind=None),))),
    "stray": (a_push(stray=frozenset({BLOB})), a_push(stray=frozenset({MORE}))),
    "committer": (
        a_push(commits=(a_commit(committer=SOMEBODY),)),
        a_push(commits=(a_commit(committer=replace(SOMEBODY, name="Ada (agent)")),)),
    ),
    "trailers": tuple(
        a_push(commits=(a_commit(message=message),))
        for message in (
            "",
            "Add it up\n",
            MESSAGE.replace("Agent-Run: R1\n", ""),
            MESSAGE.replace("R1", "R2"),
            MESSAGE.replace("R1", ""),
            MESSAGE.replace("TASK-7", "TASK-8"),
            MESSAGE.replace("PROJ/", ""),
            MESSAGE.replace("claude", "other"),
            MESSAGE + "agent-run: R2\n",
            MESSAGE + "\nOne more thing.\n",
            "Agent-Run: R2\n\n" + MESSAGE,
        )
    ),
    "author": (a_push(commits=(a_commit(author=SOMEBODY),)),),
    "secret": (
        a_push(sightings=(Sighting(BLOB, KEY, 3),)),
        a_push(sightings=(Sighting(NEW, KEY, 1),)),
        a_push(sightings=(Sighting(MORE, "a kind that nobody knows"),)),
    ),
    "likely-secret": (a_push(sightings=(Sighting(BLOB, "a URL with a password", 3),)),),
    "gate-path": (
        a_push(a_change(".github/workflows/ci.yml")),
        a_push(a_change("x/.GITATTRIBUTES", new_mode=0)),
        a_push(a_change(".github", new_mode=SUBMODULE)),
    ),
    "submodule": (
        a_push(a_change("lib", new_mode=SUBMODULE)),
        a_push(a_change("lib", old_mode=SUBMODULE, new_mode=0)),
    ),
    "leaving-link": (
        a_push(a_change("x/y", new_mode=LINK), links={BLOB: b"../../z"}),
        a_push(a_change("x/y", new_mode=LINK)),
    ),
    "executable-bit": (
        a_push(a_change("run.sh", new_mode=PROGRAM)),
        a_push(a_change("run.sh", old_mode=PROGRAM)),
        a_push(a_change("run.sh", old_mode=0, new_mode=PROGRAM)),
    ),
    "lfs-pointer": (a_push(pointers=(Pointer(BLOB, "e" * 64, 7),)),),
    "file-size": (a_push(),),
    "pack-size": (a_push(),),
    "path-name": (a_push(a_change(b"a\\b")), a_push(a_change(b"x/.GIT /config"))),
    "awkward-path": (a_push(a_change("aux.c")), a_push(a_change(b"\xff"))),
    "one-name-twice": (a_push(a_change("Makefile"), a_change("makefile")),),
    "unattributed": (a_push(),),
}
"""Pushes that break the rule of that name."""
SESSIONS = {
    "file-size": a_session(max_file_bytes=19),
    "pack-size": a_session(max_pack_bytes=399),
    "unattributed": replace(SESSION, authorship=None),
}
EVERY = [
    pytest.param(rule, push, id=f"{rule}-{at}")
    for rule, pushes in BROKEN.items()
    for at, push in enumerate(pushes)
]


def test_a_push_that_breaks_no_rule_is_allowed() -> None:
    assert judge(a_push(), SESSION).decision == Allow()
    assert not judge(a_push(), SESSION).findings


def test_each_rule_has_a_push_that_breaks_it() -> None:
    assert BROKEN.keys() == NAMED.keys()
    assert len(NAMED) == len(RULES)


@pytest.mark.parametrize(("rule", "push"), EVERY)
def test_what_breaks_a_rule_is_found_and_means_what_the_table_says(
    rule: str, push: Brought
) -> None:
    judged = judge(push, SESSIONS.get(rule, SESSION))
    assert [finding.mode for finding in judged.findings if finding.rule == rule] == [
        NAMED[rule].mode
    ]
    words = {Mode.NOTE: "allow", Mode.HOLD: "hold", Mode.DENY: "deny"}
    modes = [finding.mode for finding in judged.findings]
    assert judged.decision.word == words[modes[0]]
    assert modes == sorted(modes, key=lambda mode: -mode.weight)


@pytest.mark.parametrize(("rule", "push"), EVERY)
@pytest.mark.parametrize("mode", Mode)
def test_a_policy_sets_the_mode_but_for_what_is_never_allowed(
    rule: str, push: Brought, mode: Mode
) -> None:
    session = SESSIONS.get(rule, SESSION)
    policy = replace(session.push_policy, modes={rule: mode})
    judged = judge(push, replace(session, push_policy=policy))
    fixed = NAMED[rule].fixed
    assert [finding.mode for finding in judged.findings if finding.rule == rule] == [
        Mode.DENY if fixed else mode
    ]


@pytest.mark.parametrize(("rule", "push"), EVERY)
def test_a_refusal_names_the_rule_in_one_line_for_every_ref(rule: str, push: Brought) -> None:
    session = replace(SESSIONS.get(rule, SESSION))
    policy = replace(session.push_policy, modes={rule: Mode.DENY})
    judged = judge(push, replace(session, push_policy=policy))
    assert isinstance(judged.decision, Deny)
    assert f"[{rule}]" in judged.decision.reason
    assert judged.refusals.keys() == {REF}
    assert f"[{rule}]" in judged.refusals[REF]
    assert "{" not in judged.refusals[REF]
    assert judged.refusals[REF].isprintable()
    assert len(judged.refusals[REF].encode()) <= 1000


def test_each_ref_has_the_reason_that_is_its_own() -> None:
    """CASE-43."""
    moves = (a_move(), a_move(OTHER, NONE, MORE))
    bad = a_commit(MORE, NEW, committer=SOMEBODY)
    judged = judge(a_push(moves=moves, commits=(a_commit(), bad)), SESSION)
    assert judged.refusals[REF] == NOT_ALONE
    assert "[committer]" in judged.refusals[OTHER]
    assert f"commit {MORE[:10]}" in judged.refusals[OTHER]


def test_a_commit_below_both_branches_is_a_reason_for_both() -> None:
    moves = (a_move(), a_move(OTHER, NONE, MORE))
    bad = a_commit(committer=SOMEBODY)
    judged = judge(a_push(moves=moves, commits=(bad, a_commit(MORE, NEW))), SESSION)
    assert all("[committer]" in reason for reason in judged.refusals.values())


def test_a_branch_that_is_held_holds_the_others_of_its_push() -> None:
    moves = (a_move(), a_move(OTHER, NONE, MORE))
    push = a_push(
        a_change("AGENTS.md", commit=MORE), moves=moves, commits=(a_commit(), a_commit(MORE, NEW))
    )
    judged = judge(push, SESSION)
    assert isinstance(judged.decision, Hold)
    assert judged.refusals[REF] == HELD_ALONG
    assert "AGENTS.md" in judged.refusals[OTHER]
    assert judged.reasons == (str(judged.findings[0]),)


def test_an_earlier_run_of_the_task_may_have_had_another_model() -> None:
    message = MESSAGE.replace("R1", "R0").replace("claude", "earlier")
    assert judge(a_push(commits=(a_commit(message=message),)), SESSION).decision == Allow()


def test_a_reason_names_the_first_places_and_counts_the_rest() -> None:
    changes = [a_change(f"part{number}/AGENTS.md") for number in range(9)]
    reason = judge(a_push(*changes), SESSION).refusals[REF]
    assert "part0/AGENTS.md" in reason
    assert "part3/AGENTS.md" not in reason
    assert "and 6 more" in reason


def reason(*commits: Commit, old: str = OLD) -> str:
    move = a_move(old=old, new=commits[-1].oid)
    return judge(a_push(moves=(move,), commits=commits), SESSION).refusals[REF]


def test_the_command_that_mends_begins_at_what_the_host_has() -> None:
    bad, good = a_commit(message="x"), a_commit(MORE, NEW)
    assert f"run git rebase {OLD} --exec '" in reason(bad, good)
    assert f"run git rebase {OLD} --exec '" in reason(bad, good, old=NONE)
    root = a_commit(message="x", parents=())
    assert "run git rebase --root --exec '" in reason(root, good, old=NONE)


def test_the_last_commit_is_amended_and_a_merge_is_not_undone() -> None:
    bad, good = a_commit(message="x"), a_commit(MORE, NEW)
    assert ": run git -c trailer.ifexists=replace commit" in reason(bad)
    assert ": run git -c" in reason(a_commit(), a_commit(MORE, NEW, message="x"))
    merge = a_commit(MORE, parents=(NEW, "4" * 40))
    assert "in each of them, run git -c" in reason(bad, merge)
    assert "git rebase" not in reason(bad, merge)
    assert "git rebase" in reason(bad, good)


def test_a_command_can_not_be_broken_out_of() -> None:
    whose = replace(WHOSE, model="a:$(touch x)`y`\"';\n\\z")
    session = replace(SESSION, authorship=whose)
    told = judge(a_push(commits=(a_commit(message="x"),)), session).refusals[REF]
    command = told[told.index("git -c") :]
    assert shlex.split(command)[-1] == "Agent-Model: a:(touch x)y;z"


MODES = st.dictionaries(st.sampled_from(sorted(NAMED)), st.sampled_from(list(Mode)))


@given(MODES, st.permutations([push for pushes in BROKEN.values() for push in pushes]))
def test_no_order_of_what_is_brought_changes_the_decision(
    modes: dict[str, Mode], pushes: list[Brought]
) -> None:
    session = replace(SESSION, push_policy=PushPolicy(modes=modes))

    def together(parts: list[Brought]) -> Brought:
        return a_push(
            *(change for part in parts for change in part.changes),
            sightings=tuple(one for part in parts for one in part.sightings),
            pointers=tuple(one for part in parts for one in part.pointers),
            commits=tuple(dict.fromkeys(one for part in parts for one in part.commits)),
        )

    some = pushes[:5]
    one, other = judge(together(some), session), judge(together(some[::-1]), session)
    assert one.decision.word == other.decision.word
    assert [finding.rule for finding in one.findings] == [
        finding.rule for finding in other.findings
    ]
    assert one.refusals.keys() == other.refusals.keys()


@given(MODES, st.sampled_from([push for pushes in BROKEN.values() for push in pushes]))
def test_no_policy_lets_a_rewind_pass(modes: dict[str, Mode], push: Brought) -> None:
    """CASE-54."""
    session = replace(SESSION, push_policy=PushPolicy(modes=modes))
    rewound = replace(push, moves=(replace(push.moves[0], forward=False),))
    assert isinstance(judge(rewound, session).decision, Deny)


@given(MODES, MODES, st.sampled_from([push for pushes in BROKEN.values() for push in pushes]))
def test_a_stricter_policy_is_never_milder(
    modes: dict[str, Mode], more: dict[str, Mode], push: Brought
) -> None:
    words = ["allow", "hold", "deny"]

    def decided(given: dict[str, Mode]) -> int:
        session = replace(SESSION, push_policy=PushPolicy(modes=given))
        return words.index(judge(push, session).decision.word)

    stricter = {
        name: max((mode_of(rule, modes), more.get(name, Mode.NOTE)), key=lambda mode: mode.weight)
        for name, rule in NAMED.items()
    }
    assert decided(stricter) >= decided(modes)


@given(st.binary(min_size=1, max_size=300))
def test_a_path_is_said_in_one_line_of_what_can_be_seen(path: bytes) -> None:
    session = a_session(modes=dict.fromkeys(NAMED, Mode.DENY))
    judged = judge(a_push(a_change(path, new_mode=SUBMODULE)), session)
    assert judged.refusals[REF].isprintable()
    assert len(judged.refusals[REF].encode()) <= 1000
