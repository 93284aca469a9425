"""`sandgate egress`: what agents sent, and wanted to send.

- `commands`: the commands together. `ls`, `tail`, `ask` (query), `verify`, `export`: one each.
- `targets`: where an export goes. `options`: which log, and which of its attempts. `page`: how attempts look.
"""
