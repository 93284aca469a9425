"""Where a push waits while it is looked at: received whole, indexed by git itself, nothing upstream yet.

- `git_child`: the one way in which the door runs git.
- `mirror`: a bare mirror of each repository: what the host has, so that what is new can be told.
- `incoming`: the folder of one push: its very bytes, and what git makes of its pack.
- `pack_index`: which objects a pack has [pure].
- `raw_diff`, `commits`: what git prints, read [pure].
- `looking`: looks through each object of a pack, in a process of its own (`looker`):
  `look` at all of them, `news` at those in which something was seen, `objects` as git gives them out.
- `reading`: makes of all that what the rules judge.
- `quarantine`: the parts put together.
"""
