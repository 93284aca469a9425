"""An MCP server of a few lines that needs no package: what its tools do is said in Python."""

import shlex
import textwrap
from collections.abc import Mapping

PROGRAM = """
import json, os, sys, urllib.error, urllib.request

TOOLS

def done(asked):
    method, params = asked["method"], asked.get("params") or {}
    if method == "initialize":
        server = {"name": "tiny", "version": "1"}
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": server}
    if method == "tools/list":
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in NAMES]}
    if method == "tools/call":
        text = NAMES[params["name"]](params.get("arguments") or {})
        return {"content": [{"type": "text", "text": text}]}

for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        found = done(asked)
        answer = {"result": found} if found else {"error": {"code": -32601, "message": "no"}}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
"""


def tiny(tools: Mapping[str, str]) -> str:
    """The command of a server with these tools: name to a function's body, which returns a text."""
    functions = [
        f"def {name}(given):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"
        for name, body in tools.items()
    ]
    names = "NAMES = {" + ", ".join(f'"{name}": {name}' for name in tools) + "}\n"
    program = PROGRAM.replace("TOOLS", "\n".join([*functions, names]))
    return f"python3 -c {shlex.quote(program)}"
