"""Client x protocol x rule: real git clients, and bytes that none of them sends, before a real git host.

- `template`: the repository that the host has, and a clone of it, made once.
- `acts`: what an agent does in its clone before it pushes.
- `ways`: how a client may be set.
- `promises`: what must hold at the end of every test here, whatever it was about.
- `conftest`: the door, with these promises looked at when the test is over.

Each table's rows read as sentences: they are the names of the tests.
"""
