"""The models of the door: a run's calls go on with the real key, are metered and cut at its budget.

- `dialects`: how each provider's API is read: requests, usage, streams [pure].
- `tokens`, `prices`: what a call costs; `worst`: what it can cost at most [pure].
- `budget`, `envelope`: whether a run may make it, and what it draws on shared money [pure].
- `headers`, `redaction`: what passes, in each direction [pure].
- `provider`: where a provider is and which secret opens it.
- `budgets`: what calls in flight hold; `judge`: whether a call goes out, and what for.
- `call`: one call on its way: what was seen of it, settled once at its end (`ending`).
- `upstream`: to the provider and back (`way`, and `failing` when it goes wrong).
- `gateway`: the routes.
"""
