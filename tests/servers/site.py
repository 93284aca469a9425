"""A web site with what package managers fetch: a Python index, an npm registry, a repository of git."""

import base64
import hashlib
import io
import json
import os
import socket
import ssl
import subprocess
import tarfile
import zipfile
from pathlib import Path

from aiohttp import web

PYTHON, NPM = "sandgate-sample", "sandgate-sample-js"
_OWN = {"PATH": os.defpath, "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nonexistent"}
WHEEL = "sandgate_sample-1.0-py3-none-any.whl"


class Site:
    """Serves a folder over https."""

    def __init__(self, folder: Path, host: str) -> None:
        self.folder, self.host = folder, host
        self._runner: web.AppRunner | None = None

    async def start(self, sock: socket.socket, context: ssl.SSLContext) -> None:
        """Serve on a listening socket."""
        app = web.Application()
        app.router.add_get("/{path:.*}", self._serve)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        await web.SockSite(self._runner, sock, ssl_context=context).start()

    async def stop(self) -> None:
        """Serve no more."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        path = self.folder / request.match_info["path"]
        if path.is_dir():
            path /= "index.html"
        if not path.is_file():
            raise web.HTTPNotFound
        return web.FileResponse(path)

    def fill(self) -> None:
        """Make what it serves."""
        self._python_index()
        self._npm_registry()
        self._repository()

    def _python_index(self) -> None:
        page = self.folder / "simple" / PYTHON
        page.mkdir(parents=True)
        (page / "index.html").write_text(f'<a href="/files/{WHEEL}">{WHEEL}</a>')
        files = self.folder / "files"
        files.mkdir()
        info = "sandgate_sample-1.0.dist-info"
        with zipfile.ZipFile(files / WHEEL, "w") as wheel:
            wheel.writestr("sandgate_sample.py", "WHAT = 'sample'\n")
            wheel.writestr(
                f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {PYTHON}\nVersion: 1.0\n"
            )
            wheel.writestr(
                f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            wheel.writestr(f"{info}/RECORD", "")

    def _npm_registry(self) -> None:
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as tar:
            for name, text in (
                ("package.json", json.dumps({"name": NPM, "version": "1.0.0"})),
                ("index.js", "module.exports = 'sample'\n"),
            ):
                entry = tarfile.TarInfo(f"package/{name}")
                entry.size = len(text)
                tar.addfile(entry, io.BytesIO(text.encode()))
        (self.folder / "sample.tgz").write_bytes(packed.getvalue())
        digest = base64.b64encode(hashlib.sha512(packed.getvalue()).digest()).decode()
        dist = {"tarball": f"https://{self.host}/sample.tgz", "integrity": f"sha512-{digest}"}
        version = {"name": NPM, "version": "1.0.0", "dist": dist}
        document = {"name": NPM, "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
        (self.folder / NPM).write_text(json.dumps(document))

    def _repository(self) -> None:
        """For git's oldest protocol, which needs nothing but files."""
        work, bare = self.folder / "work", self.folder / "sample.git"
        git = ("git", "-c", "user.name=x", "-c", "user.email=x@example.org")
        for argv in (
            (*git, "init", "-q", "-b", "main", str(work)),
            (*git, "-C", str(work), "commit", "-q", "--allow-empty", "-m", "first"),
            (*git, "clone", "-q", "--bare", str(work), str(bare)),
            (*git, "-C", str(bare), "update-server-info"),
        ):
            subprocess.run(argv, check=True, capture_output=True, env=_OWN)
