"""What is stored, as functions over an open transaction: SQL lives here and nowhere else.

- `users`, `tokens`, `projects`, `jobs`: who there is, and where they work.
- `items`: work items; `changes`: how a PATCH changes one.
- `links`, `comments`, `attachments`: what hangs on a work item.
- `included`: resources that others name, for `include=`.

Readers take a connection, writers a `Change`. Both raise `ApiError`, so that one transaction
ends with the answer it deserves.
"""
