"""How the commands talk to the runner: its API on loopback, with the installation's own token."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import httpx
import orjson

from orchestrator.cli.codes import Code, CommandFailed

TIMEOUT = httpx.Timeout(30.0, connect=3.0)
BY_STATUS = {
    400: Code.REFUSED,
    403: Code.REFUSED,
    404: Code.NOT_FOUND,
    409: Code.REFUSED,
    413: Code.REFUSED,
}
PATIENCE_S = 60.0
"""So long `watch` waits for a runner that is away: another `sandgate up` may restart it."""
PAUSE_S = 0.3
BROKEN = 500
"""From this status on it is the runner that is at fault, and it may be better soon."""


class RunnerAway(CommandFailed):
    """The runner doesn't answer now."""

    def __init__(self, message: str) -> None:
        super().__init__(message, Code.NOT_RUNNING)


class Runner:
    """The runner's API. Every failure is a `CommandFailed` with a sentence."""

    def __init__(self, base_url: str, token_file: Path) -> None:
        try:
            token = token_file.read_text().strip()
        except OSError as error:
            raise CommandFailed(
                f"there is no installation here ({token_file} can't be read): run `sandgate up` first, "
                "or set SANDGATE_HOME",
                Code.NOT_RUNNING,
            ) from error
        self._http = httpx.Client(
            base_url=base_url,
            headers={"Authorization": f"Bearer {token}"},
            timeout=TIMEOUT,
            trust_env=False,
        )

    def __enter__(self) -> Self:
        """Use it for a while; its connections are closed at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close its connections."""
        self.close()

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def get(self, path: str) -> Any:
        """The JSON at `path`."""
        return self._call("GET", path)

    def post(self, path: str, body: object = None) -> Any:
        """The JSON that a POST answers."""
        return self._call("POST", path, body)

    def put(self, path: str, body: object) -> Any:
        """The JSON that a PUT answers."""
        return self._call("PUT", path, body)

    def delete(self, path: str) -> Any:
        """The JSON that a DELETE answers."""
        return self._call("DELETE", path)

    def download(self, path: str) -> Iterator[bytes]:
        """The body at `path`, in pieces."""
        with self._streamed(path) as answer:
            yield from answer.iter_bytes()

    def stream(self, path: str) -> Iterator[tuple[str, Any]]:
        """The server-sent events that a POST answers, as (kind, data), to their end."""
        with self._streamed(path, "POST") as answer:
            yield from _events_in(answer)

    def watch(
        self,
        run: str,
        after: int = -1,
        *,
        tell: Callable[[str], None] = lambda _: None,
        patience_s: float = PATIENCE_S,
    ) -> Iterator[tuple[str, Any]]:
        """The run's server-sent events as (kind, data), until it has ended.

        A runner that goes away is waited for, at most `patience_s` without a word from it; `tell`
        is told. Raises: RunnerAway.
        """
        path = f"/api/runs/{segment(run)}/events"
        for kind, data in self._patiently(path, str(after), tell, patience_s):
            yield kind, data
            if kind == "run" and data["state"] == "ended":
                return

    def inbox(
        self, *, tell: Callable[[str], None] = lambda _: None, patience_s: float = PATIENCE_S
    ) -> Iterator[tuple[str, Any]]:
        """The inbox's server-sent events as (kind, data), for ever. A runner that is away: as in `watch`."""
        return self._patiently("/api/approvals/events", "", tell, patience_s)

    def _patiently(
        self, path: str, mark: str, tell: Callable[[str], None], patience_s: float
    ) -> Iterator[tuple[str, Any]]:
        """The events of a path after a mark, whenever they come, until nobody wants more.

        Raises: RunnerAway.
        """
        away_since: float | None = None
        while True:
            trouble = RunnerAway("the runner ends every answer before it is whole")
            try:
                for kind, data, reached in self._events(path, mark):
                    if away_since is not None:
                        tell("the runner is back")
                    away_since = None
                    mark = reached or mark
                    yield kind, data
            except RunnerAway as error:
                trouble = error
            if away_since is None:
                away_since = time.monotonic()
                tell(f"the runner went away; waiting for it, {patience_s:.0f} s at most")
            elif time.monotonic() - away_since > patience_s:
                raise trouble
            time.sleep(PAUSE_S)

    def wait_for_run(self, task: str, patience_s: float = 30.0) -> dict[str, Any]:
        """The task's newest run; waits for it when there is none yet."""
        until = time.monotonic() + patience_s
        while True:
            runs: list[dict[str, Any]] = self.get(f"/api/runs?limit=1&task={segment(task)}")
            if runs:
                return runs[0]
            if time.monotonic() >= until:
                raise CommandFailed(
                    f"task {task} has no run: {self._why_none(task)}", Code.NOT_FOUND
                )
            time.sleep(PAUSE_S)

    def _why_none(self, task: str) -> str:
        try:
            waits: str = self.get(task_path(task))["waits_for"]
        except RunnerAway:
            raise
        except CommandFailed as error:
            return str(error)
        return f"it waits for {waits}" if waits else "none was wanted"

    def _events(self, path: str, mark: str) -> Iterator[tuple[str, Any, str]]:
        headers = {"Last-Event-ID": mark} if mark else {}
        with self._streamed(path, headers=headers) as answer:
            yield from _marked_events_in(answer)

    @contextmanager
    def _streamed(
        self, path: str, method: str = "GET", headers: Mapping[str, str] | None = None
    ) -> Iterator[httpx.Response]:
        with self._translated(), self._http.stream(method, path, headers=headers) as answer:
            if answer.is_error:
                answer.read()
                refusal = _refused(answer)
                if answer.status_code >= BROKEN:
                    raise RunnerAway(str(refusal))
                raise refusal
            yield answer

    def _call(self, method: str, path: str, body: object = None) -> Any:
        content = orjson.dumps(body) if body is not None else None
        with self._translated():
            answer = self._http.request(method, path, content=content)
        if answer.is_error:
            raise _refused(answer)
        try:
            return orjson.loads(answer.content) if answer.content else None
        except orjson.JSONDecodeError as error:
            raise RunnerAway(
                f"what answers at {self._http.base_url} is not the runner: see `sandgate status`"
            ) from error

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except httpx.HTTPError as error:
            raise RunnerAway(
                f"the runner doesn't answer at {self._http.base_url} ({error}): `sandgate up` starts it"
            ) from error


