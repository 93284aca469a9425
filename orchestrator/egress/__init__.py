"""Reading the egress log: what agents sent, as lines, as a table, and as what other systems understand.

The log is written by `entrance.log`; nothing here writes to it. Its parts, from the bottom up:

- `columns`, `attempts`: the table `attempts`, and the SQL that makes it of the log's lines [pure].
- `filters`: which attempts are wanted, for the table and for single lines [pure].
- `segments`, `reader`: the log's files; its lines in order, while it grows.
- `cache`: a Parquet file beside each sealed segment.
- `statement`, `database`: which SQL may be asked, and the locked connection that it is asked of.
- `query`, `answer`: anybody's SQL, in a process of its own that has limits.
- `ocsf`: records as OCSF events [pure].
- `sending`: sending the log on, each record once, to a file, to syslog, by HTTP.
"""
