"""The models of the door: a run's calls go on with the real key, are metered and cut at its budget.

- `dialects`: how each provider's API is read: requests, usage, streams [pure].
- `tokens`, `prices`, `budget`: what a call costs and whether the run may make it [pure].
- `headers`: which headers pass, in each direction [pure].
- `provider`: where a provider is and which secret opens it.
- `call`: one call on its way: what was seen of it, settled once at its end.
- `gateway`: the routes.
"""
