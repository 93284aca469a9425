"""A task's id as the name of a folder."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.session import TaskId
from orchestrator.adapters.disk_names import LONGEST_SLUG, slug, task_named

SAFE = set(string.ascii_letters + string.digits + "-_+=~")
IDS = st.text(min_size=1, max_size=300).map(TaskId)


def test_a_usual_id_stays_readable() -> None:
    assert slug(TaskId("DEMO/AG-12")) == "DEMO+AG-12"


@pytest.mark.parametrize(
    "task", ["..", ".", "/", "//", "../../etc", "a/../b", "a\0b", "a b", "a:b", "-"]
)
def test_a_path_trick_becomes_a_plain_name(task: str) -> None:
    name = slug(TaskId(task))
    assert set(name) <= SAFE
    assert not name.startswith(".")


def test_an_empty_id_is_refused() -> None:
    with pytest.raises(ValueError, match="has an id"):
        slug(TaskId(""))


def test_ids_that_differ_after_the_cut_differ() -> None:
    long = "A" * 400
    assert slug(TaskId(long + "1")) != slug(TaskId(long + "2"))


@given(IDS)
def test_a_name_is_always_safe_and_short(task: TaskId) -> None:
    name = slug(task)
    assert set(name) <= SAFE
    assert 0 < len(name) <= LONGEST_SLUG


@given(IDS, IDS)
def test_two_ids_never_share_a_name(one: TaskId, other: TaskId) -> None:
    assert (slug(one) == slug(other)) == (one == other)


def test_the_escape_itself_is_escaped() -> None:
    assert slug(TaskId("a=2E")) != slug(TaskId("a."))
    assert slug(TaskId("a+b")) != slug(TaskId("a/b"))


@given(IDS)
def test_a_name_says_whose_it_is_unless_it_was_cut(task: TaskId) -> None:
    name = slug(task)
    assert task_named(name) == (None if "=~" in name else task)


@pytest.mark.parametrize(
    "name", ["", "lost+found and more", "=", "=4", "=61", "=zz", "=FF", "a.b", "=~" + "0" * 64]
)
def test_what_is_no_name_of_ours_is_nobodys(name: str) -> None:
    assert task_named(name) is None
