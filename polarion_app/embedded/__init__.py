"""A Polarion-compatible REST server on SQLite, for machines that have no Polarion.

Run it as `python -m polarion_app.embedded --data DIR --port N --admin-token-file FILE`.
From the bottom up:

- `errors`, `documents`, `permissions`, `values`, `query` [pure]: the wire's shapes and rules.
- `database`: SQLite with one writer and some readers, off the event loop.
- `records`: what is stored, as functions over an open transaction.
- `routes`: one module an area of the REST API, each a list of routes.
- `gate`: every request's way in: errors, tokens, media types.
- `app`: puts it all behind one aiohttp application.

It is not Polarion: no documents, test runs, plans, history or SQL queries. What it has behaves
as Polarion's REST API does, its leniency included (`Options.strict` takes that away).
"""
