"""One canonical form of a host is both judged and dialled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.hosts import canonical_host, canonical_pattern, host_and_port, host_matches

LABELS = st.from_regex(r"[a-z0-9_]([a-z0-9_-]{0,8}[a-z0-9])?", fullmatch=True)
NAMES = st.lists(LABELS, min_size=1, max_size=3).map(lambda labels: ".".join([*labels, "example"]))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a.example", "a.example"),
        ("A.EXAMPLE", "a.example"),
        ("a.example.", "a.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("_dmarc.a.example", "_dmarc.a.example"),
        ("1.2.3.4.example", "1.2.3.4.example"),
        (f"{'x' * 63}.example", f"{'x' * 63}.example"),
    ],
)
def test_a_name_has_one_form(text: str, name: str) -> None:
    assert canonical_host(text) == name


@pytest.mark.parametrize(
    "text",
    [
        *("", ".", "..", "a..example", ".a.example", "a.example..", "localhost", "example"),
        *("127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "1.2.3.0x"),
        *("a.1", "a.0x1f", "::1", "[::1]", "[::ffff:1.2.3.4]", "::ffff:1.2.3.4", "1.2.3.4."),
        *(
            "a@b.example",
            "a:b@c.example",
            "a.example:80",
            "a.example/x",
            "a.example?x",
            "a.example#",
        ),
        *(
            "a%00.example",
            "a%2eexample.org",
            "a\0.example",
            "a b.example",
            "a.example\n",
            "\ta.example",
        ),
        *("a\\.example", "*.example", "-a.example", "a-.example", f"{'x' * 64}.example"),
        ".".join(["x" * 49] * 5 + ["abcde"]),
        *(
            "\uff41.example",
            "a。example",
            "bücher.example",
            "a.exampl\u212a",
            "a\u00ad.example",
            "a\x7f.example",
        ),
    ],
)
def test_what_is_no_name_is_refused(text: str) -> None:
    """CASE-09."""
    with pytest.raises(ValueError, match=r"name|address|ASCII"):
        canonical_host(text)


@given(st.text(max_size=40))
def test_whatever_is_taken_for_a_name_is_plain_and_stays_as_it_is(text: str) -> None:
    try:
        name = canonical_host(text)
    except ValueError:
        return
    assert canonical_host(name) == name
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-.")
    assert name.count(".") >= 1


@given(NAMES, NAMES)
def test_a_pattern_covers_what_a_naive_reading_of_labels_says(base: str, host: str) -> None:
    below = host.split(".")[-len(base.split(".")) :] == base.split(".") and host != base
    assert host_matches(f"*.{base}", host) is below
    assert host_matches(base, host) is (base == host)
    assert host_matches("*", host)


@pytest.mark.parametrize(
    ("pattern", "host"),
    [
        ("a.example", "a.example.evil.test"),
        ("a.example", "evila.example"),
        ("*.a.example", "a.example"),
        ("*.a.example", "evila.example"),
        ("*.a.example", "x.a.example.evil.test"),
    ],
)
def test_what_only_looks_like_an_allowed_name_is_another(pattern: str, host: str) -> None:
    assert not host_matches(pattern, host)


def test_a_pattern_in_another_script_is_put_into_its_wire_form() -> None:
    assert canonical_pattern("*.Bücher.example") == "*.xn--bcher-kva.example"
    assert canonical_pattern("*") == "*"


@pytest.mark.parametrize(
    "text", ["", "**", "*.", "*.com", "a.*.example", "a*.example", "*.*.example", "\ud800.x"]
)
def test_a_pattern_that_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"name"):
        canonical_pattern(text)


def test_a_port_is_the_schemes_own_where_none_is_named() -> None:
    assert host_and_port("A.example", 443) == ("a.example", 443)
    assert host_and_port("a.example:8443", 443) == ("a.example", 8443)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":80",
        "a.example:",
        "a.example:0",
        "a.example:65536",
        "a.example:+80",
        "a@b.example",
        "[::1]:80",
    ],
)
def test_an_authority_that_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"host|port"):
        host_and_port(text, 443)
