"""Servers of others, as connections: streamable HTTP in both eras.

- `events`: a stream of events, fed as it comes [pure].
- `wire`: what is sent, in which form; what may be asked back, and how a refusal of it looks [pure].
- `endpoint`: one URL: requests with the credential on, answers as messages.
- `conversing`: what a server says while it does something, and who hears it.
- `handshake`: a session of the handshake era. `modern`: 2026-07-28, which has none.
- `server`: the connection: finds the era, keeps one session a run, remembers what is offered.
"""
