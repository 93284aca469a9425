"""The way to the entrance: plain HTTP within the sandbox's own network, past no proxy."""

import ssl

import httpx2

CONNECT_S = 10.0
SILENCE_S = 660.0
"""Longest silence in an answer; then the connection counts as broken. The entrance, which waits for a
provider for 600 s unless it is told otherwise, is to lose patience first: it says why."""


def client(entrance: str, token: str, silence_s: float = SILENCE_S) -> httpx2.Client:
    """An HTTP client that shows the run's token to the entrance.

    It trusts no certificate: there is none on this way, and to load those of the world takes longer
    than everything else here.
    """
    return httpx2.Client(
        base_url=entrance,
        headers={
            "Authorization": f"Bearer {token}",
            "Accept-Encoding": "identity",
            "User-Agent": "sandgate-native",
        },
        timeout=httpx2.Timeout(silence_s, connect=CONNECT_S, pool=CONNECT_S),
        trust_env=False,
        verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
    )
