"""Ways to names, which carry as much as packets do [pure]."""

from orchestrator.posture.probe import Area, Probe, Wall

_D, _R, _F = Area.NAMES, Wall.RESOLVER, Wall.FIREWALL
NAMES: tuple[Probe, ...] = (
    Probe(
        "dns-engine", _D, _R, "The engine's resolver asks nobody.",
        "dns", lambda _: ["127.0.0.11"], ("closed", "refused"),
    ),
    Probe(
        "dns-engine-tcp", _D, _R, "The engine's resolver asks nobody over TCP either.",
        "dns_tcp", lambda _: ["127.0.0.11"],
    ),
    Probe(
        "dns-own", _D, _R, "No resolver is inside the sandbox.",
        "dns", lambda _: ["127.0.0.1"], ("refused", "closed"),
    ),
    Probe(
        "dns-gateway", _D, _F, "The gateway resolves no name.",
        "dns", lambda s: [s.place.gateway], canary=0,
    ),
    Probe(
        "dns-gateway-tcp", _D, _F, "The gateway resolves no name over TCP.",
        "dns_tcp", lambda s: [s.place.gateway], canary=0,
    ),
    Probe(
        "dns-host", _D, _F, "The host's own resolvers are out of reach.",
        "dns", lambda s: s.place.resolvers or None,
    ),
    Probe(
        "dns-host-tcp", _D, _F, "They are out of reach over TCP.",
        "dns_tcp", lambda s: s.place.resolvers or None,
    ),
    Probe(
        "dns-outside", _D, _F, "No resolver outside is reached.",
        "dns", lambda s: [s.place.outside], canary=0,
    ),
    Probe(
        "dns-outside-tcp", _D, _F, "None is reached over TCP.",
        "dns_tcp", lambda s: [s.place.outside], canary=0,
    ),
    Probe(
        "dns-encrypted", _D, _F, "None is reached over TLS or QUIC.",
        "tcp", lambda s: [(host, 853) for host in (s.place.gateway, s.place.outside)], canary=0,
    ),
    Probe(
        "dns-lookup", _D, _R, "A program that asks as usual gets no answer.",
        "lookup", lambda _: ["posture.example", "example.com"],
    ),
)  # fmt: skip
