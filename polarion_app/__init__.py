"""The `agentic` application for Polarion, and a server for machines that have no Polarion.

- `config`: the data model as data: types, custom fields, workflows, link roles, roles.
- `embedded`: the Polarion-compatible REST server that serves this model from SQLite.

It imports nothing else of ours.
"""
