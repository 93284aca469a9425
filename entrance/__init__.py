"""The first door of a sandbox: what it wants of the world is decided, metered and recorded here.

It imports nothing else of ours. Its rooms, from the bottom up:

- `decision`, `session`, `push_policy`: what may be decided, about whom, and what is checked of pushes [pure].
- `errors`: what can go wrong, by what the caller does about it.
- `ports`: what the door needs from whoever runs it.
- `log`: the one log of every decision, written before the answer goes out, and of what came of it.
- `registry`, `identity`: the open sessions; who asks, by token and address together.
- `intake`, `answers`, `turns`: bodies with a limit; how the door says no; so much at once for each run.
- `vault`: the one place where a plaintext secret exists.
- `honeytokens`: canary credentials, and what notices them when they go out.
- `watching`: looks at the address and the headers of every request for them.
- `mcp`, `git`, `model`: the three counters of the door for agents.
- `backend`: that for the programs of MCP servers in sandboxes.
- `app`: puts them behind one aiohttp application.
"""
