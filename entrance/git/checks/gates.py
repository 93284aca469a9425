"""Paths that are gates: what stands there is run, or obeyed, by somebody else's machine [pure].

A gate changed by an agent is read by a person first. Rows are globs and what they are to whom.
"""

from collections.abc import Mapping, Sequence

from entrance.git.checks.globs import folded, globs_of

GATES: Mapping[str, tuple[str, ...]] = {
    "a workflow of GitHub Actions": (
        ".github/workflows/**",
        ".github/actions/**",
        "**/action.yml",
        "**/action.yaml",
    ),
    "a workflow of Gitea or Forgejo": (".gitea/**", ".forgejo/**"),
    "GitLab CI": ("**/.gitlab-ci.yml", "**/*.gitlab-ci.yml", ".gitlab/**"),
    "another CI's configuration": (
        "**/Jenkinsfile",
        "**/Jenkinsfile.*",
        "**/*.jenkinsfile",
        "azure-pipelines*.yml",
        "azure-pipelines*.yaml",
        ".azure-pipelines/**",
        ".azuredevops/**",
        ".circleci/**",
        "bitbucket-pipelines.yml",
        ".travis.yml",
        ".drone.yml",
        ".drone.star",
        ".woodpecker.yml",
        ".woodpecker.yaml",
        ".woodpecker/**",
        ".buildkite/**",
        ".teamcity/**",
        ".semaphore/**",
        ".builds/**",
        ".build.yml",
        ".cirrus.yml",
        ".cirrus.star",
        "appveyor.yml",
        ".appveyor.yml",
        "cloudbuild.yaml",
        "buildspec.yml",
        "codemagic.yaml",
        "bitrise.yml",
        "wercker.yml",
        ".zuul.yaml",
        ".zuul.d/**",
        "zuul.yaml",
        "zuul.d/**",
    ),
    "who must review what": (
        "CODEOWNERS",
        ".github/CODEOWNERS",
        ".gitlab/CODEOWNERS",
        ".gitea/CODEOWNERS",
        ".forgejo/CODEOWNERS",
        "docs/CODEOWNERS",
        ".bitbucket/CODEOWNERS",
    ),
    "a bot that writes to the repository": (
        ".github/dependabot.yml",
        ".github/dependabot.yaml",
        "renovate.json",
        "renovate.json5",
        ".renovaterc",
        ".renovaterc.*",
        ".github/renovate.*",
        ".gitlab/renovate.*",
        ".mergify.yml",
        ".github/mergify.yml",
        ".github/settings.yml",
    ),
    "git's own settings for those who check it out": (
        ".gitmodules",
        "**/.gitattributes",
        ".lfsconfig",
    ),
    "a hook that runs on people's machines": (
        ".husky/**",
        ".githooks/**",
        ".hooks/**",
        "githooks/**",
        ".pre-commit-config.yaml",
        ".pre-commit-config.yml",
        ".pre-commit-hooks.yaml",
        "lefthook.yml",
        "lefthook.yaml",
        ".lefthook.yml",
        ".lefthook/**",
        ".overcommit.yml",
        ".envrc",
        "**/.envrc",
        "**/.vscode/tasks.json",
        "**/.vscode/settings.json",
        "**/.vscode/launch.json",
        "**/.devcontainer/**",
        "**/.devcontainer.json",
    ),
    "instructions or tools of coding agents": (
        "**/AGENTS.md",
        "**/AGENTS.override.md",
        "**/AGENT.md",
        "**/CLAUDE.md",
        "**/CLAUDE.local.md",
        "**/GEMINI.md",
        "**/.claude/**",
        "**/.codex/**",
        "**/.gemini/**",
        "**/.cursor/**",
        "**/.cursorrules",
        "**/.windsurf/**",
        "**/.windsurfrules",
        "**/.clinerules",
        "**/.clinerules/**",
        "**/.roo/**",
        "**/.roorules",
        "**/.continue/**",
        "**/.aider*",
        "**/.junie/**",
        "**/.kiro/**",
        "**/.amazonq/**",
        "**/.opencode/**",
        "**/opencode.json",
        "**/.mcp.json",
        "**/.vscode/mcp.json",
        ".github/copilot-instructions.md",
        ".github/instructions/**",
        ".github/prompts/**",
        ".github/chatmodes/**",
        ".github/agents/**",
    ),
}
"""What a gate is, and where it stands."""
_EVERY = tuple(glob for globs in GATES.values() for glob in globs)
_OTHER = "a gate of this installation or engagement"
_FILE_BITS, _FILE = 0o170000, 0o100000


def gate_at(path: bytes, *modes: int, more: Sequence[str] = ()) -> str | None:
    """What the path is a gate to; None when it is none.

    `modes` are what stands there, or stood: a link or a submodule in the place of a folder that a gate
    is below is a gate, too.
    """
    text = folded(path)
    odd = any(mode and mode & _FILE_BITS != _FILE for mode in modes)
    if not _is(text, (*_EVERY, *more), odd=odd):
        return None
    return next((what for what, globs in GATES.items() if _is(text, globs, odd=odd)), _OTHER)


def _is(path: str, globs: tuple[str, ...], *, odd: bool) -> bool:
    known = globs_of(globs)
    return known.match(path) or (odd and known.lead_through(path))
