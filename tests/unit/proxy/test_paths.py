"""A rule on paths covers every reading that a server may have of one."""

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.paths import covers_all, covers_any, glob, readings

TRICKS = st.sampled_from(
    [
        "..",
        ".",
        "%2e",
        "%2E%2e",
        "%252e",
        "..;x",
        ";",
        "/",
        "%2f",
        "%252F",
        "\\",
        "%5c",
        "a",
        "b",
        "%61",
        "%00",
    ]
)


@pytest.mark.parametrize(
    "path",
    [
        *("/simple/../admin", "/simple/./x", "/..", "/.", "/simple/..", "/simple/%2e%2e/admin"),
        *("/simple/%2E./admin", "/simple/..%2fadmin", "/simple/..%5cadmin", "/simple/..\\admin"),
        *("/simple/%252e%252e/admin", "/simple/%252e%252e%252fadmin", "/simple/..;a=b/admin"),
        *(
            "/simple/x%00.html",
            "/simple/x%0a",
            "/simple/x%250d",
            "/x\x7f",
            "/%25252525252e",
            "",
            "simple",
            "*",
        ),
    ],
)
def test_a_path_that_could_lead_elsewhere_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match=r"dot segments|control|times over|slash"):
        readings(path)


@pytest.mark.parametrize(
    "path", ["/", "/simple/", "/simple/x-1.0.tar.gz", "/a..b/...c", "/100%25", "/%zz", "/é"]
)
def test_an_ordinary_path_is_read(path: str) -> None:
    assert readings(path)


def test_encoded_slashes_are_read_both_ways() -> None:
    assert {"/@types%2fnode", "/@types/node"} <= readings("/@types%2fnode")
    assert {"/a%5cb", "/a/b"} <= readings("/a%5cb")


@pytest.mark.parametrize(
    "path", ["/simple%2fx", "/x/simple/y", "//simple/x", "/simpl%65s/x", "/simple"]
)
def test_an_allowing_glob_isnt_met_by_one_reading_alone(path: str) -> None:
    assert not covers_all(("/simple/**",), readings(path))


@pytest.mark.parametrize(
    "path",
    [
        "/admin/x",
        "/%61dmin/x",
        "/%2561dmin/x",
        "//admin/x",
        "/admin%2fx",
        "/admin;a/x",
        "/admin\\x",
    ],
)
def test_a_denying_glob_is_met_by_any_reading(path: str) -> None:
    assert covers_any(("/admin/**",), readings(path))


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("/**", "/", True),
        ("/**", "/a/b", True),
        ("/simple/**", "/simple/", True),
        ("/simple/**", "/simple/a/b", True),
        ("/simple/**", "/simple", False),
        ("/simple/*", "/simple/a", True),
        ("/simple/*", "/simple/a/b", False),
        ("/*/info/refs", "/x/info/refs", True),
        ("/**/info/refs", "/info/refs", True),
        ("/**/info/refs", "/a/b/info/refs", True),
        ("/**/info/refs", "/ainfo/refs", False),
        ("/a.b", "/axb", False),
        ("/a|/b", "/b", False),
        ("/[a]", "/a", False),
        ("/a\n", "/a", False),
        ("/a", "/a\n", False),
        ("/**", "/a\nb", True),
    ],
)
def test_a_glob_means_what_it_says(pattern: str, path: str, *, matches: bool) -> None:
    assert bool(glob(pattern).fullmatch(path)) is matches


def test_a_glob_that_doesnt_begin_with_a_slash_is_refused() -> None:
    with pytest.raises(ValueError, match="begin with a slash"):
        glob("simple/**")


@given(st.lists(TRICKS, max_size=8))
def test_no_trick_leaves_the_folder_that_a_rule_allows(parts: list[str]) -> None:
    """Whatever is allowed below /simple/ is still there when decoded and resolved like a naive server."""
    path = "/simple/" + "".join(parts)
    try:
        allowed = covers_all(("/simple/**",), readings(path))
    except ValueError:
        return
    if allowed:
        for reading in naive_servers(path):
            assert reading.startswith("/simple/") or reading == "/simple", reading


@given(
    st.lists(
        st.text(st.characters(min_codepoint=33, exclude_categories=["Cs"]), min_size=1), min_size=1
    )
)
def test_what_is_properly_encoded_is_covered_as_it_was_meant(segments: list[str]) -> None:
    if any(set(segment) & set("%/\\;\x7f") or segment in {".", ".."} for segment in segments):
        return
    if any(
        ord(character) < 160 and ord(character) > 126
        for segment in segments
        for character in segment
    ):
        return
    path = "/" + "/".join(quote(segment, safe="") for segment in segments)
    assert covers_all(("/" + "/".join(s.replace("*", "**") for s in segments),), readings(path))


def naive_servers(path: str) -> list[str]:
    """Decodes once or twice, cuts parameters or not, takes a backslash for a slash or not; then resolves."""
    found = []
    for decodings in (1, 2):
        for cut in (False, True):
            for slashed in (False, True):
                text = path
                for _ in range(decodings):
                    text = unquoted(text)
                text = text.replace("\\", "/") if slashed else text
                segments: list[str] = []
                for part in text.split("/"):
                    segment = part.partition(";")[0] if cut else part
                    if segment == "..":
                        segments = segments[:-1]
                    elif segment not in {"", "."}:
                        segments.append(segment)
                found.append("/" + "/".join(segments))
    return found


def unquoted(text: str) -> str:
    out, at = "", 0
    while at < len(text):
        if text[at] == "%" and len(text) > at + 2:
            try:
                out += chr(int(text[at + 1 : at + 3], 16))
            except ValueError:
                out += text[at : at + 3]
            at += 3
        else:
            out += text[at]
            at += 1
    return out
