"""What programs in a sandbox are told of the egress proxy."""

import pytest

from orchestrator.domain.sandbox_trust import BUNDLE, TRUST, TRUST_STORE, proxy_environment

ENV = proxy_environment("10.9.9.1", 8081, "tok-en_1")


@pytest.mark.parametrize(
    "name",
    [
        "SSL_CERT_FILE",
        "REQUESTS_CA_BUNDLE",
        "CURL_CA_BUNDLE",
        "NODE_EXTRA_CA_CERTS",
        "PIP_CERT",
        "GIT_SSL_CAINFO",
    ],
)
def test_every_kind_of_program_is_led_to_the_whole_bundle(name: str) -> None:
    """CASE-80: the image's own authorities are in it, too."""
    assert TRUST[name] == BUNDLE


@pytest.mark.parametrize("name", ["http_proxy", "https_proxy", "all_proxy"])
def test_the_way_out_is_the_proxy_with_the_runs_token_in_both_cases(name: str) -> None:
    assert ENV[name] == ENV[name.upper()] == "http://run:tok-en_1@10.9.9.1:8081"


def test_the_entrance_is_reached_directly() -> None:
    assert ENV["no_proxy"] == ENV["NO_PROXY"]
    assert "10.9.9.1" in ENV["no_proxy"].split(",")
    assert "10.9.9.1" in ENV["JDK_JAVA_OPTIONS"].split("nonProxyHosts=")[1].split()[0].split("|")


def test_java_is_told_what_it_reads_nowhere_else() -> None:
    options = ENV["JDK_JAVA_OPTIONS"].split()
    assert f"-Djavax.net.ssl.trustStore={TRUST_STORE}" in options
    assert "-Dhttps.proxyHost=10.9.9.1" in options
    assert "-Djdk.http.auth.tunneling.disabledSchemes=" in options
