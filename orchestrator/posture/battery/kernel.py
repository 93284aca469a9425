"""What the kernel must refuse a sandbox [pure].

Numbers of calls are those of the kernel's own tables; every call is one that changes nothing, should
it be let through. Under gVisor the calls go to a kernel of its own, and some are allowed there.
"""

from orchestrator.posture.probe import NOT_THERE, Area, Probe, Wall

REFUSED = ("EPERM",)
REFUSED_BY_GVISOR = (
    "EPERM", "EACCES", "ENOSYS", "EAFNOSUPPORT", "EPROTONOSUPPORT", "ESOCKTNOSUPPORT",
    "EOPNOTSUPP", "ENOTSUP", "EINVAL", "ENODEV",
)  # fmt: skip
STREAM, RAW, SEQPACKET, DGRAM = 1, 3, 5, 2
NOBODY = 0x7FFFFFFF
"""No process has this id."""


def _family(name: str, promise: str, *kinds: tuple[int, int, int]) -> Probe:
    return Probe(
        f"socket-{name}", Area.KERNEL, Wall.SECCOMP, promise, "family", lambda _: kinds,
        REFUSED, REFUSED_BY_GVISOR,
    )  # fmt: skip


def _call(
    name: str,
    what: str,
    numbers: tuple[int, int | None],
    *arguments: int,
    expected: tuple[str, ...] = REFUSED,
    gvisor: tuple[str, ...] = REFUSED_BY_GVISOR,
) -> Probe:
    """`numbers`: on x86_64, and on aarch64 (None: not there)."""
    by_machine = {
        machine: number
        for machine, number in zip(("x86_64", "aarch64"), numbers, strict=True)
        if number is not None
    }
    return Probe(
        f"call-{name}", Area.KERNEL, Wall.SECCOMP, what, "call",
        lambda _: [by_machine, *arguments], expected, gvisor,
    )  # fmt: skip


