"""A form is read the same whatever pieces it comes in, and never kept in memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execd.errors import Refused
from execd.multipart import Form, PartBegins, PartData, PartEnds, boundary_of

BOUNDARY = b"xYz"
PARTS = st.lists(
    st.tuples(
        st.from_regex(r"[a-z]{1,8}", fullmatch=True),
        st.one_of(
            st.binary(max_size=60),
            st.sampled_from([b"", b"\r\n", b"\r\n--", b"\r\n--xY", b"--xYz", b"\r\n\r\n", b"\r"]),
        ),
    ),
    min_size=1,
    max_size=5,
)


def form(parts: list[tuple[str, bytes]]) -> bytes:
    return (
        b"".join(
            b'--xYz\r\nContent-Disposition: form-data; name="%b"; filename="f"\r\n'
            b"Content-Type: a/b\r\n\r\n%b\r\n" % (name.encode(), data)
            for name, data in parts
        )
        + b"--xYz--\r\n"
    )


def read(raw: bytes, sizes: list[int]) -> list[tuple[str, bytes]]:
    reader, found, at = Form(BOUNDARY), list[tuple[str, bytes]](), 0
    open_parts = 0
    for size in [*sizes, len(raw)]:
        for event in reader.feed(raw[at : at + size]):
            match event:
                case PartBegins(name):
                    found.append((name, b""))
                    open_parts += 1
                case PartData(data):
                    assert data
                    found[-1] = (found[-1][0], found[-1][1] + data)
                case PartEnds():
                    open_parts -= 1
        at += size
    assert reader.finished
    assert open_parts == 0
    return found


@given(PARTS, st.lists(st.integers(1, 9), max_size=300))
def test_the_parts_come_out_as_they_went_in(
    parts: list[tuple[str, bytes]], sizes: list[int]
) -> None:
    if any(b"\r\n--xYz" in b"\r\n" + data for _, data in parts):
        return  # holds the boundary itself: no sender makes such a form
    assert read(form(parts), sizes) == parts


def test_a_form_fed_byte_by_byte_is_read() -> None:
    parts = [("metadata", b'{"path": "/x"}'), ("file", b"\r\n--xY\r\n" * 20)]
    assert read(form(parts), [1] * 2000) == parts


def test_data_is_passed_on_while_it_comes() -> None:
    reader = Form(BOUNDARY)
    reader.feed(b'--xYz\r\nContent-Disposition: form-data; name="file"\r\n\r\n')
    sizes = [
        sum(len(event.data) for event in reader.feed(b"x" * 1000) if isinstance(event, PartData))
        for _ in range(3)
    ]
    assert sum(sizes) > 2900


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"--xYzjunk\r\n", id="junk after the boundary"),
        pytest.param(b"--xYz\r\n\r\ndata", id="no name"),
        pytest.param(b"--xYz\r\n" + b"a: b\r\n" * 4000, id="endless head"),
        pytest.param(b"--xYz" + b" " * 20000, id="endless boundary line"),
    ],
)
def test_what_is_no_form_is_refused(raw: bytes) -> None:
    with pytest.raises(Refused):
        Form(BOUNDARY).feed(raw)


@pytest.mark.parametrize(
    ("content_type", "boundary"),
    [
        ("multipart/form-data; boundary=abc", b"abc"),
        ('multipart/form-data; boundary="a b"; x=y', b"a b"),
        ("Multipart/Form-Data;boundary=abc;charset=x", b"abc"),
    ],
)
def test_the_boundary_is_found(content_type: str, boundary: bytes) -> None:
    assert boundary_of(content_type) == boundary


@pytest.mark.parametrize("content_type", ["", "multipart/form-data", "text/plain; boundary=a"])
def test_without_a_boundary_it_is_refused(content_type: str) -> None:
    with pytest.raises(Refused):
        boundary_of(content_type)
