"""`ports.GitHosts` over the hosts' own APIs: GitHub, GitLab, Gitea and Forgejo.

- `api`: one repository's API: a request with the grant's credential, pages, what is read of answers.
- `github`, `gitlab`, `gitea`: how each finds, opens and changes a pull request.
- `hosts`: which of them a grant means; one pull request however often it is asked for.
"""