def segment(text: str) -> str:
    """Text as a part of a path or a query, whatever is in it."""
    return quote(text, safe="")


def task_path(task: str) -> str:
    """A task's path in the API. Raises: CommandFailed when it is no task's id."""
    parts = task.split("/")
    if len(parts) != 2 or not all(part.strip(".") for part in parts):  # noqa: PLR2004 - PROJECT/ITEM
        raise CommandFailed(f"{task} is no task's id: it is PROJECT/ITEM", Code.USAGE)
    return f"/api/tasks/{segment(parts[0])}/{segment(parts[1])}"


def lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Whole lines; only a line feed ends one: text may hold any other separator."""
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole


def _events_in(answer: httpx.Response) -> Iterator[tuple[str, Any]]:
    for kind, data, _ in _marked_events_in(answer):
        yield kind, data


def _marked_events_in(answer: httpx.Response) -> Iterator[tuple[str, Any, str]]:
    """Each event with its id; comments, which only say that the stream lives, are left out."""
    kind = mark = ""
    for line in lines(answer.iter_bytes()):
        if line.startswith(b"event: "):
            kind = line[7:].decode()
        elif line.startswith(b"id: "):
            mark = line[4:].decode()
        elif line.startswith(b"data: "):
            yield kind, orjson.loads(line[6:]), mark
            mark = ""


def _refused(answer: httpx.Response) -> CommandFailed:
    try:
        message = str(orjson.loads(answer.content)["error"]["message"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        message = f"the runner answered {answer.status_code}"
    return CommandFailed(message, BY_STATUS.get(answer.status_code, Code.FAILED))
