"""Handlers for files, folders and the metrics. What may take long runs in a thread."""

import asyncio
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any, TypeVar

from execd import files, trees
from execd.answer import Answer, Request, of_json
from execd.download import download
from execd.errors import invalid
from execd.metrics import Metrics
from execd.multipart import Form, boundary_of
from execd.routes import Route
from execd.upload import receive

THREADS = 2
T = TypeVar("T")


def started_threads() -> ThreadPoolExecutor:
    """Return a pool whose threads exist: later the sandbox's process limit may allow none.

    They take no signals. While a command is being started, the main thread blocks all; a signal
    whose default action is to end the process would then be taken by a thread that blocks none, and
    end it, PID 1 or not. With nobody to take it, it waits, and PID 1 drops it on unblocking.
    """
    pool, meeting = ThreadPoolExecutor(THREADS), Barrier(THREADS)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        for waiting in [pool.submit(meeting.wait) for _ in range(THREADS)]:
            waiting.result()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return pool


class FileApi:
    """What /files, /directories, /metrics and /ping do."""

    def __init__(self, threads: ThreadPoolExecutor, metrics: Metrics) -> None:
        self._threads = threads
        self._metrics = metrics

    def routes(self) -> list[Route]:
        """Return the part of the contract that is served here."""
        return [
            ("GET", "/ping", self.ping),
            ("GET", "/metrics", self.metrics),
            ("GET", "/files/info", self.info),
            ("POST", "/files/upload", self.upload),
            ("GET", "/files/download", self.download),
            ("GET", "/files/search", self.search),
            ("POST", "/files/mv", self.move),
            ("POST", "/files/permissions", self.permissions),
            ("POST", "/files/replace", self.replace),
            ("DELETE", "/files", self.remove),
            ("GET", "/directories/list", self.list_folder),
            ("POST", "/directories", self.make_folders),
            ("DELETE", "/directories", self.remove_folders),
        ]

    async def ping(self, request: Request) -> Answer:  # noqa: ARG002  # nothing to ask
        """Say that execd answers."""
        return Answer()

    async def metrics(self, request: Request) -> Answer:  # noqa: ARG002  # nothing to ask
        """Say what the sandbox uses."""
        return of_json(self._metrics.read())

    async def info(self, request: Request) -> Answer:
        """Describe each `path`."""
        paths = _paths(request)
        return of_json(await self._threaded(lambda: {path: files.info(path) for path in paths}))

    async def upload(self, request: Request) -> Answer:
        """Write the files of a form."""
        form = Form(boundary_of(request.head.headers.get("content-type", "")))
        await receive(form, request.body.chunks())
        return Answer()

    async def download(self, request: Request) -> Answer:
        """Return a file, or a part of it."""
        _paths(request)
        return download(request)

    async def search(self, request: Request) -> Answer:
        """Find files by a glob."""
        path, pattern = _paths(request)[0], request.one("pattern", "**")
        return of_json(await self._threaded(lambda: trees.search(path, pattern)))

    async def move(self, request: Request) -> Answer:
        """Move each `src` to its `dest`."""
        wanted = await request.body.json()
        if not isinstance(wanted, list) or not all(isinstance(item, dict) for item in wanted):
            raise invalid("the body must be a list of objects with src and dest")
        pairs = [(_path(item.get("src")), _path(item.get("dest"))) for item in wanted]
        await self._each(pairs, lambda pair: files.move(*pair))
        return Answer()

    async def permissions(self, request: Request) -> Answer:
        """Set mode, owner, group of each path."""
        wanted = await _by_path(request)
        await self._each(wanted.items(), lambda item: files.set_permissions(*item))
        return Answer()

    async def replace(self, request: Request) -> Answer:
        """Replace text in each path; with `verbose=true` say how often."""
        wanted = await _by_path(request)
        counts = await self._threaded(
            lambda: {path: files.replace_text(path, item) for path, item in wanted.items()}
        )
        if request.one("verbose", "false").lower() != "true":
            return Answer()
        return of_json({path: {"replacedCount": count} for path, count in counts.items()})

    async def remove(self, request: Request) -> Answer:
        """Remove each file."""
        paths = _paths(request)
        await self._threaded(lambda: files.remove_files(paths))
        return Answer()

    async def list_folder(self, request: Request) -> Answer:
        """Describe what is in a folder."""
        path, depth = _paths(request)[0], request.number("depth", 1)
        return of_json(await self._threaded(lambda: trees.listing(path, depth or 0)))

    async def make_folders(self, request: Request) -> Answer:
        """Make each folder."""
        wanted = await _by_path(request)
        await self._each(wanted.items(), lambda item: files.make_folder(*item))
        return Answer()

    async def remove_folders(self, request: Request) -> Answer:
        """Remove each folder and all that is in it."""
        await self._each(_paths(request), trees.remove_folder)
        return Answer()

    async def _threaded(self, action: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, action)

    async def _each(self, items: Any, action: Callable[[Any], object]) -> None:
        await self._threaded(lambda: [action(item) for item in items])


def _path(value: Any) -> str:
    if not isinstance(value, str) or not value or "\0" in value:
        raise invalid("a path is missing or not possible")
    return value


def _paths(request: Request) -> list[str]:
    paths = request.query.get("path", [])
    if not paths:
        raise invalid("the query needs path")
    return [_path(path) for path in paths]


async def _by_path(request: Request) -> dict[str, Any]:
    wanted = await request.body.json()
    if not isinstance(wanted, dict) or not wanted:
        raise invalid("the body must map paths to what is wanted of them")
    return {_path(path): item for path, item in wanted.items()}
