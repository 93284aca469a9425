"""What is judged of a push once its pack was read, each rule a row of a table with a mode [pure].

- `facts`: what a push brings, as the rules see it.
"""
