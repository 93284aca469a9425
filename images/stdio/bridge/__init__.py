"""Between HTTP and an MCP server that speaks over stdio: streamable HTTP in, lines of JSON out.

Runs in the server's sandbox, beside it; only execd reaches it, over loopback. Standard library only.

- `wire`: HTTP, as far as it is needed.
- `routing`: whose each message of the server is [pure].
- `process`: the server's process: its lines, its words on stderr, its end.
- `conversation`: one process and those who talk with it.
- `service`: which conversation a request is for.
"""
