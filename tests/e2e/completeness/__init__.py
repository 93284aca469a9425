"""Completeness of the egress log: a crowd of sandboxes makes attempts of every kind, and each is looked for.

- `load`: the program that runs in a sandbox; it writes down what became of each attempt.
- `canary`: a web server beyond this machine that counts who comes.
- `crowd`: the sandboxes, and what is killed meanwhile.
- `meter`: what each program uses of a processor.
- `book`: what the sandboxes tell, and the log by attempt [pure].
- `accounts`: holds one against the other, and against what the canaries counted [pure].
- `trial`: all of it, once.
"""
