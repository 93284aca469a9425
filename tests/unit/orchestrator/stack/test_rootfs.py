from orchestrator.stack.images import IMAGES
from orchestrator.stack.rootfs import package_list


def test_comments_and_blank_lines_are_no_packages() -> None:
    assert package_list("# tools\ngit\n\ncurl # why\n git \n") == ("curl", "git")


def test_the_sandbox_has_what_its_contract_names() -> None:
    packages = package_list((IMAGES / "sandbox" / "packages.txt").read_text())
    assert {"git", "python3", "python3-pytest", "ripgrep", "curl", "jq"} <= set(packages)
    assert {"procps", "patch", "less", "busybox-static"} <= set(packages)
