"""Where a push waits while it is looked at: received whole, indexed by git itself, nothing upstream yet.

- `pack_index`, `commits`, `raw_diff`: what git's files and output say [pure].
- `frames`: what the door and its looker say to each other [pure].

At the rim:

- `git_child`, over `piped`: the one way in which the door runs git; `children`, the looker's.
- `room`: how much of the disk stays free.
- `mirror`, `mirrors`: a bare mirror of each repository: what the host has, so that what is new can be told.
- `incoming`: the folder of one push: its very bytes, and what git makes of its pack.
- `looker`: the process that reads pushes: `reading` asks git, `look` goes through each object,
  `literals` finds honeytokens in them; `compiled`: what it leaves to the next one.
- `looking`: the door's end of it.
- `taking`, `quarantine`: one push, taken in; all of them, and what is done beside.
"""
