"""What a backend's headers name leads through the door, or nowhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from entrance.backend.addresses import Way
from entrance.backend.headers import back

DOOR = "http://192.0.2.1:8080/backend"
BACKEND = "https://alm.example/polarion"
WAY = Way(DOOR, BACKEND, f"{BACKEND}/rest/v1/a%20b?page=1")


@pytest.mark.parametrize(
    ("target", "led"),
    [
        pytest.param(f"{BACKEND}/rest/v1/c?page=2", f"{DOOR}/rest/v1/c?page=2", id="whole"),
        pytest.param(f"{BACKEND}/a%2Fb?q=x%3Ay", f"{DOOR}/a%2Fb?q=x%3Ay", id="escaped"),
        pytest.param("https://alm.example:443/polarion/c", f"{DOOR}/c", id="the port said"),
        pytest.param("//alm.example/polarion/c", f"{DOOR}/c", id="without a scheme"),
        pytest.param("/polarion/c", f"{DOOR}/c", id="a path"),
        pytest.param("c?page=2", f"{DOOR}/rest/v1/c?page=2", id="a relative path"),
        pytest.param("?page=2", f"{DOOR}/rest/v1/a%20b?page=2", id="a query"),
        pytest.param("../v2/c", f"{DOOR}/rest/v2/c", id="one that climbs, and stays below"),
        pytest.param("/elsewhere", None, id="beside the backend"),
        pytest.param("/polarionx/c", None, id="a name that begins alike"),
        pytest.param("../../../c", None, id="one that climbs out"),
        pytest.param("/polarion/../c", None, id="out and in"),
        pytest.param("http://alm.example/polarion/c", None, id="another scheme"),
        pytest.param("https://alm.example:8443/polarion/c", None, id="another port"),
        pytest.param("https://alm.example.evil.example/polarion/c", None, id="another host"),
        pytest.param("https://me:pw@alm.example/polarion/c", None, id="with a credential"),
        pytest.param("https://alm.example:port/polarion/c", None, id="no address at all"),
        pytest.param("mailto:someone@alm.example", None, id="no page"),
    ],
)
def test_an_address_below_the_backend_leads_through_the_door(target: str, led: str | None) -> None:
    assert WAY.through_door(target) == led


@pytest.mark.parametrize("backend", ["https://alm.example", "https://alm.example/"])
def test_a_backend_may_be_a_whole_host(backend: str) -> None:
    way = Way(DOOR, backend, "https://alm.example/a")
    assert way.through_door("/b?c=d") == f"{DOOR}/b?c=d"


def test_of_links_those_that_lead_through_the_door_stay() -> None:
    pages = (
        f'<{BACKEND}/rest/v1/c?page=2>; rel="next", <https://elsewhere.example/a,b>; rel=help, '
        f'</polarion/rest/v1/c?page=9>; rel="last"; title="the, last; page"'
    )
    assert WAY.links(pages) == (
        f'<{DOOR}/rest/v1/c?page=2>; rel="next", '
        f'<{DOOR}/rest/v1/c?page=9>; rel="last"; title="the, last; page"'
    )
    assert WAY.links("<https://elsewhere.example/>; rel=next") is None


@given(st.text(st.characters(codec="latin-1", exclude_characters="\r\n\0")))
def test_whatever_a_backend_says_leads_to_the_door_or_nowhere(target: str) -> None:
    for led in (WAY.through_door(target), WAY.through_door(f"{BACKEND}/{target}")):
        assert led is None or led.startswith(f"{DOOR}/")
    for name in ("Location", "Content-Location"):
        assert back({name: target}, WAY).get(name.lower(), DOOR).startswith(DOOR)


def test_a_list_that_is_told_in_several_headers_is_one() -> None:
    told = CIMultiDict([("Link", "</polarion/a>; rel=next"), ("Link", "</polarion/b>; rel=last")])
    assert back(told, WAY) == {"link": f"<{DOOR}/a>; rel=next, <{DOOR}/b>; rel=last"}
