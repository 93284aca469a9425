"""How a client may be set: what is given to git before its command."""

from collections.abc import Mapping

Options = tuple[str, ...]


def _set(*settings: str) -> Options:
    return tuple(part for setting in settings for part in ("-c", setting))


PROTOCOLS: Mapping[str, Options] = {
    f"in protocol v{version}": _set(f"protocol.version={version}") for version in range(3)
}
BODIES: Mapping[str, Options] = {
    "with a Content-Length": _set("http.postBuffer=64m"),
    "in chunks": _set("http.postBuffer=1"),
}
"""git takes no buffer below 64 KiB: what is smaller has a length in any case."""
