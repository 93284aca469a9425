"""`sandgate egress`: what agents sent, and wanted to send.

- `commands`: the commands together. `ls`, `tail`, `ask` (query), `verify`, `export`: one each.
- `options`: which log, and which of its attempts. `page`: how attempts look.
"""
