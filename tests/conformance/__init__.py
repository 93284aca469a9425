"""The gateway against the public conformance suite of MCP, and the Inspector against the gateway.

`make conformance` puts the programs in place, and runs this; nothing is fetched once they are.
"""
