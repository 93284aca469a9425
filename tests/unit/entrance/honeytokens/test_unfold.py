"""What wraps and escapes a text is undone."""

from urllib.parse import unquote_to_bytes

from hypothesis import given
from hypothesis import strategies as st

from entrance.honeytokens.unfold import unfolded

PIECES = st.sampled_from(
    [b"%", b"%4", b"%41", b"%zz", b"%e2%82%ac", b"%%41", b"a", b"\0", b"%4G", b"F"]
)


@given(st.lists(PIECES, max_size=12))
def test_escapes_of_a_url_are_undone_as_the_standard_library_does(pieces: list[bytes]) -> None:
    whole = b"".join(pieces) + b"."  # so that no escape is begun at its end
    assert unfolded(whole) == (unquote_to_bytes(whole), b"")
