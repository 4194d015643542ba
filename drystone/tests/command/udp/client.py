"""A client that knows of its server's datagrams what docs/src/bindings-udp.md says. Arguments: host, port, and the file
that `drystone describe --udp` has written."""

import socket
import struct
import sys

HOST, PORT, DESCRIPTION = sys.argv[1], int(sys.argv[2]), sys.argv[3]
REFUSED = 0xFFFFFFFF

lines = open(DESCRIPTION).read().splitlines()
FORM = int(lines[0].split()[1], 16)
NUMBER = {line.split()[2].rstrip(":"): int(line.split()[0]) for line in lines[1:]}

family = socket.AF_INET6 if ":" in HOST else socket.AF_INET
client = socket.socket(family, socket.SOCK_DGRAM)
client.connect((HOST, PORT))


def text(value):
    return struct.pack(">I", len(value)) + value + bytes(-len(value) % 4)


def request(number, name, parameters=b"", form=FORM):
    message = name if isinstance(name, int) else NUMBER[name]
    return struct.pack(">III", form, number, message) + parameters


def reply(seconds=10):
    client.settimeout(seconds)
    try:
        received = client.recv(1 << 16)
    except socket.timeout:
        return None
    return struct.unpack(">III", received[:12]), received[12:]


def expect(datagram, number, name, parameters=b""):
    client.send(datagram)
    message = name if isinstance(name, int) else NUMBER[name]
    heard = reply()
    assert heard == ((FORM, number, message), parameters), (datagram, heard)


# Good ones.
expect(request(1, "Get", text(b"key")), 1, "Missing")
client.send(request(2, "Put", text(b"key") + text(b"words")))
expect(request(3, "Get", text(b"key")), 3, "Value", text(b"words"))
expect(request(4, "Mix", struct.pack(">IIqd", 1, 120, -5, 1.5)), 4, "Mixed", struct.pack(">IIqd", 0, 120, -4, 2.0))

# An entry: key, sizes, nothings.
entry = text(b"key") + struct.pack(">IIIqqII", 2, 0, 2, 1, -2, 1, 0)
expect(request(5, "Turn", struct.pack(">I", 0) + entry), 5, "Turned", struct.pack(">I", 1) + entry)
expect(request(5, "Turn", struct.pack(">I", 1) + entry + entry), 5, "Turned", struct.pack(">I", 2) + entry + entry)
for count in (0, 2, 1 << 28, 0xFFFFFFFF):
    expect(request(5, "Turn", struct.pack(">I", count) + entry + entry), 5, REFUSED)
expect(request(5, "Turn", struct.pack(">I", 1) + entry[:-4] + struct.pack(">I", 1) + entry), 5, REFUSED)
expect(request(5, "Turn", (struct.pack(">I", 1) + entry + entry)[:-4]), 5, REFUSED)

# Another interface; messages that are no requests; parameters that are none, or too few, or too many.
expect(request(5, "Get", text(b"key"), FORM ^ 1), 5, REFUSED)
expect(request(6, "Value", text(b"key")), 6, REFUSED)
expect(request(7, 99), 7, REFUSED)
expect(request(8, "Get"), 8, REFUSED)
expect(request(9, "Get", text(b"key") + bytes(4)), 9, REFUSED)
expect(request(10, "Get", struct.pack(">I", 0xFFFFFFFF)), 10, REFUSED)
expect(request(11, "Mix", struct.pack(">IIqd", 2, 120, 0, 0.0)), 11, REFUSED)

# Too short for anything, and refusals: nothing comes, so that the next reply is that of the next request.
for length in range(12):
    client.send(request(12, "Count")[:length])
client.send(request(13, REFUSED))
expect(request(14, "Count"), 14, "Counted", struct.pack(">q", 1))

# As large as they can be: this one is understood, and that one's reply has no room.
expect(request(15, "Get", text(bytes(65488))), 15, "Missing")
expect(request(16, "Repeat", text(bytes(1000)) + struct.pack(">q", 66)), 16, REFUSED)

# The same once more is carried out once more.
for _ in range(2):
    client.send(request(17, "Put", text(b"key") + text(b"other")))
expect(request(18, "Count"), 18, "Counted", struct.pack(">q", 3))
for _ in range(2):
    client.send(request(19, "Count"))
assert reply() == reply() == ((FORM, 19, NUMBER["Counted"]), struct.pack(">q", 3))

# Many at once are answered in any order.
for number in range(100):
    client.send(request(100 + number, "Sleep", struct.pack(">q", 100 - number)))
heard = sorted(reply()[0][1] for _ in range(100))
assert heard == list(range(100, 200)), heard
assert reply(0.1) is None
print("all")
