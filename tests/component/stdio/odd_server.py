"""An MCP server over stdio that does what it is told, by the method that it is asked.

All methods are tools as well.
"""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

heard: list[Any] = []
"""What it was told besides."""
asked: dict[str, Any] = {}
"""Who waits for what it asked its client."""
Request = Mapping[str, Any]


def write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def say(**message: Any) -> None:
    write(json.dumps({"jsonrpc": "2.0", **message}))


def done(request: Request, **result: Any) -> None:
    content = [{"type": "text", "text": json.dumps(result)}]
    say(id=request["id"], result={**result, "content": content})


def initialize(request: Request) -> None:
    told = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {}}
    done(request, **told, heard=len(heard))


def progress(request: Request) -> None:
    token = request["params"]["_meta"]["progressToken"]
    say(method="notifications/progress", params={"progressToken": token, "progress": 1})
    done(request)


def ask(request: Request) -> None:
    asked["q-1"] = request["id"]
    say(id="q-1", method="roots/list", params={})


def tell(request: Request) -> None:
    say(method="notifications/tools/list_changed")
    done(request)


def garbage(request: Request) -> None:
    write("this is no JSON\n[1, 2]\n\n" + "[" * 100_000)
    write("x" * (33 << 20))
    say(id=10**9, result={"for": "nobody"})
    done(request, survived=True)


def words(request: Request) -> None:
    sys.stderr.write("w" * (3 << 20) + " the last of them\n")
    sys.stderr.flush()
    done(request)


def leave(_: Request) -> None:
    subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL)
    sys.exit(0)


def stay(request: Request) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    done(request)
    time.sleep(600)


def tools(request: Request) -> None:
    listed = [{"name": name, "inputSchema": {"type": "object"}} for name in METHODS]
    say(id=request["id"], result={"tools": listed})


METHODS: Mapping[str, Callable[[Request], None]] = {
    "initialize": initialize,
    "heard": lambda request: done(request, heard=heard),
    "progress": progress,
    "ask": ask,
    "tell": tell,
    "garbage": garbage,
    "words": words,
    "die": lambda _: sys.exit(3),
    "leave": leave,
    "stay": stay,
    "hang": lambda _: None,
}


def take(message: Request) -> None:
    method = message.get("method")
    name = message["params"]["name"] if method == "tools/call" else method
    does = tools if method == "tools/list" else METHODS.get(str(name))
    if does is not None and "id" in message:
        does(message)
    elif "method" in message and "id" in message:
        error = {"code": -32601, "message": f"no {message['method']}"}
        say(id=message["id"], error=error)
    elif message.get("id") in asked:
        say(id=asked.pop(message["id"]), result={"answered": message.get("result")})
    else:
        heard.append(message)


for line in sys.stdin:
    take(json.loads(line))
