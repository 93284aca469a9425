"""The profile that allows what both allow: never more than ours, never more than the engine's own."""

from errno import ENOSYS
from typing import Any

import pytest

from orchestrator.stack.seccomp import allowed, both

REFUSE = "SCMP_ACT_ERRNO"


def profile(*rules: dict[str, Any], default: str = REFUSE) -> dict[str, Any]:
    return {"defaultAction": default, "defaultErrnoRet": 1, "syscalls": list(rules)}


def rule(*names: str, action: str = "SCMP_ACT_ALLOW", **args: Any) -> dict[str, Any]:
    return {"names": list(names), "action": action, **args}


def arg(op: str, value: int, two: int = 0, index: int = 0) -> dict[str, Any]:
    return {"index": index, "value": value, "valueTwo": two, "op": f"SCMP_CMP_{op}"}


def unknown(*names: str) -> dict[str, Any]:
    return rule(*names, action=REFUSE, errnoRet=ENOSYS)


def test_what_the_engine_refuses_does_not_exist() -> None:
    """A program has another way then; it would believe that it may not (EPERM)."""
    found = both(profile(rule("read", "write", "cachestat")), profile(rule("read", "write")))
    assert found == profile(rule("read", "write"), unknown("cachestat"))


def test_what_we_refuse_stays_refused() -> None:
    assert allowed(both(profile(rule("read")), profile(rule("read", "mount")))) == {"read"}


def test_a_refusal_of_ours_with_its_own_error_stays() -> None:
    ours = profile(unknown("clone3"))
    assert both(ours, profile(rule("clone3"))) == ours


def test_conditions_of_ours_stay_where_the_engine_has_none() -> None:
    ours = profile(rule("socket", args=[arg("EQ", 1)]), rule("socket", args=[arg("EQ", 2)]))
    assert both(ours, profile(rule("socket"))) == ours


@pytest.mark.parametrize(
    ("ours", "theirs", "kept"),
    [
        pytest.param(arg("EQ", 2), arg("NE", 40), True, id="another than the refused one"),
        pytest.param(arg("EQ", 40), arg("NE", 40), False, id="the refused one"),
        pytest.param(arg("EQ", 8), arg("EQ", 8), True, id="the same"),
        pytest.param(arg("EQ", 8), arg("EQ", 9), False, id="another"),
        pytest.param(arg("EQ", 4), arg("MASKED_EQ", 3, 0), True, id="none of the bits"),
        pytest.param(arg("EQ", 5), arg("MASKED_EQ", 3, 0), False, id="one of the bits"),
        pytest.param(arg("MASKED_EQ", 3, 0), arg("MASKED_EQ", 3, 0), True, id="the same bits"),
        pytest.param(arg("MASKED_EQ", 3, 0), arg("EQ", 4), False, id="that can't be told"),
        pytest.param(arg("EQ", 3), arg("LT", 4), False, id="an order that we don't know"),
    ],
)
def test_two_conditions_on_one_argument_must_hold_together(
    ours: dict[str, Any], theirs: dict[str, Any], *, kept: bool
) -> None:
    found = both(profile(rule("x", args=[ours])), profile(rule("x", args=[theirs])))
    assert found["syscalls"] == [rule("x", args=[ours]) if kept else unknown("x")]


def test_a_condition_of_the_engines_is_added() -> None:
    found = both(profile(rule("a", "b")), profile(rule("a"), rule("b", args=[arg("EQ", 1)])))
    assert found == profile(rule("a"), rule("b", args=[arg("EQ", 1)]))


def test_conditions_on_different_arguments_are_both_asked_for() -> None:
    mine, other = arg("EQ", 1), arg("EQ", 2, index=1)
    found = both(profile(rule("x", args=[mine])), profile(rule("x", args=[other])))
    assert found["syscalls"] == [rule("x", args=[mine, other])]


def test_an_engine_that_refuses_nothing_by_default_changes_nothing() -> None:
    ours = profile(rule("read", args=[arg("EQ", 1)]))
    assert both(ours, profile(default="SCMP_ACT_ALLOW")) == ours
