import pytest

from orchestrator.adapters.pocketbase.filters import Condition, where


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        pytest.param([], "", id="no condition is no filter"),
        pytest.param([("run", "=", "abc")], "run = 'abc'", id="text is quoted"),
        pytest.param([("seq", ">", -1)], "seq > -1", id="numbers are bare"),
        pytest.param(
            [("run", "=", "a"), ("seq", "<=", 3)], "run = 'a' && seq <= 3", id="all must hold"
        ),
        pytest.param([("task", "=", "it's")], r"task = 'it\'s'", id="a quote is escaped"),
        pytest.param([("task", "=", "a\\")], r"task = 'a\\'", id="so is a backslash"),
        pytest.param([("task", "=", "\\'")], r"task = '\\\''", id="in that order"),
        pytest.param(
            [("task", "=", "' || 1=1 //")],
            r"task = '\' || 1=1 //'",
            id="no value leaves its quotes",
        ),
    ],
)
def test_a_filter_is_made_of_its_values(conditions: list[Condition], expected: str) -> None:
    assert where(*conditions) == expected


@pytest.mark.parametrize("value", ["a\0b", "half \ud83d"])
def test_text_that_no_filter_can_carry_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="can't be asked for"):
        where(("task", "=", value))
