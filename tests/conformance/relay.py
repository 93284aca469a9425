"""What the suite starts as a client: hands the scenario to the test, where our client is, and waits.

Loading the client takes seconds, and there are half a hundred scenarios.
"""

import json
import os
import socket
import sys

PREFIX = "MCP_CONFORMANCE_"

given = os.environ.items()  # noqa: TID251 - how the suite says what it wants
told = {name.removeprefix(PREFIX): value for name, value in given if name.startswith(PREFIX)}
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as test, test.makefile() as answer:
    test.sendall(json.dumps({**told, "URL": sys.argv[2]}).encode() + b"\n")
    sys.exit(answer.read() or None)
