"""What a harness asks its model, word for word: it is started once more, before a deaf door."""

import json
import shlex
from collections.abc import Mapping
from typing import Any

from orchestrator.harnesses import HARNESSES
from orchestrator.ports import Assignment
from tests.e2e.harnesses.rows import Program
from tests.e2e.house import House

PORT = 8791
LISTENER = """
import http.server, json, os, subprocess, sys, threading

class Door(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(200)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if "/model/" in self.path:
            sys.stdout.buffer.write(body)
        self.send_error(403)

    def log_message(self, *_):
        pass

start = json.loads(sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", start["port"]), Door)
threading.Thread(target=server.serve_forever, daemon=True).start()
subprocess.run(start["argv"], cwd=start["cwd"], env=dict(os.environ, **start["env"]), timeout=60,
               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
"""


def asked(lodge: House, program: Program, run: Mapping[str, Any], workdir: str) -> str:
    """What the run's harness, started anew in its folder, asks the model. Its files lie there already."""
    start = HARNESSES[program.name].start(
        Assignment(
            model=run["model"],
            system="",
            prompt="",
            entrance=f"http://127.0.0.1:{PORT}",
            run_token="sgr_none",
            workdir=workdir,
        )
    )
    told = {"argv": start.argv, "env": start.env, "cwd": start.cwd, "port": PORT}
    script = f"exec python3 -c {shlex.quote(LISTENER)} {shlex.quote(json.dumps(told))}"
    said = lodge.inside(run, script, timeout_s=90)
    assert said.code == 0, said
    return said.output
