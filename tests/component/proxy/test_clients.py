"""The usual programs, with the variables that a sandbox has, through the proxy to servers of their kind."""

import os
import shutil
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest
import pytest_asyncio

from orchestrator.domain.sandbox_trust import BUNDLE, TRUST, TRUST_STORE, proxy_environment
from orchestrator.stack.egress_proxy import java_store
from proxy.policy import Rule
from tests.servers.egress import (
    ALLOWED,
    INDEX,
    PORT,
    PROXY,
    RULES,
    SITE,
    TOKEN,
    Egress,
    listening,
    other,
    sandbox,
)
from tests.servers.site import NPM, PYTHON, WHEEL, Site

pytestmark = pytest.mark.asyncio(loop_scope="module")
REFUSED = "https://refused.example/x"
JAVA = """
import java.net.*; import java.net.http.*;
public class Fetch {
    public static void main(String[] a) throws Exception {
        Authenticator proxy = new Authenticator() {
            protected PasswordAuthentication getPasswordAuthentication() {
                return new PasswordAuthentication(System.getProperty("https.proxyUser"),
                    System.getProperty("https.proxyPassword").toCharArray());
            }
        };
        HttpClient client = HttpClient.newBuilder().authenticator(proxy)
            .proxy(ProxySelector.getDefault()).version(HttpClient.Version.HTTP_1_1).build();
        HttpRequest get = HttpRequest.newBuilder(URI.create(a[0])).build();
        System.out.println(client.send(get, HttpResponse.BodyHandlers.ofString()).statusCode());
    }
}
"""
ASK = "{import_} as c\nr = c.get('{url}')\nprint(r.status_code, r.json()['line'])"


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def house(running: Egress) -> AsyncIterator[Egress]:
    """The world with a site of packages, and a policy that allows it; files lie as in a sandbox."""
    folder = running.folder / "site"
    folder.mkdir()
    site = Site(folder, INDEX)
    site.fill()
    await site.start(listening(running.far, SITE, 443), running.web.context([INDEX]))
    bundle = running.folder / "bundle.crt"
    bundle.write_bytes(Path(BUNDLE).read_bytes() + running.authority.read_bytes())
    running.mounts[Path(BUNDLE)] = bundle
    await running.apply(sandbox(*RULES, Rule(name="index", host=INDEX)), other())
    yield running
    await site.stop()


@pytest.fixture
def env(tmp_path: Path) -> Mapping[str, str]:
    """A sandbox's variables."""
    return {
        **TRUST,
        **proxy_environment(PROXY, PORT, TOKEN),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",  # noqa: TID251 - of programs
        "HOME": str(tmp_path),
        "PIP_CONFIG_FILE": os.devnull,
        "UV_NO_CONFIG": "1",
        "PIP_INDEX_URL": f"https://{INDEX}/simple",
        "UV_DEFAULT_INDEX": f"https://{INDEX}/simple",
        "npm_config_registry": f"https://{INDEX}",
        "GIT_CONFIG_NOSYSTEM": "1",
    }


def allowed(house: Egress) -> list[str]:
    """What went out. Fails when anybody was asked who it is, or asked for anything else."""
    assert {one["decision"] for one in house.log.decided} == {"allow"}, house.log.decided
    return [one["url"] for one in house.log.decided]


@pytest.mark.parametrize(
    ("module", "argv"),
    [
        ("curl", ("curl", "-sS", "-w", "%{http_code} ", f"https://{ALLOWED}/x")),
        *(
            (
                module,
                (
                    sys.executable,
                    "-c",
                    ASK.format(import_=f"import {module}", url=f"https://{ALLOWED}/x"),
                ),
            )
            for module in ("requests", "httpx")
        ),
    ],
)
async def test_http_clients_go_through_it(
    house: Egress, world: Egress, env: Mapping[str, str], module: str, argv: tuple[str, ...]
) -> None:
    status, out, err = await house.run(*argv, env=env)
    await world.settled()
    assert status == 0, (module, err)
    assert "200" in out
    assert allowed(house) == [f"https://{ALLOWED}/x"]


