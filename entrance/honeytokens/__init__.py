"""Canary credentials in every sandbox, and what notices them when they go out by any door.

- `canaries`: a run's canaries, derived from a key, and the files that they stand in [pure].
- `unfold`: undoes what wraps or escapes a text on its way [pure].
- `traps`: finds a sandbox's canaries in bytes that come in pieces [pure].
- `watch`: looks at what a sandbox sends; a find is recorded and refused, and the alarm raised.
"""
