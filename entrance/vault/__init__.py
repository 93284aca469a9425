"""The one place where a plaintext secret exists: sealed at rest, unsealed only for where it may go.

- `seal`: AES-256-GCM, bound to the row that it belongs to [pure].
- `credentials`: where a secret may go, and how it is put on a request [pure].
- `forms`: the forms in which a secret may be told back [pure].
- `kinds`: the uses that are known by name, as data [pure].
- `app_key`: the private key of a GitHub App, and the token that it signs [pure].
- `keyfile`: the key, in a file outside the database.
- `vault`: puts, lists and deletes secrets; makes the headers of a request that may carry one.
- `remembered`: sealed rows, remembered for a moment.
- `rest`: a request to a git host's API that carries a secret, and what its answer means.
- `installation`: the tokens of an App's installation: made, kept for a run, revoked.
- `repositories`: the credentials of granted repositories.
"""
