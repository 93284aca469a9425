from native import circles


def test_the_same_call_with_the_same_result_is_counted() -> None:
    seen = circles.Circles()
    assert [seen.note("bash", {"command": "x"}, "r") for _ in range(3)] == [1, 2, 3]


def test_another_result_or_input_is_news() -> None:
    seen = circles.Circles()
    assert [seen.note("bash", {"command": "x"}, str(n)) for n in range(3)] == [1, 1, 1]
    assert [seen.note("bash", {"command": str(n)}, "0") for n in range(3)] == [1, 1, 1]


def test_a_circle_of_several_calls_is_noticed() -> None:
    seen = circles.Circles()
    counts = [seen.note("bash", {"command": c}, "r") for _ in range(circles.STOP_AT) for c in "abc"]
    assert counts[-1] == circles.STOP_AT


def test_what_was_long_ago_does_not_count() -> None:
    seen = circles.Circles()
    seen.note("bash", "x", "r")
    for number in range(30):
        seen.note("read", number, "r")
    assert seen.note("bash", "x", "r") == 1


def test_the_model_is_warned_before_it_is_stopped() -> None:
    assert circles.hint(circles.WARN_AT - 1) == ""
    assert "3 times" in circles.hint(circles.WARN_AT)
