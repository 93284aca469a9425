"""What of a server's response goes back to the client, and whether its body may."""

from mitmproxy.http import Headers, Request, Response

from proxy.decision import Allow

_NOT_PASSED_BACK = frozenset(
    {b"connection", b"keep-alive", b"upgrade", b"alt-svc", b"proxy-connection"}
)
_FINAL = 200
"""Lower ones are of responses before the response (RFC 9110 15.2)."""
_BODILESS = frozenset({204, 304})


def passed_back(response: Response, request: Request) -> Response:
    """The response for the client: without what is between us and the server.

    A body that ends with the connection gets a framing whose end can't be mistaken, so that one that
    was broken off isn't taken for whole.
    """
    fields = [one for one in response.headers.fields if one[0].lower() not in _NOT_PASSED_BACK]
    data = response.data
    if _ends_with_connection(response, request):
        fields.append((b"Transfer-Encoding", b"chunked"))
    return Response(
        b"HTTP/1.1",
        data.status_code,
        data.reason,
        Headers(fields),
        None,
        None,
        data.timestamp_start,
        data.timestamp_end,
    )


def content_flaw(response: Response, allow: Allow, method: str) -> str:
    """Why the body may not be passed on; empty when it may."""
    if response.status_code < _FINAL:
        return f"the server answered with {response.status_code}, which is no answer"
    length = response.headers.get("content-length", "")
    if _bodiless(response, method) or length == "0":
        return ""
    if allow.max_bytes is not None and length.isdigit() and int(length) > allow.max_bytes:
        return f"the response has {length} bytes, {allow.max_bytes} are allowed"
    found = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if allow.types and not {found, f"{found.partition('/')[0]}/*"} & allow.types:
        return f"{found or 'no type'} is not among the types allowed of {allow.host}"
    return ""


def _ends_with_connection(response: Response, request: Request) -> bool:
    """Whether the body ends where the server closes, and the client can be told better."""
    framed = {"content-length", "transfer-encoding"} & {name.lower() for name in response.headers}
    bodiless = _bodiless(response, request.method)
    return not framed and not bodiless and request.http_version == "HTTP/1.1"


def _bodiless(response: Response, method: str) -> bool:
    return method == "HEAD" or response.status_code in _BODILESS
