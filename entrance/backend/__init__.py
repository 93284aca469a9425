"""The counter for backends: the one system that an MCP server in a sandbox works with, and is to log in to.

The server is told of an address of the door and of a token that opens nothing else, from nowhere else;
the credential is put on here.

- `addresses`: addresses in its answers, as the server may follow them [pure].
- `headers`: which headers pass [pure].
- `counter`: the route: judged, recorded, sent on with the credential, answered without it.
"""
