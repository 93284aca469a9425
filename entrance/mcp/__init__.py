"""The tools of the door: an MCP gateway, stateless, for the handshake versions and 2026-07-28.

- `messages`: what is asked and answered, in which form [pure].
- `envelope`: what the headers say, against the body [pure].
- `protocol`: a message in, a reply or a call out [pure].
- `policy`: which tool a session may call [pure].
- `catalogue`: the names under which a session sees its tools [pure].
- `arguments`: a call's arguments against the tool's own schema.
- `gateway`: asks the providers, records every call before and after.
- `http`: the one route.
"""
