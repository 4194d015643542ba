"""A client of Drystone programs, written from docs/src/wire.md alone, with nothing but Python's own library.

    python3 client.py PORT NAME describe
    python3 client.py PORT NAME talk COUNT      for the interface { IN Say(x: TEXT; n: INTEGER) OUT Heard(..) }
    python3 client.py PORT NAME garbage SEED
    python3 client.py PORT NAME silent          asks for much and never reads
"""

import random
import socket
import struct
import sys

HELLO, OPEN, ACCEPTED, MESSAGE, CREDIT, CLOSE, DESCRIBE, DESCRIPTION, PING, PONG, FAREWELL = range(1, 12)
TYPES = ["BOOLEAN", "CHARACTER", "INTEGER", "REAL", "TEXT", "COMPONENT"]


def opaque(data):
    return struct.pack(">I", len(data)) + data + bytes(-len(data) % 4)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def bytes(self, count):
        self.at += count
        assert self.at <= len(self.data), "cut off"
        return self.data[self.at - count:self.at]

    def word(self):
        return struct.unpack(">I", self.bytes(4))[0]

    def hyper(self):
        return struct.unpack(">q", self.bytes(8))[0]

    def opaque(self):
        data = self.bytes(self.word())
        assert not any(self.bytes(-len(data) % 4)), "padded with zeros"
        return data


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.send(HELLO, 1, 0x44727973, struct.pack(">4I", 4, 1000, 1 << 20, 10))
        kind, number, magic, body = self.frame()
        assert (kind, number, magic) == (HELLO, 1, 0x44727973)
        self.messages, self.bytes, self.largest, self.communications = struct.unpack(">4I", body)

    def send(self, kind, number=0, communication=0, body=b""):
        self.socket.sendall(struct.pack(">IHHI", len(body), kind, number, communication) + body)

    def exactly(self, count):
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                sys.exit("the connection has ended")
            data += more
        return data

    def frame(self):
        length, kind, number, communication = struct.unpack(">IHHI", self.exactly(12))
        body = self.exactly(length)
        if kind == FAREWELL:
            sys.exit(body.decode())
        return kind, number, communication, body

    def describe(self, name):
        self.send(DESCRIBE, 0, 77, name)
        kind, failed, request, body = self.frame()
        assert (kind, request) == (DESCRIPTION, 77)
        if failed:
            sys.exit(body.decode())
        return Interface(Reader(body))


class Interface:
    def __init__(self, reader):
        self.name = reader.opaque().decode()
        self.fingerprint = reader.bytes(16)
        self.messages = []
        for _ in range(reader.word()):
            name, sender = reader.opaque().decode(), reader.word()
            parameters = [(reader.opaque().decode(), reader.word()) for _ in range(reader.word())]
            self.messages.append((name, sender, parameters))
        self.states = []
        for _ in range(reader.word()):
            may_end = reader.word()
            self.states.append((may_end, [(reader.word(), reader.word()) for _ in range(reader.word())]))
        assert reader.at == len(reader.data)

    def identity(self):
        text = self.name
        for name, sender, parameters in self.messages:
            text += ("\nIN ", "\nOUT ")[sender] + name + "".join(" " + TYPES[ty] for _, ty in parameters)
        for may_end, transitions in self.states:
            text += "\n" + "." * may_end + "".join(f" {message}>{to}" for message, to in transitions)
        return text + "\n\n"

    def own_fingerprint(self):
        fnv = 0x6C62272E07BB014262B821756295C58D
        for byte in self.identity().encode():
            fnv = (fnv ^ byte) * 0x0000000001000000000000000000013B % (1 << 128)
        return fnv.to_bytes(16, "big")

    def number(self, name):
        return [message[0] for message in self.messages].index(name)


def talk(connection, name, count):
    interface = connection.describe(name)
    say, heard = interface.number("Say"), interface.number("Heard")
    connection.send(OPEN, 0, 0, interface.fingerprint + opaque(name))
    kind, why, communication, body = connection.frame()
    if kind == CLOSE:
        sys.exit(body.decode())
    assert (kind, communication) == (ACCEPTED, 0)
    credit, taken = connection.messages, 0
    for i in range(count):
        while credit == 0:
            kind, _, _, body = connection.frame()
            assert kind == CREDIT
            credit += struct.unpack(">2I", body)[0]
        text = b"x" * (i % 7)
        connection.send(MESSAGE, say, 0, opaque(text) + struct.pack(">q", -i))
        credit -= 1
        while True:
            kind, number, communication, body = connection.frame()
            if kind != CREDIT:
                break
            credit += struct.unpack(">2I", body)[0]
        assert (kind, number, communication) == (MESSAGE, heard, 0), (kind, number, communication)
        reader = Reader(body)
        assert (reader.opaque(), reader.hyper()) == (b"You said " + text, 1 - i)
        taken += len(body)
        connection.send(CREDIT, 0, 0, struct.pack(">2I", 1, 12 + len(body)))
    connection.send(CLOSE, 0, 0)
    kind = None
    while kind != CLOSE:
        kind, why, communication, body = connection.frame()
    assert (why, communication) == (0, 0)
    print("talked", count)


def main():
    port, name, what = int(sys.argv[1]), sys.argv[2].encode(), sys.argv[3]
    connection = Connection(port)
    if what == "describe":
        interface = connection.describe(name)
        print(interface.identity(), end="")
        print(interface.fingerprint == interface.own_fingerprint())
    elif what == "talk":
        talk(connection, name, int(sys.argv[4]))
    elif what == "garbage":
        noise = random.Random(int(sys.argv[4]))
        try:
            connection.socket.sendall(noise.randbytes(100_000))
            while True:
                connection.frame()
        except OSError:
            sys.exit("the connection has ended")
    elif what == "silent":
        interface = connection.describe(name)
        try:
            while True:
                connection.send(DESCRIBE, 0, 1, name)
        except OSError:
            sys.exit("the connection has ended")


main()
