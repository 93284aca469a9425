"""The tools of the door: an MCP gateway, stateless, for the handshake versions and 2026-07-28.

- `messages`: what is asked and answered, in which form [pure].
- `envelope`: what the headers say, against the body [pure].
- `protocol`: a message in, a reply or a call out [pure].
- `policy`: what becomes of a call, and by which rule [pure]; `about`: what its arguments name [pure];
  `constraints`: what they have to fit; `canonical`: their one text, and its hash [pure].
- `judging`: the rules with what is known of a call; what is held is asked of a person.
- `catalogue`: the names under which a session sees its tools [pure].
- `arguments`: a call's arguments against the tool's own schema.
- `gateway`: asks the providers, records every call before and after.
- `http`: the one route.
"""
