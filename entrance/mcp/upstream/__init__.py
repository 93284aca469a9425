"""Servers of others, as connections: streamable HTTP in both eras, legacy SSE, and stdio in sandboxes.

- `events`: a stream of events, fed as it comes [pure].
- `wire`: what is sent, in which form; what may be asked back, and how a refusal of it looks [pure].
- `endpoint`: one URL: requests with the credential on. `answer`: what comes back, as messages.
- `conversing`: what a server says while it does something, and who hears it.
- `handshake`: a session of the handshake era. `modern`: 2026-07-28, which has none.
- `rounds`: what a modern server asks instead of answering. `param_headers`: arguments in headers [pure].
- `carrier`: what a session needs of what carries it: `streamable` HTTP, or a `channel`: `sse`.
- `transports`: which there are.
- `pages`: all that a server lists, page by page. `run_lists`: that, remembered for a run.
- `server`: the connection: finds the era, keeps one session a run.
- `sandboxed`: a server over stdio, which each run has for itself.
"""
