"""Where a provider is."""

import pytest

from entrance.model.provider import Provider


@pytest.mark.parametrize("base", ["https://h.example", "https://h.example/", "http://127.0.0.1:1"])
def test_paths_go_behind_the_base_url(base: str) -> None:
    assert Provider("p", base, "s").url("/v1/messages") == f"{base.rstrip('/')}/v1/messages"


@pytest.mark.parametrize("base", ["h.example", "ftp://h", "https://u:p@h", "https://h?x=1", ""])
def test_a_base_url_that_will_not_do_is_refused(base: str) -> None:
    with pytest.raises(ValueError, match="provider p"):
        Provider("p", base, "s")
