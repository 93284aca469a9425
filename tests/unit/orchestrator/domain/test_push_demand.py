"""An engagement asks more of pushes than its installation does, and never less."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.git.checks.rules import NAMED, mode_of
from entrance.push_policy import Mode, PushPolicy
from orchestrator.domain.egress import Unreadable
from orchestrator.domain.push_demand import (
    Demand,
    checked_globs,
    checked_modes,
    policy_json,
    pushes_of,
    tightened,
)

WHOLE = """\
modes:
  gate-path: deny
  executable-bit: hold
gate_paths:
  - deploy/**
  - "**/*.tf"
max_file_size: 10 MiB
max_pack_size: 100 MiB
"""
FREE = [name for name, rule in NAMED.items() if not rule.fixed]
MODES = st.dictionaries(st.sampled_from(FREE), st.sampled_from(list(Mode)))
SIZES = st.integers(1, 1 << 40)
GLOBS = st.lists(st.sampled_from(["a/**", "b", "**/c"]), max_size=3).map(tuple)
BASES = st.builds(PushPolicy, MODES, GLOBS, SIZES, SIZES)
DEMANDS = st.builds(Demand, MODES, GLOBS, st.none() | SIZES, st.none() | SIZES)


def test_all_that_can_be_asked_is_read() -> None:
    assert pushes_of(WHOLE, "x") == Demand(
        modes={"gate-path": Mode.DENY, "executable-bit": Mode.HOLD},
        gate_paths=("deploy/**", "**/*.tf"),
        max_file_bytes=10 << 20,
        max_pack_bytes=100 << 20,
    )


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "{}"])
def test_a_text_that_says_nothing_asks_for_nothing(text: str) -> None:
    assert pushes_of(text, "x") == Demand()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("modes: {secret: perhaps}", "line 1: modes.secret"),
        ("\nmodes: {no-such: deny}", "line 2: modes: there is no rule 'no-such'"),
        ("modes: {rewind: hold}", "rewind is always deny"),
        ("modes: [secret]", "line 1: modes"),
        ("gate_paths: deploy", "line 1: gate_paths"),
        ("gate_paths: [/deploy]", "begins at the repository's root"),
        ("max_file_size: 0", "line 1: max_file_size"),
        ("max_file_size: 5 parsecs", "line 1: max_file_size"),
        ("max_file_bytes: 5", "line 1: max_file_bytes"),
        ("modes: {secret: deny}\nmodes: {secret: note}", "line 2: modes is there twice"),
        ("modes: &a {secret: deny}\nx: *a", "no aliases"),
        ("modes: {", "no YAML"),
        ("- modes", "line 1"),
        ("x" * 70_000, "longer than"),
    ],
)
def test_what_can_not_be_read_is_said_with_item_and_line(text: str, why: str) -> None:
    read = pushes_of(text, "pushes of WEB/WEB-1")
    assert isinstance(read, Unreadable)
    assert read.reason.startswith("pushes of WEB/WEB-1")
    assert why in read.reason


@given(st.text(max_size=200) | st.sampled_from([WHOLE]).flatmap(st.text))
def test_any_text_is_read_or_unreadable(text: str) -> None:
    assert isinstance(pushes_of(text, "x"), Demand | Unreadable)


@given(BASES, DEMANDS)
def test_an_engagement_never_takes_anything_away(base: PushPolicy, demand: Demand) -> None:
    policy = tightened(base, demand)
    for name, rule in NAMED.items():
        mode = mode_of(rule, policy.modes)
        assert mode.weight >= mode_of(rule, base.modes).weight
        assert mode.weight >= demand.modes.get(name, Mode.NOTE).weight
        assert mode in {mode_of(rule, base.modes), demand.modes.get(name)}
    assert set(policy.gate_paths) == {*base.gate_paths, *demand.gate_paths}
    for own, asked, given_ in (
        (policy.max_file_bytes, demand.max_file_bytes, base.max_file_bytes),
        (policy.max_pack_bytes, demand.max_pack_bytes, base.max_pack_bytes),
    ):
        assert own == min(asked or given_, given_)


@given(BASES)
def test_who_asks_for_nothing_has_what_the_installation_says(base: PushPolicy) -> None:
    policy = tightened(base, Demand())
    assert policy_json(policy) == policy_json(
        PushPolicy(base.modes, tuple(dict.fromkeys(base.gate_paths)), *sizes(base))
    )


def sizes(policy: PushPolicy) -> tuple[int, int]:
    return policy.max_file_bytes, policy.max_pack_bytes


@pytest.mark.parametrize(
    "glob",
    ["", "/a", "a/", "a//b", "./a", "a/../b", "a\\b", "a\nb", "**/a/**/b/**/c/**/d", "x" * 201],
)
def test_what_is_no_path_is_no_gate(glob: str) -> None:
    with pytest.raises(ValueError, match="root"):
        checked_globs([glob])


def test_there_are_only_so_many_gates() -> None:
    with pytest.raises(ValueError, match="200 at most"):
        checked_globs(f"a{number}" for number in range(201))


def test_a_fixed_rule_may_be_named_as_what_it_is() -> None:
    assert checked_modes({"rewind": Mode.DENY}) == {"rewind": Mode.DENY}
