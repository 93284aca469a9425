"""Which headers pass on the way to a backend, and back [pure]. What is not named here stays behind.

Not among them: credentials, cookies, whatever would have a request taken for one of another method or
from somebody else, and addresses that lead past the door.
"""

from collections.abc import Callable, Mapping

from entrance.backend.addresses import Way

_ONWARD = frozenset(
    {
        "accept",
        "accept-language",
        "content-type",
        "if-match",
        "if-modified-since",
        "if-none-match",
        "if-unmodified-since",
        "prefer",
        "range",
        "user-agent",
    }
)
_BACK = frozenset(
    {
        "accept-ranges",
        "content-disposition",
        "content-language",
        "content-range",
        "content-type",
        "etag",
        "last-modified",
        "retry-after",
        # Where in a long list an answer is, as GitLab has it.
        *("x-next-page", "x-page", "x-per-page", "x-prev-page", "x-total", "x-total-pages"),
    }
)
_VERSIONS = ("-version",)
"""How headers end that name the version of an API, such as `X-GitHub-Api-Version`."""
_BACK_PREFIXES = ("ratelimit-", "x-ratelimit-")
_ADDRESSES: Mapping[str, Callable[[Way, str], str | None]] = {
    "content-location": Way.through_door,
    "link": Way.links,
    "location": Way.through_door,
}
"""Headers that name addresses, and what becomes of them."""


def onward(headers: Mapping[str, str]) -> dict[str, str]:
    """The server's headers that go on to its backend; what comes back must be readable to us."""
    passed = {
        name.lower(): value
        for name, value in headers.items()
        if name.lower() in _ONWARD or name.lower().endswith(_VERSIONS)
    }
    return passed | {"accept-encoding": "identity"}


def back(headers: Mapping[str, str], way: Way) -> dict[str, str]:
    """The backend's headers that come back to the server, with addresses that it can ask for."""
    passed: dict[str, str] = {}
    for each, value in headers.items():
        name = each.lower()
        if name in _ADDRESSES:
            told = _ADDRESSES[name](way, value)
        else:
            told = value if name in _BACK or name.startswith(_BACK_PREFIXES) else None
        if told is not None:  # a list may be told in several headers (RFC 9110, section 5.3)
            passed[name] = f"{passed[name]}, {told}" if name in passed else told
    return passed
