"""Look through the bytes of an object for what rules judge [pure]. Memory flat, whatever its size.

- `kinds`, `tokens`, `keys`, `likely`: which secrets there are, as tables, and what is believed of them.
- `base64_forms`: how they look inside of base64.
- `engine`: all patterns as one, `passing`: one pass of it, `scan`: all that is done with an object.
- `lfs`: pointers of Git LFS. `names`: what stands in names.
"""
