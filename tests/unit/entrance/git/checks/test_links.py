"""A link that is let through stays in the tree, whatever other links there are."""

from posixpath import dirname

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.git.checks.links import leaves

NAMES = st.sampled_from(["a", "b", "c"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
TARGETS = st.lists(st.one_of(NAMES, st.just(".."), st.just(".")), min_size=1, max_size=5).map(
    "/".join
)


MOST_FOLLOWED = 40
"""Linux's own: a path that leads through more links is a loop."""


def goes_out(path: str, links: dict[str, str]) -> bool:
    """The oracle: follow the link as a kernel does, in a tree whose root has a parent."""
    at, ahead, followed = dirname(path), links[path].split("/"), 0
    while ahead:
        part = ahead.pop(0)
        if part == "..":
            if not at:
                return True
            at = dirname(at)
        elif part != ".":
            here = f"{at}/{part}" if at else part
            if here not in links:
                at = here
                continue
            followed += 1
            if followed > MOST_FOLLOWED:
                return False
            ahead[:0] = links[here].split("/")
    return False


@given(st.dictionaries(PATHS, TARGETS, min_size=1, max_size=5))
def test_links_that_are_let_through_stay_inside_together(links: dict[str, str]) -> None:
    """Also where one leads through another, in any order, with links in the place of folders."""
    let = {
        path: target for path, target in links.items() if not leaves(path.encode(), target.encode())
    }
    trees = {path: t for path, t in let.items() if not any(up(path, other) for other in let)}
    assert not any(goes_out(path, trees) for path in trees)


def up(path: str, other: str) -> bool:
    """Whether `other` is a folder on the way to `path`: a tree can't have both."""
    return path.startswith(f"{other}/")


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("a", "b"),
        ("a/b", "../c"),
        ("a/b/c", "../../d/e"),
        ("a", "./b"),
        ("a", "b//c"),
        ("a/b", ".."),
    ],
)
def test_a_link_to_a_path_inside_is_let_through(path: str, target: str) -> None:
    assert not leaves(path.encode(), target.encode())


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("a", b""),
        ("a", b"/"),
        ("a", b"//x"),
        ("a", b"~/x"),
        ("a", b"~root"),
        ("a", b"C:/x"),
        ("a", b"c:x"),
        ("a", b".."),
        ("a/b", b"../.."),
        ("a/b", b"./../.././x"),
        ("a", b"b/../c"),
        ("a/b", b"../c/../d"),
        ("a", b"x\\..\\y"),
        ("a", b"x\0y"),
        ("a", b"x\ny"),
        ("a", b"x" * 4096),
        ("a", b".git/config"),
        ("a", b".GIT/config"),
        ("a", b"x/.git"),
        ("a", b"git~1/config"),
        ("a/b", b"../.git."),
        ("a", ".g\u200cit/hooks".encode()),
    ],
)
def test_a_link_that_may_lead_out_is_not(path: str, target: bytes) -> None:
    assert leaves(path.encode(), target)
