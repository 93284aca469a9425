"""What the probe's container runs: tries everything at once, says what came of it as one JSON object.

It is a text, not a module: only the sandbox image's own Python may run it, with nothing of ours.
"""

SCRIPT = r"""
import ctypes, errno, json, os, socket, sys, threading, time

PATIENCE_S = 0.7
STAY_S = 20.0


def word(error):
    return errno.errorcode.get(error.errno, "error") if error.errno else "closed"


def tcp(host, port):
    # A refusal is an answer: something let the packet through.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as s:
            s.settimeout(PATIENCE_S)
            s.connect((host, port))
            return "reached"
    except ConnectionRefusedError:
        return "refused"
    except OSError:
        return "closed"


def dns(server):
    # NOERROR and NXDOMAIN come from a server that knows; anything else carried no question out.
    query = b"\x53\x47\1\0\0\1\0\0\0\0\0\0\5probe\10sandgate\7example\0\0\1\0\1"
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.settimeout(PATIENCE_S)
            s.connect((server, 53))
            s.send(query)
            answer = s.recv(512)
            return "reached" if answer[3] & 15 in (0, 3) else "closed"
    except OSError:
        return "closed"


def ipv6():
    try:
        lines = open("/proc/net/if_inet6").read().split("\n")
    except OSError:
        return "none"
    return " ".join(l.split()[0] for l in lines if l and not l.endswith(" lo")) or "none"


def make_socket(family, kind, protocol):
    try:
        socket.socket(family, kind, protocol).close()
        return "allowed"
    except OSError as error:
        return word(error)


def syscall(number, *arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    done = libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments))
    return "allowed" if done >= 0 else errno.errorcode.get(ctypes.get_errno(), "error")


def status(*keys):
    lines = dict(l.split(":\t", 1) for l in open("/proc/self/status").read().splitlines() if ":\t" in l)
    return " ".join(sorted({str(int(lines[key].strip(), 16)) for key in keys}))


HOWS = {
    "tcp": tcp, "dns": dns, "ipv6": ipv6, "socket": make_socket, "syscall": syscall,
    "status": status, "uid": lambda: str(os.getuid()),
}
found = {}
listeners = [socket.create_server(("", port)) for port in (44772, 8080)]


def try_it(order):
    try:
        found[order["name"]] = HOWS[order["how"]](*order["arguments"])
    except Exception as error:
        found[order["name"]] = type(error).__name__


def look():
    threads = [threading.Thread(target=try_it, args=(order,)) for order in json.loads(sys.argv[1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


look()
print(json.dumps(found), flush=True)
if sys.argv[2] == "stay":  # the sibling: to be called on by the other
    time.sleep(STAY_S)
"""