@pytest.mark.parametrize("module", ["requests", "httpx", "urllib.request"])
async def test_python_is_told_why_it_is_refused(
    house: Egress, world: Egress, env: Mapping[str, str], module: str
) -> None:
    call = "urlopen" if module == "urllib.request" else "get"
    asked = f"import {module} as c\nc.{call}('{REFUSED}')"
    status, _, err = await house.run(sys.executable, "-c", asked, env=env)
    assert status == 1
    assert "request_access" in err
    assert world.log.decided[0]["decision"] == "deny"


async def test_git_clones_through_it_and_shows_its_credentials_at_once(
    house: Egress, world: Egress, env: Mapping[str, str], tmp_path: Path
) -> None:
    target = str(tmp_path / "clone")
    status, _, err = await house.run(
        "git", "clone", "-q", f"https://{INDEX}/sample.git", target, env=env
    )
    await world.settled()
    assert status == 0, err
    assert any("info/refs" in url for url in allowed(house))


async def test_pip_installs_through_it(
    house: Egress, world: Egress, env: Mapping[str, str], tmp_path: Path
) -> None:
    argv = ("-m", "pip", "install", "-q", "--no-cache-dir", "--target", str(tmp_path / "x"), PYTHON)
    status, _, err = await house.run(sys.executable, *argv, env=env)
    await world.settled()
    assert status == 0, err
    assert (tmp_path / "x" / "sandgate_sample.py").exists()
    assert f"https://{INDEX}/files/{WHEEL}" in allowed(house)


async def test_uv_installs_through_it(
    house: Egress, world: Egress, env: Mapping[str, str], tmp_path: Path
) -> None:
    argv = ("uv", "pip", "install", "-q", "--no-cache", "--target", str(tmp_path / "x"), PYTHON)
    status, _, err = await house.run(*argv, env=env)
    await world.settled()
    assert status == 0, err
    assert (tmp_path / "x" / "sandgate_sample.py").exists()
    assert f"https://{INDEX}/files/{WHEEL}" in allowed(house)


@pytest.mark.skipif(not shutil.which("npm"), reason="no npm here; in a sandbox: test_registries")
async def test_npm_installs_through_it(
    house: Egress, world: Egress, env: Mapping[str, str], tmp_path: Path
) -> None:
    argv = ("npm", "install", "--prefix", str(tmp_path), "--no-audit", "--no-fund", NPM)
    status, _, err = await house.run(*argv, env=env)
    await world.settled()
    assert status == 0, err
    assert (tmp_path / "node_modules" / NPM / "index.js").exists()
    assert f"https://{INDEX}/sample.tgz" in allowed(house)


@pytest.mark.skipif(
    not shutil.which("java"),
    reason="no Java here, and no image has one: only a machine with it can try",
)
async def test_java_reaches_it_with_what_its_launcher_is_told(
    house: Egress, world: Egress, env: Mapping[str, str], tmp_path: Path
) -> None:
    """Java has nobody who answers a proxy's question by itself: a program brings the few lines."""
    store = tmp_path / "cacerts.p12"
    store.write_bytes(java_store(house.authority.read_bytes()))
    (tmp_path / "Fetch.java").write_text(JAVA)
    options = env["JDK_JAVA_OPTIONS"].replace(TRUST_STORE, str(store))
    argv = ("java", str(tmp_path / "Fetch.java"), f"https://{ALLOWED}/x")
    status, out, err = await house.run(*argv, env={**env, "JDK_JAVA_OPTIONS": options})
    await world.settled()
    assert (status, out.strip()) == (0, "200"), err
    assert [one["decision"] for one in world.log.decided][-1] == "allow"


async def test_the_entrances_address_isnt_asked_for_at_the_proxy(
    house: Egress, world: Egress, env: Mapping[str, str]
) -> None:
    """The gateway is reached directly, though HTTP_PROXY is set: nobody listens on this port of it."""
    url = f"http://{PROXY}:9/"
    curl, _, _ = await house.run("curl", "-sS", url, env=env)
    asked = f"import requests\nrequests.get({url!r})"
    python, _, err = await house.run(sys.executable, "-c", asked, env=env)
    assert (curl, python) == (7, 1)
    assert "ProxyError" not in err
    assert world.log.decided == []
