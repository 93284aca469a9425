"""A client of the Docker engine that leaves nothing behind when no engine answers."""

import socket
from urllib.parse import urlsplit

import docker
from docker.errors import DockerException

SOCKET = "unix:///var/run/docker.sock"


def connect(url: str | None, *, timeout_s: float) -> docker.DockerClient:
    """Open a client of the engine at `url`, or at the usual socket; the caller closes it.

    A Unix socket is knocked at first: docker-py opens one before it finds that nobody
    answers, and then leaves it open to the garbage collector.

    Raises: DockerException when no engine answers.
    """
    where = url or SOCKET
    parts = urlsplit(where)
    if parts.scheme in {"unix", "http+unix"}:
        _knock(f"{parts.netloc}{parts.path}", timeout_s=timeout_s)
    return docker.DockerClient(base_url=where, timeout=int(timeout_s))


def _knock(path: str, *, timeout_s: float) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as knocker:
        knocker.settimeout(timeout_s)
        try:
            knocker.connect(path)
        except OSError as error:
            raise DockerException(f"no Docker engine answers at {path}: {error}") from error
