"""The egress proxy of one installation: its authority, what sandboxes trust, and how it is started."""

import io
import json
import re
import tarfile
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import docker
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption
from cryptography.hazmat.primitives.serialization.pkcs12 import (
    PKCS12Certificate,
    serialize_java_truststore,
)
from cryptography.utils import CryptographyDeprecationWarning
from cryptography.x509 import load_pem_x509_certificate
from docker.errors import DockerException

from orchestrator.domain.sandbox_trust import BUNDLE, JAVA_PASSWORD, TRUST_STORE
from orchestrator.stack.content import digest, tree_hash
from orchestrator.stack.installation import EGRESS_PORT, Installation
from orchestrator.stack.own_settings import own_settings
from orchestrator.stack.services import CODE, Service, python_program
from orchestrator.stack.steps import StepFailed
from proxy.authority import ensure

NAME = "egress-proxy"
STATUS = "/.sandgate/status"
_PEM = re.compile(rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)
NO = frozenset({"false", "f", "no", "n", "off", "0"})
"""As the runner reads the same setting; whatever is neither yes nor no it refuses."""
MACHINES_BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")


@dataclass(frozen=True, slots=True)
class EgressFiles:
    """Where the proxy's files are, in the installation's home."""

    here: Installation

    @property
    def folder(self) -> Path:
        return self.here.data("proxy")

    @property
    def policy(self) -> Path:
        """Written by the runner."""
        return self.folder / "policy.json"

    @property
    def status(self) -> Path:
        """Written by the proxy."""
        return self.folder / "status.json"

    @property
    def key(self) -> Path:
        return self.here.keys / "egress-ca.key"

    @property
    def certificate(self) -> Path:
        return self.folder / "ca.pem"

    @property
    def bundle(self) -> Path:
        """The image's authorities and ours: nothing that was trusted before is distrusted."""
        return self.folder / "ca-certificates.crt"

    @property
    def trust_store(self) -> Path:
        """The same for Java."""
        return self.folder / "cacerts.p12"

    @property
    def mounts(self) -> dict[Path, str]:
        """What is mounted into sandboxes, and where."""
        return {self.bundle: BUNDLE, self.trust_store: TRUST_STORE}


def enabled(here: Installation) -> bool:
    """Whether the installation has an egress proxy. Raises: StepFailed."""
    return own_settings(here.home).get("EGRESS__ENABLED", "true").lower() not in NO


def upstream_bundle(here: Installation, env: Mapping[str, str]) -> Path:
    """The authorities that the internet's servers are verified against: the operator's, or this machine's.

    Raises: StepFailed when there are none.
    """
    named = own_settings(here.home).get("EGRESS__UPSTREAM_CA") or env.get("SSL_CERT_FILE")
    bundle = Path(named) if named else MACHINES_BUNDLE
    if not bundle.is_file():
        raise StepFailed(
            "The egress proxy can't verify anybody",
            why=f"there is no file {bundle}",
            what_to_do="Install ca-certificates, or name a bundle: SANDGATE_EGRESS__UPSTREAM_CA.",
        )
    return bundle


def prepare(here: Installation, client: docker.DockerClient, image: str) -> bool:
    """Have the authority, and what sandboxes of `image` trust; say whether anything was made.

    Raises: StepFailed when the image can't be looked into, or a file can't be written.
    """
    files = EgressFiles(here)
    try:
        files.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        now = datetime.now(UTC)  # noqa: TID251 - a certificate is looked at with the real clock
        made = ensure(files.key, files.certificate, name=here.name, now=now)
        bundle = _images_bundle(here, client, image) + files.certificate.read_bytes()
        if made or not files.bundle.exists() or files.bundle.read_bytes() != bundle:
            _replace(files.trust_store, java_store(bundle))
            _replace(files.bundle, bundle)
            made = True
    except OSError as error:
        raise StepFailed("The egress proxy can't be set up", why=str(error)) from error
    return made


def service(here: Installation, env: Mapping[str, str]) -> Service:
    """The proxy; it starts again by itself when it dies. Raises: StepFailed."""
    files, bundle = EgressFiles(here), upstream_bundle(here, env)
    program = python_program(
        here,
        NAME,
        (
            *("-m", "proxy", f"--host={here.gateway}", f"--port={EGRESS_PORT}"),
            *(f"--policy={files.policy}", f"--recorder={here.run / 'recorder.sock'}"),
            *(f"--state={files.folder}", f"--key={files.key}"),
            *(f"--certificate={files.certificate}", f"--upstream={bundle}"),
        ),
        {key: env[key] for key in ("PATH", "LANG") if key in env},
    )
    made_of = digest(
        tree_hash(CODE.parent / "proxy"), files.certificate.read_text(), bundle.read_text()
    )
    return Service(program, EGRESS_PORT, lambda: state(here) is not None, made_of, here.gateway)


def state(here: Installation) -> Mapping[str, object] | None:
    """What the proxy says of itself; None when it doesn't answer."""
    proxy = HTTPConnection(here.gateway, EGRESS_PORT, timeout=2)
    try:
        proxy.request("GET", STATUS)
        found = json.loads(proxy.getresponse().read())
    except (OSError, HTTPException, ValueError):
        return None
    finally:
        proxy.close()
    return found if isinstance(found, dict) else None


def _images_bundle(here: Installation, client: docker.DockerClient, image: str) -> bytes:
    """The authorities that the image itself trusts; looked up once for an image."""
    kept = here.cache / f"authorities-{digest(image)[:16]}.crt"
    if not kept.exists():
        _replace(kept, _file_of(client, image, BUNDLE))
    return kept.read_bytes()


def _file_of(client: docker.DockerClient, image: str, path: str) -> bytes:
    try:
        container = client.containers.create(image, ["true"], network_mode="none")
        try:
            parts, _ = container.get_archive(path)
            packed = io.BytesIO(b"".join(parts))
        finally:
            container.remove(force=True)
        with tarfile.open(fileobj=packed) as tar:
            found = tar.extractfile(tar.getmembers()[0])
            if found is not None:
                return found.read()
    except (DockerException, tarfile.TarError, IndexError) as error:
        raise StepFailed(f"{path} can't be read of the image {image}", why=str(error)) from error
    raise StepFailed(f"{path} can't be read of the image {image}", why="it is no file")


def java_store(bundle: bytes) -> bytes:
    """The authorities as Java reads them. Old ones whose number none may have any more are left out."""
    certificates = []
    for pem in _PEM.findall(bundle):
        with warnings.catch_warnings(), suppress(ValueError):
            warnings.simplefilter("ignore", CryptographyDeprecationWarning)
            certificates.append(PKCS12Certificate(load_pem_x509_certificate(pem), None))
    return serialize_java_truststore(certificates, BestAvailableEncryption(JAVA_PASSWORD.encode()))


def _replace(file: Path, content: bytes) -> None:
    part = file.with_name(f".{file.name}.part")
    part.write_bytes(content)
    part.chmod(0o644)
    part.replace(file)
