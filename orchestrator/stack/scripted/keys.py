"""The key of a request, wherever a provider's clients put it."""

import hmac

from aiohttp import web

REFUSED = "scripted model: the key is not the one that was given at start"


def shows(request: web.Request, key: str) -> bool:
    """Does the request carry exactly this key?"""
    expected = key.encode()
    shown = (
        request.headers.get("Authorization", "").removeprefix("Bearer "),
        request.headers.get("x-api-key", ""),
        request.headers.get("x-goog-api-key", ""),
        request.query.get("key", ""),
    )
    return any(hmac.compare_digest(each.encode(), expected) for each in shown)