SOCKETS: tuple[Probe, ...] = (
    _family("vsock", "No socket to the hypervisor, which no firewall sees.", (40, STREAM, 0), (40, DGRAM, 0)),
    _family("packet", "No raw Ethernet frames.", (17, RAW, 768), (17, DGRAM, 768)),
    _family("raw", "No raw IPv4 packets.", (2, RAW, 1), (2, RAW, 255)),
    _family("raw-ipv6", "No raw IPv6 packets.", (10, RAW, 58), (10, RAW, 255)),
    _family("alg", "No access to the kernel's cryptography.", (38, SEQPACKET, 0)),
    _family("xdp", "No way around the network stack.", (44, RAW, 0)),
    _family("tipc", "No cluster protocol.", (30, STREAM, 0), (30, SEQPACKET, 0)),
    _family("bluetooth", "No radio.", (31, RAW, 1)),
    _family(
        "others", "No other family of sockets: CAN, RDS, KCM, SMC, LLC, X.25, ATM.",
        (29, RAW, 1), (21, SEQPACKET, 0), (41, DGRAM, 0), (43, STREAM, 0), (26, STREAM, 0),
        (9, SEQPACKET, 0), (8, DGRAM, 0),
    ),
)  # fmt: skip
CALLS: tuple[Probe, ...] = (
    _call(
        "io-uring", "No io_uring, which passes by the filter.", (425, 425), 1, 0, gvisor=NOT_THERE
    ),
    _call("userfaultfd", "No page faults handled by the program.", (323, 282), 0),
    _call("ptrace", "No process is traced.", (101, 117), 16, NOBODY, 0, 0, gvisor=NOT_THERE),
    _call(
        "process-vm", "No memory of another process is read.",
        (310, 270), NOBODY, 0, 0, 0, 0, 0, gvisor=NOT_THERE,
    ),
    _call("pidfd-getfd", "No open file is taken from another process.", (438, 438), -1, 0, 0),
    _call("kcmp", "Processes are not compared.", (312, 272), NOBODY, NOBODY, 0, 0, 0),
    _call("keyctl", "The kernel's keyrings are out of reach.", (250, 219), 0, -3, 0, 0, 0),
    _call("add-key", "No key is put into the kernel.", (248, 217), 0, 0, 0, 0, 0),
    _call("bpf", "No program is loaded into the kernel.", (321, 280), 0xFFFF, 0, 0),
    _call("perf", "The kernel's counters are out of reach.", (298, 241), 0, 0, -1, -1, 0),
    _call("mount", "Nothing is mounted.", (165, 40), 0, 0, 0, 0, 0, gvisor=NOT_THERE),
    _call("fsopen", "Nothing is mounted by the newer calls.", (430, 430), 0, 0),
    _call("move-mount", "No mount is moved.", (429, 429), -1, 0, -1, 0, 0),
    _call("umount", "Nothing is unmounted.", (166, 39), 0, 0, gvisor=NOT_THERE),
    _call("pivot-root", "The root stays where it is.", (155, 41), 0, 0),
    _call("chroot", "No other root is made.", (161, 51), 0, gvisor=NOT_THERE),
    _call(
        "user-namespace", "No namespace in which the agent would be root.",
        (272, 97), 0x10000000, gvisor=NOT_THERE,
    ),
    _call(
        "network-namespace", "No network of its own.", (272, 97), 0x40000000, gvisor=NOT_THERE
    ),
    _call("setns", "No namespace of another process is entered.", (308, 268), -1, 0),
    _call("clone3", "No process in a namespace of its own: the call is not there.", (435, 435), 0, 0,
          expected=("ENOSYS",), gvisor=NOT_THERE),
    _call("handle-by-name", "No file is named past its folders.", (303, 264), -1, 0, 0, 0, 0),
    _call("open-by-handle", "No file is opened past its folders.", (304, 265), -1, 0, 0),
    _call("memfd-secret", "No memory that even the host can't see.", (447, 447), 0xFFFF),
    _call("fanotify", "No file system is watched as a whole.", (300, 262), -1, 0),
    _call("kernel-module", "No module is loaded.", (175, 105), 0, 0, 0),
    _call("kexec", "No other kernel is started.", (246, 104), 0, 0, 0, 0),
    _call("kernel-log", "The kernel's log is closed.", (103, 116), 3, 0, 0, gvisor=NOT_THERE),
    _call("reboot", "The machine is not restarted.", (169, 142), 0, 0, 0, 0),
    _call("hostname", "The host is not renamed.", (170, 161), 0, 0, gvisor=NOT_THERE),
    _call("swap", "No swap is switched on.", (167, 224), 0, 0),
    _call("accounting", "No accounting is switched on.", (163, 89), 0),
    _call("quota", "No quota is changed.", (179, 60), 0, 0, 0, 0),
    _call("vmsplice", "No pages are given away.", (278, 75), -1, 0, 0, 0),
    _call(
        "personality", "The address space stays randomised.",
        (135, 92), 0x0040000, gvisor=NOT_THERE,
    ),
    _call("io-ports", "No port of the machine is opened.", (172, None), 3,
          expected=("EPERM", "ENOSYS")),
)  # fmt: skip
RIGHTS: tuple[Probe, ...] = (
    Probe(
        "capabilities", Area.KERNEL, Wall.CAPABILITIES,
        "A process of the sandbox has no capability, and none is left that it could gain.",
        "status", lambda _: ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"], ("0",),
        gvisor=("0", "0 1"),
    ),
    Probe(
        "effective-capabilities", Area.KERNEL, Wall.CAPABILITIES,
        "No capability is in force.",
        "status", lambda _: ["CapPrm", "CapEff", "CapAmb"], ("0",),
    ),
    Probe(
        "no-new-privileges", Area.KERNEL, Wall.NO_NEW_PRIVILEGES,
        "No program gives more rights than its caller has.",
        "status", lambda _: ["NoNewPrivs"], ("1",), gvisor=("1", "not said"),
    ),
    Probe(
        "seccomp", Area.KERNEL, Wall.SECCOMP, "A filter of system calls is in force.",
        "status", lambda _: ["Seccomp"], ("2",), gvisor=NOT_THERE,
    ),
    Probe(
        "user", Area.KERNEL, Wall.USER, "The agent is user and group 10001, and in no other group.",
        "identity", expected=("10001:10001",),
    ),
    Probe(
        "set-clock", Area.KERNEL, Wall.SECCOMP, "The host's clock can't be set.",
        "set_clock", expected=REFUSED, gvisor=REFUSED_BY_GVISOR,
    ),
)  # fmt: skip
KERNEL = (*SOCKETS, *CALLS, *RIGHTS)
