"""The tools of the door: an MCP gateway for the handshake versions and 2026-07-28, on both sides.

What is said, and what may be done [pure]:

- `messages`, `methods`: what is asked and answered, in which form and era.
- `hosts`, `envelope`, `protocol`: was it meant for us, do headers and body agree, what does it say.
- `policy`: what becomes of a call, and by which rule; `about`: what its arguments name;
  `constraints`: what they have to fit; `canonical`: their one text, and its hash.
- `beyond_policy`: what a session may do at a connection beside calling tools.
- `names`, `schemas`, `catalogue`, `results`: what clients are shown, in a form that each takes.
  `showing`, `portable`, `references`: tools, and their schemas as every model's provider reads them.
- `session_ids`: ids that outlive a restart.

Who does it:

- `connection`, `connections`: what the gateway needs of one; all of them. `upstream`: servers of others.
- `arguments`: a call's arguments against the tool's own schema.
- `spilling`: results that are too large to be told become files in the sandbox.
- `lists`: what connections list, asked of all at once; who takes long comes later.
- `offering`: what a session's connections offer, changed tools as a person has looked at them.
- `judging`: the rules with what is known of a call; what is held is asked of a person.
  `released`, `detached`: calls that a person has allowed, made where no client waits.
- `gateway`, `beyond`, `listening`: tools; prompts and resources; what servers tell of their own accord.
- `counter`: who answers which request.
- `exchange`, `sessions`: what goes to and fro meanwhile. `stream`, `http`: the one route.
"""
