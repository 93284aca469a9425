"""What roles allow."""

import pytest

from polarion_app.config import load
from polarion_app.config.model import Verb
from polarion_app.embedded.errors import ApiError
from polarion_app.embedded.permissions import Caller, caller_of

MODEL = load()


def holding(*roles: tuple[str, str], everywhere: tuple[str, ...] = ()) -> Caller:
    return caller_of("u", everywhere, roles, MODEL)


@pytest.mark.parametrize(
    ("caller", "verbs"),
    [
        pytest.param(holding(), set(), id="nobody"),
        pytest.param(holding(everywhere=("user",)), set(), id="a user without a project"),
        pytest.param(holding(("OTHER", "project_admin")), set(), id="an administrator elsewhere"),
        pytest.param(holding(("P", "agent_reader")), {"GET"}, id="reader"),
        pytest.param(holding(("P", "agent")), {"GET", "POST", "PATCH"}, id="agent"),
        pytest.param(
            holding(("P", "project_assignable")), {"GET", "POST", "PATCH", "DELETE"}, id="person"
        ),
        pytest.param(
            holding(everywhere=("admin",)), {"GET", "POST", "PATCH", "DELETE"}, id="admin"
        ),
        pytest.param(holding(("P", "imaginary")), set(), id="unknown role"),
        pytest.param(holding(("P", "admin")), set(), id="a global role held in a project"),
        pytest.param(
            holding(everywhere=("project_admin",)), set(), id="a project role held globally"
        ),
    ],
)
def test_a_caller_may_do_in_a_project(caller: Caller, verbs: set[Verb]) -> None:
    """Nothing without a role there; unknown and misplaced roles give nothing."""
    every: tuple[Verb, ...] = ("GET", "POST", "PATCH", "DELETE")
    assert {verb for verb in every if caller.may(verb, "P")} == verbs
    for verb in every:
        if verb not in verbs:
            with pytest.raises(ApiError, match=f"may not {verb}"):
                caller.require(verb, "P")


def test_only_administrators_manage_and_hold_every_role() -> None:
    admin, person = holding(everywhere=("admin",)), holding(("P", "project_admin"))
    assert admin.manages
    assert admin.holds_one_of(["project_admin"], "P")
    assert not person.manages
    assert person.holds_one_of(["project_admin"], "P")
    assert not person.holds_one_of(["project_admin"], "Q")
    with pytest.raises(ApiError):
        person.require_manager()


def test_a_caller_reads_the_projects_of_its_roles() -> None:
    caller = holding(("P", "agent"), ("Q", "agent_reader"))
    assert caller.readable_projects == ("P", "Q")
    assert not caller.reads_everything
