"""The one place where a plaintext secret exists: sealed at rest, unsealed only for where it may go.

- `seal`: AES-256-GCM, bound to the row that it belongs to [pure].
- `credentials`: where a secret may go, and how it is put on a request [pure]. `places`: which URLs
  are meant [pure].
- `forms`: the forms in which a secret may be told back [pure].
- `kinds`: the uses that are known by name, as data [pure].
- `private_key`: private keys in PEM, as people seal them [pure].
- `app_key`: the private key of a GitHub App, and the token that it signs [pure].
- `keyfile`: the key, in a file outside the database.
- `vault`: puts, lists and deletes secrets; makes the headers of a request that may carry one.
- `remembered`: sealed rows, remembered for a moment.
- `rest`: a request to a git host's API, or for a token, that carries a secret, and what its answer means.
- `installation`: the tokens of an App's installation: made, kept for a run, revoked.
- `repositories`: the credentials of granted repositories.
- `discovery`: who gives tokens for an MCP server, as it and its authorization server say it [pure].
- `client_proof`: how a client proves to an authorization server who it is [pure].
- `client_tokens`: the tokens of OAuth's client credentials: asked for, kept, given up.
- `servers`: the credentials of MCP servers.
"""
