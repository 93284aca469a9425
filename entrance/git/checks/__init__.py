"""What is judged of a push once its pack was read, each rule a row of a table with a mode [pure].

- `facts`: what a push brings, as the rules see it.
- `scanners`: look through an object's bytes, and through names, for what can't be told from outside.
- `globs`, `gates`, `secret_kinds`: which paths are gates, and which kinds of secrets there are.
- `history`, `authors`, `files`, `links`, `names`, `sightings`: what each rule looks for.
- `mending`: the command that makes commits the run's own.
- `finding`, `rules`: the table of the rules, and how what they find is said.
- `judging`: asks all of them; the worst mode decides.
"""
