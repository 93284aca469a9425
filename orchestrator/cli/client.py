"""How the commands talk to the runner: its API on loopback, with the installation's own token."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import orjson

from orchestrator.cli.codes import Code, CommandFailed

TIMEOUT = httpx.Timeout(30.0, connect=3.0)
WATCH_TIMEOUT = httpx.Timeout(30.0, connect=3.0, read=60.0)
BY_STATUS = {404: Code.NOT_FOUND, 400: Code.REFUSED, 403: Code.REFUSED, 409: Code.REFUSED}


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

    def download(self, path: str) -> Iterator[bytes]:
        """The body at `path`, in pieces."""
        with self._translated(), self._http.stream("GET", path) as answer:
            if answer.is_error:
                answer.read()
                raise _refused(answer)
            yield from answer.iter_bytes()

    def watch(self, run: str, after: int = -1) -> Iterator[tuple[str, Any]]:
        """The run's server-sent events as (kind, data), until it has ended. Reconnects by itself."""
        while True:
            for kind, data in self._stream(run, after):
                if kind == "event":
                    after = data["seq"]
                yield kind, data
                if kind == "run" and data["state"] == "ended":
                    return

    def wait_for_run(self, task: str, patience_s: float = 30.0) -> dict[str, Any]:
        """The task's newest run; waits for it when there is none yet."""
        until = time.monotonic() + patience_s
        while True:
            runs: list[dict[str, Any]] = self.get(f"/api/runs?task={task}")
            if runs:
                return runs[0]
            if time.monotonic() > until:
                raise CommandFailed(
                    f"task {task} has no run: is it open, and assigned to a hired agent?",
                    Code.NOT_FOUND,
                )
            time.sleep(0.3)

    def _stream(self, run: str, after: int) -> Iterator[tuple[str, Any]]:
        kind = ""
        path = f"/api/runs/{run}/events?after={after}"
        with self._translated(), self._http.stream("GET", path, timeout=WATCH_TIMEOUT) as answer:
            if answer.is_error:
                answer.read()
                raise _refused(answer)
            for line in answer.iter_lines():
                if line.startswith("event: "):
                    kind = line[7:]
                elif line.startswith("data: "):
                    yield kind, orjson.loads(line[6:])

    def _call(self, method: str, path: str, body: object = None) -> Any:
        content = orjson.dumps(body) if body is not None else None
        with self._translated():
            answer = self._http.request(method, path, content=content)
        if answer.is_error:
            raise _refused(answer)
        return orjson.loads(answer.content) if answer.content else None

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except httpx.HTTPError as error:
            raise CommandFailed(
                f"the runner doesn't answer at {self._http.base_url} ({error}): `sandgate up` starts it",
                Code.NOT_RUNNING,
            ) from error


def _refused(answer: httpx.Response) -> CommandFailed:
    try:
        message = str(orjson.loads(answer.content)["error"]["message"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        message = f"the runner answered {answer.status_code}"
    return CommandFailed(message, BY_STATUS.get(answer.status_code, Code.FAILED))
