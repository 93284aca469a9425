"""The table of what a run may push."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.decision import Allow, Deny
from entrance.git.refs import NOT_ALONE, RefUpdate, decide_push, decide_ref

NONE, ONE, TWO = "0" * 40, "1" * 40, "2" * 40
OWN = "refs/heads/agent/TASK-7"


def update(ref: str | bytes, old: str = NONE, new: str = ONE) -> RefUpdate:
    return RefUpdate(old, new, ref if isinstance(ref, bytes) else ref.encode())


@pytest.mark.parametrize(
    "ref",
    [
        f"{OWN}/fix",
        f"{OWN}/fix/deeper-1.2_x+y",
        f"{OWN}/a/b/c/d/e/f/g",
        f"{OWN}/TASK-7",
        f"{OWN}/{'x' * 100}",
    ],
)
def test_a_branch_below_the_tasks_namespace_is_allowed(ref: str) -> None:
    assert decide_ref(update(ref), "TASK-7") == Allow()
    assert decide_ref(update(ref, ONE, TWO), "TASK-7") == Allow()


@pytest.mark.parametrize(
    ("ref", "reason"),
    [
        pytest.param("refs/tags/v1", "tags may not", id="tag"),
        pytest.param("refs/tags/agent/TASK-7/x", "tags may not", id="tag below agent"),
        pytest.param("refs/notes/commits", "notes may not", id="notes"),
        pytest.param("refs/replace/" + ONE, "only branches", id="replace"),
        pytest.param("refs/pull/1/head", "only branches", id="pull request"),
        pytest.param("refs/agent/TASK-7/x", "only branches", id="no branch"),
        pytest.param("refs/heads", "only branches", id="heads itself"),
        pytest.param("HEAD", "only branches", id="HEAD"),
        pytest.param("", "only branches", id="nothing"),
        pytest.param("main", "only branches", id="short name"),
        pytest.param("refs/heads/main", "only branches under agent/TASK-7/", id="main"),
        pytest.param("refs/heads/agentx/TASK-7/y", "only branches under", id="agentx"),
        pytest.param("refs/heads/Agent/TASK-7/x", "only branches under", id="case"),
        pytest.param("refs/heads/refs/heads/agent/TASK-7/x", "only branches under", id="twice"),
        pytest.param("refs/heads/agent", "is a namespace", id="agent"),
        pytest.param(OWN, "is a namespace", id="the task's own"),
        pytest.param("refs/heads/agent/TASK-8/x", "another task", id="another task"),
        pytest.param("refs/heads/agent/TASK-8", "another task", id="another task itself"),
        pytest.param("refs/heads/agent/TASK-77/x", "another task", id="longer id"),
        pytest.param("refs/heads/agent/task-7/x", "another task", id="lower case"),
        pytest.param("refs/heads/agent//x", "another task", id="empty part"),
        pytest.param("refs/heads/agent/../main", "another task", id="up"),
        pytest.param(f"{OWN}/", "name not allowed", id="nothing below"),
        pytest.param(f"{OWN}//x", "name not allowed", id="empty part below"),
        pytest.param(f"{OWN}/x/", "name not allowed", id="trailing slash"),
        pytest.param(f"{OWN}/../main", "name not allowed", id="up below"),
        pytest.param(f"{OWN}/a..b", "name not allowed", id="two dots"),
        pytest.param(f"{OWN}/x.lock", "name not allowed", id="lock"),
        pytest.param(f"{OWN}/x.lock/y", "name not allowed", id="lock in the middle"),
        pytest.param(f"{OWN}/x.", "name not allowed", id="trailing dot"),
        pytest.param(f"{OWN}/.x", "name not allowed", id="leading dot"),
        pytest.param(f"{OWN}/-x", "name not allowed", id="option"),
        pytest.param(f"{OWN}/--upload-pack=x", "name not allowed", id="long option"),
        pytest.param(f"{OWN}/a b", "name not allowed", id="space"),
        pytest.param(f"{OWN}/a\nrefs/heads/main", "name not allowed", id="newline"),
        pytest.param(f"{OWN}/x\n", "name not allowed", id="trailing newline"),
        pytest.param(f"{OWN}/\u0430dmin", "name not allowed", id="look-alike letter"),
        pytest.param(f"{OWN}/a@{{1}}", "name not allowed", id="reflog"),
        pytest.param(f"{OWN}/a/b/c/d/e/f/g/h", "name not allowed", id="too deep"),
        pytest.param(f"{OWN}/{'x' * 101}", "name not allowed", id="part too long"),
        pytest.param(f"{OWN}/{'x' * 90}/{'y' * 90}", "name not allowed", id="too long"),
        pytest.param(OWN.encode() + b"/\xff", "name not allowed", id="no text"),
    ],
)
def test_any_other_ref_is_denied_with_a_sentence(ref: str | bytes, reason: str) -> None:
    """CASE-41 to 47, 53."""
    decision = decide_ref(update(ref), "TASK-7")
    assert isinstance(decision, Deny)
    assert reason in decision.reason


def test_a_deletion_is_denied() -> None:
    """CASE-54."""
    assert decide_ref(update(f"{OWN}/x", ONE, NONE), "TASK-7") == Deny(
        "branches may not be deleted"
    )


@pytest.mark.parametrize("item", ["", "a/b", "..", "-x", "x.lock", "x.", "a b", "x\n", "{own}"])
def test_a_task_whose_id_names_no_branch_may_push_nothing(item: str) -> None:
    decision = decide_ref(update(f"refs/heads/agent/{item}/x"), item)
    assert isinstance(decision, Deny)
    assert "may push nothing" in decision.reason


def test_one_refused_ref_refuses_all_and_each_has_its_reason() -> None:
    """CASE-43, CASE-44."""
    verdict = decide_push([update(f"{OWN}/ok"), update("refs/heads/main")], "TASK-7")

    why = "this run may push only branches under agent/TASK-7/"
    assert verdict.decision == Deny(f"refs/heads/main: {why}")
    assert verdict.refusals == {f"{OWN}/ok".encode(): NOT_ALONE, b"refs/heads/main": why}


def test_the_same_branch_twice_is_refused() -> None:
    verdict = decide_push([update(f"{OWN}/x"), update(f"{OWN}/x", new=TWO)], "TASK-7")
    assert verdict.refusals == {f"{OWN}/x".encode(): "the same branch twice in one push"}


def test_a_push_of_own_branches_is_allowed_whole() -> None:
    verdict = decide_push([update(f"{OWN}/x"), update(f"{OWN}/y")], "TASK-7")
    assert (verdict.decision, verdict.refusals) == (Allow(), {})


@given(st.binary(max_size=60), st.sampled_from(["TASK-7", "A", "x_1"]))
def test_whatever_is_allowed_lies_below_the_namespace_in_plain_ascii(
    below: bytes, item: str
) -> None:
    own = f"refs/heads/agent/{item}/".encode()
    for ref in (below, own + below):
        if isinstance(decide_ref(RefUpdate(NONE, ONE, ref), item), Allow):
            assert ref.startswith(own)
            assert ref.isascii()
            assert b".." not in ref
            assert len(ref.split(b"/")) >= 5


def test_a_name_that_is_no_text_can_still_be_told() -> None:
    assert update(b"refs/heads/\xff").name == "refs/heads/\\xff"


@pytest.mark.parametrize("ref", ["refs/heads/agent/TASK-6/fix", "refs/heads/agent/TASK-7/fix"])
def test_a_task_that_goes_on_with_another_may_push_to_its_branches(ref: str) -> None:
    for old in (NONE, TWO):
        assert decide_ref(update(ref, old), "TASK-7", {"TASK-6"}) == Allow()
    assert decide_push([update(ref)], "TASK-7", {"TASK-6"}).decision == Allow()


@pytest.mark.parametrize(
    ("ref", "reason"),
    [
        ("refs/heads/agent/TASK-6", "is a namespace"),
        ("refs/heads/agent/TASK-6/x.lock", "name not allowed"),
        ("refs/heads/agent/TASK-66/x", "another task"),
        ("refs/heads/agent/TASK-5/x", "(it may go on with agent/TASK-6/, too)"),
        ("refs/heads/main", "only branches under agent/TASK-7/"),
        ("refs/tags/agent/TASK-6/x", "tags may not"),
    ],
)
def test_no_more_than_that_is_opened(ref: str, reason: str) -> None:
    decision = decide_ref(update(ref), "TASK-7", {"TASK-6"})
    assert isinstance(decision, Deny)
    assert reason in decision.reason


def test_a_task_without_a_namespace_gets_none_by_going_on() -> None:
    assert isinstance(decide_ref(update("refs/heads/agent/TASK-6/x"), "", {"TASK-6"}), Deny)


def test_nothing_may_be_deleted_of_what_is_gone_on_with() -> None:
    decision = decide_ref(update("refs/heads/agent/TASK-6/x", ONE, NONE), "TASK-7", {"TASK-6"})
    assert isinstance(decision, Deny)


ODD = [
    "",
    ".",
    "..",
    "a/b",
    "TASK-6/x",
    "x.lock",
    "-x",
    "../main",
    "heads",
    "{own}",
    "*",
    "TASK-6\n",
]


@given(
    st.sets(st.sampled_from(["TASK-6", "TASK-66", "B", *ODD]) | st.text(max_size=8)),
    st.sampled_from(["TASK-6", "TASK-66", "TASK-7", "B", "main", *ODD]) | st.text(max_size=8),
    st.sampled_from(["/fix", "/a/b", "", "/", "/../x", "//x", "x"]),
)
def test_going_on_opens_the_named_namespaces_and_no_other(
    continues: set[str], whose: str, below: str
) -> None:
    """For any set of names, well-formed or not."""
    ref = f"refs/heads/agent/{whose}{below}".encode("utf-8", "surrogatepass")
    if isinstance(decide_ref(RefUpdate(NONE, ONE, ref), "TASK-7", continues), Allow):
        _, _, _, namespace, *names = ref.decode().split("/")
        assert namespace == "TASK-7" or namespace in continues
        assert names
        assert all(names)
        assert decide_ref(RefUpdate(NONE, ONE, ref), namespace) == Allow()
