"""Which headers pass on the way to a backend, and back [pure]. What is not named here stays behind.

Not among them: credentials, cookies, whatever would have a request taken for one of another method or
from somebody else, and addresses that lead past the door.
"""

from collections.abc import Mapping

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
    }
)
_VERSIONS = ("-version",)
"""How headers end that name the version of an API, such as `X-GitHub-Api-Version`."""
_BACK_PREFIXES = ("ratelimit-", "x-ratelimit-")


def onward(headers: Mapping[str, str]) -> dict[str, str]:
    """The server's headers that go on to its backend; what comes back must be readable to us."""
    passed = {
        name.lower(): value
        for name, value in headers.items()
        if name.lower() in _ONWARD or name.lower().endswith(_VERSIONS)
    }
    return passed | {"accept-encoding": "identity"}


def back(headers: Mapping[str, str]) -> dict[str, str]:
    """The backend's headers that come back to the server."""
    return {
        name.lower(): value
        for name, value in headers.items()
        if name.lower() in _BACK or name.lower().startswith(_BACK_PREFIXES)
    }
