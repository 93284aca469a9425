"""Which headers pass the model gateway [pure]. What is not named here stays behind.

The client's credentials are not in the first list, the provider's cookies and account not in the
second.
"""

from collections.abc import Mapping

_ONWARD = frozenset({"accept", "anthropic-beta", "anthropic-version", "user-agent"})
_BACK = frozenset({"content-type", "request-id", "retry-after", "x-should-retry"})
_BACK_PREFIX = "anthropic-ratelimit-"


def onward(headers: Mapping[str, str]) -> dict[str, str]:
    """The client's headers that go on to the provider, with ours: a body that is plain JSON."""
    passed = {name.lower(): value for name, value in headers.items() if name.lower() in _ONWARD}
    return passed | {"content-type": "application/json", "accept-encoding": "identity"}


def back(headers: Mapping[str, str]) -> dict[str, str]:
    """The provider's headers that come back to the client."""
    return {
        name.lower(): value
        for name, value in headers.items()
        if name.lower() in _BACK or name.lower().startswith(_BACK_PREFIX)
    }
