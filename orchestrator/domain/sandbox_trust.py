"""What a sandbox's programs are told of the egress proxy, in the variables that each kind looks at [pure].

Two kinds of variables: those that lead to the authorities they trust, which are no secret and stand in
the sandbox from its start; and those that lead to the proxy, which carry the run token.
"""

from collections.abc import Mapping

BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
"""Debian's own bundle, with the installation's authority at its end."""
TRUST_STORE = "/etc/ssl/certs/sandgate.p12"
"""The same for Java, which reads no PEM."""
JAVA_PASSWORD = "changeit"  # noqa: S105 - Java's own for what is no secret
USER = "run"

TRUST: Mapping[str, str] = dict.fromkeys(
    (
        "SSL_CERT_FILE",  # OpenSSL, Python's ssl, Go, uv, Ruby
        "REQUESTS_CA_BUNDLE",
        "CURL_CA_BUNDLE",
        "PIP_CERT",
        "GIT_SSL_CAINFO",
        "NODE_EXTRA_CA_CERTS",  # Node, and npm with it
        "CARGO_HTTP_CAINFO",
        "AWS_CA_BUNDLE",
        "DENO_CERT",
        "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
    ),
    BUNDLE,
)


def proxy_environment(gateway: str, port: int, token: str) -> dict[str, str]:
    """Variables for programs of the run whose token it is; the gateway itself is reached directly.

    Node looks at them only when told to; git would first ask without credentials; Java reads no
    variables but those of its launcher, and shows credentials to a proxy only when it may.
    """
    url = f"http://{USER}:{token}@{gateway}:{port}"
    direct = f"localhost,127.0.0.1,{gateway}"
    named = {"http_proxy": url, "https_proxy": url, "all_proxy": url, "no_proxy": direct}
    return {
        **named,
        **{name.upper(): value for name, value in named.items()},
        "NODE_USE_ENV_PROXY": "1",
        "GIT_HTTP_PROXY_AUTHMETHOD": "basic",
        "JDK_JAVA_OPTIONS": " ".join(_for_java(gateway, port, token)),
    }


def _for_java(gateway: str, port: int, token: str) -> list[str]:
    ways = [
        f"-D{scheme}.{name}={value}"
        for scheme in ("http", "https")
        for name, value in (
            ("proxyHost", gateway),
            ("proxyPort", port),
            ("proxyUser", USER),
            ("proxyPassword", token),
        )
    ]
    return [
        f"-Djavax.net.ssl.trustStore={TRUST_STORE}",
        "-Djavax.net.ssl.trustStoreType=PKCS12",
        f"-Djavax.net.ssl.trustStorePassword={JAVA_PASSWORD}",
        "-Djdk.http.auth.tunneling.disabledSchemes=",
        f"-Dhttp.nonProxyHosts=localhost|127.*|{gateway}",
        *ways,
    ]
