"""Which headers pass the model gateway [pure]. What is not named here stays behind.

The client's credentials are not among the first, the provider's cookies and accounts not among the
second.
"""

import re
from collections.abc import Mapping

_ONWARD = frozenset({"accept", "user-agent"})
_BACK = frozenset(
    {
        "content-type",
        "openai-processing-ms",
        "request-id",
        "retry-after",
        "retry-after-ms",
        "x-request-id",
        "x-should-retry",
    }
)
_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,6})?")
_DATE = re.compile(r"[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT")
_BACK_PREFIXES = ("anthropic-ratelimit-", "x-ratelimit-")


def onward(headers: Mapping[str, str], more: frozenset[str]) -> dict[str, str]:
    """The client's headers that go on to the provider, with ours: a body that is plain JSON.

    `more`: those that the dialect lets pass besides.
    """
    wanted = _ONWARD | more
    passed = {low: value for name, value in headers.items() if (low := name.lower()) in wanted}
    return passed | {"content-type": "application/json", "accept-encoding": "identity"}


def back(headers: Mapping[str, str]) -> dict[str, str]:
    """The provider's headers that come back to the client."""
    return {
        low: value
        for name, value in headers.items()
        if (low := name.lower()) in _BACK or low.startswith(_BACK_PREFIXES)
    }


def request_id(headers: Mapping[str, str]) -> str:
    """What the provider calls this request, for the record."""
    return (headers.get("request-id") or headers.get("x-request-id") or "")[:200]


def retry_after(headers: Mapping[str, str]) -> str:
    """When the provider wants to be asked again: seconds or an HTTP date; empty for anything else.

    It goes into the record, so it must be nothing but that.
    """
    milliseconds = headers.get("retry-after-ms", "")
    if milliseconds.isascii() and milliseconds.isdecimal():
        return f"{int(milliseconds[:9]) / 1000:g}"
    told = headers.get("retry-after", "").strip()
    return told if _SECONDS.fullmatch(told) or _DATE.fullmatch(told) else ""
