"""Both sides of the gateway against the public conformance suite of MCP, and the Inspector against it.

`make conformance` puts the programs in place, and runs this; nothing is fetched once they are.
"""
