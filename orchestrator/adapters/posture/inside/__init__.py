"""What the battery runs inside a sandbox: modules of plain standard Python, joined into one file.

Only the sandbox image's own Python runs it, 3.11 or later, with nothing of ours. It tries what it is
ordered to, and prints one JSON object a line for each thing tried; it judges nothing.

- `network`: ways out by sockets. `kernel`: calls, socket families, what the process may do.
- `places`: files, mounts, `/proc`, limits. `requests`: bytes to a door, and what came back.
- `tunnels`: the same through the egress proxy.
- `tries`: which word of an order means which function; runs them.
"""
