"""Sandgate's own agent loop: runs in a sandbox, asks the model, works with tools, hands the work in.

It reaches the entrance and nothing else, and says what it does as JSON lines on stdout.

- `events`: the lines; `text`: what may stand in them.
- `arguments`, `schema`: what it is started with; what a tool's input must look like [pure].
- `repository`: what the repository says to agents.
- `conversation`: what was said, called and came back, in no provider's words [pure]. `kept`: that, in a file.
- `context`, `circles`: keeping the conversation short; noticing that it goes round in circles [pure].
- `output`: long results are cut, the whole kept in a file.
- `shell`, `files`, `search`: the tools of its own; `toolbox`: those and the gateway's, and their order.
- `patience`: what to do about an entrance that is away, and for how long; `retry_after`: what it asks for.
- `door`: the way to the entrance. `mcp_wire`, `mcp`: a small MCP client, both eras.
- `dialects`: one module a provider's protocol; the seam is `dialects.Dialect` [pure]. `sse`, `model`: HTTP
  around it.
- `asking`, `compaction`: asking with patience; what `context` decides, done.
- `loop`: the turns; `__main__`: puts it together.
"""
