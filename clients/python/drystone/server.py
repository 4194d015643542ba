"""A connection to a Drystone program, by docs/src/wire.md, and composite calls over it, by docs/src/composite.md."""

import contextlib
import socket
import struct
import threading
from urllib.parse import urlsplit

from .expressions import ProgramError
from .program import Program
from .xdr import SEQUENCE, Reader, as_bytes, opaque, type_of, word

HELLO, OPEN, ACCEPTED, MESSAGE, CREDIT, CLOSE, DESCRIBE, DESCRIPTION, PING, PONG, FAREWELL, FORMS = range(1, 13)
MAGIC = 0x44727973
SERVICE = b"drystone:composite"
# This side's limits: messages, bytes, the largest message, communications.
TAKES = (64, 1 << 20, 64 << 20, 16)
# Seconds that the server has to say that it is a Drystone program.
GREETING = 30


class Lost(Exception):
    """The connection or the communication has ended."""


class Refused(Exception):
    """The server refuses the program; the message says why."""


class Stopped(Exception):
    """The program has stopped early: `fault` is the reason's number, `line` the place in its source, `results` its
    results so far."""

    def __init__(self, why, fault, line, results, resume):
        super().__init__(f"{why} (line {line})" if line else why)
        self.fault, self.line, self.results, self.resume = fault, line, results, resume


class Interface:
    """The interface exported under a name, as the server describes it; `forms` says what its sequences consist of."""

    def __init__(self, data, forms=b""):
        reader, forms = Reader(data), Reader(forms)
        self.name = reader.opaque().decode()
        self.fingerprint = reader.bytes(16)
        self.messages = []
        for _ in range(reader.word()):
            name, sender = reader.opaque().decode(), reader.word()
            parameters = [(reader.opaque().decode(), reader.word()) for _ in range(reader.word())]
            if forms.data:
                parameters = [(it, type_of(forms.opaque().decode()) if ty == SEQUENCE else ty) for it, ty in parameters]
            self.messages.append((name, sender, parameters))
        forms.end()


class Server:
    """A connection to a program, which ships programs one after the other."""

    def __init__(self, host, port, timeout=None):
        self.socket = socket.create_connection((host, port), timeout or GREETING)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.incoming = self.socket.makefile("rb")
        self.interfaces, self.known, self.is_open = {}, set(), False
        self.lock = threading.RLock()
        # The run that may be resumed.
        self.stopped = None
        self.send(HELLO, 1, MAGIC, struct.pack(">4I", *TAKES))
        try:
            kind, _, magic, _ = self.frame()
        except TimeoutError:
            kind, magic = None, None
        if (kind, magic) != (HELLO, MAGIC):
            self.close()
            raise Lost("at the other end is no Drystone program")
        self.socket.settimeout(timeout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.incoming.close()
        self.socket.close()

    def send(self, kind, number=0, communication=0, body=b""):
        self.socket.sendall(struct.pack(">IHHI", len(body), kind, number, communication) + body)

    def exactly(self, count):
        data = self.incoming.read(count)
        if len(data) < count:
            raise Lost("the connection has ended")
        return data

    def frame(self):
        """The next frame with contents."""
        while True:
            length, kind, number, communication = struct.unpack(">IHHI", self.exactly(12))
            if length > TAKES[2]:
                self.close()
                raise Lost(f"a frame of {length} bytes has come")
            body = self.exactly(length)
            if kind == FAREWELL:
                raise Lost(body.decode(errors="replace"))
            if kind == PING:
                self.send(PONG, 0, 0, body)
            elif kind <= FORMS and kind not in (CREDIT, PONG):
                return kind, number, communication, body

    @contextlib.contextmanager
    def alone(self):
        """Answers come in the order of the requests, so only one thread may make requests."""
        if not self.lock.acquire(blocking=False):
            raise ProgramError("another thread is using this connection: connect once for each")
        try:
            yield
        finally:
            self.lock.release()

    def interface(self, name):
        """The interface exported under a name."""
        if name not in self.interfaces:
            with self.alone():
                self.send(DESCRIBE, 0, 1, as_bytes(name))
                kind, failed, _, body = self.frame()
                forms = b""
                if kind == FORMS:
                    forms, (_, failed, _, body) = body, self.frame()
            if failed:
                raise Refused(f"{name}: {body.decode(errors='replace')}")
            self.interfaces[name] = Interface(body, forms)
        return self.interfaces[name]

    def program(self):
        """A new program, for this server."""
        return Program(self.interface, self.execute)

    def begin(self):
        """The communication over which programs are shipped; a stopped run on it is discarded."""
        if self.stopped is not None:
            self.discard()
        if self.is_open:
            return
        service = self.interface(SERVICE.decode())
        self.send(OPEN, 0, 0, service.fingerprint + opaque(SERVICE))
        kind, _, _, body = self.frame()
        if kind != ACCEPTED:
            raise Refused(body.decode(errors="replace"))
        self.is_open = True

    def discard(self):
        """Gives up what has stopped."""
        self.stopped, self.is_open = None, False
        self.send(CLOSE, 1, 0, b"discarded")
        while self.frame()[0] != CLOSE:
            pass

    def execute(self, program, values, rounds):
        with self.alone():
            return self.ship(program, values, rounds)

    def ship(self, program, values, rounds):
        self.begin()
        names = word(len(program.communications))
        names += b"".join(opaque(as_bytes(name)) for name, _ in program.communications)
        code, digest, table = program.encode(), program.hash(), program.table(values)
        while True:
            shipped = digest if digest in self.known else code
            body = opaque(shipped) + opaque(names) + opaque(table) + struct.pack(">q", rounds)
            answer, reader = self.ask("Run", body)
            if answer != "Unknown" or shipped is code:
                break
            self.known.discard(digest)
        if answer not in ("Unknown", "Refused"):
            self.known.add(digest)
        return self.outcome(program, answer, reader)

    def ask(self, message, body):
        service = self.interfaces[SERVICE.decode()]
        names = [it[0] for it in service.messages]
        self.send(MESSAGE, names.index(message), 0, body)
        kind, number, _, body = self.frame()
        if kind != MESSAGE:
            self.is_open = False
            self.send(CLOSE)
            raise Lost(body.decode(errors="replace"))
        self.send(CREDIT, 0, 0, struct.pack(">2I", 1, 12 + len(body)))
        return names[number], Reader(body)

    def outcome(self, program, answer, reader):
        if answer == "Ended":
            return program.results(reader.opaque())
        if answer == "Refused":
            raise Refused(reader.opaque().decode(errors="replace"))
        if answer == "Unknown":
            raise Refused("the server doesn't take these bytes for a program")
        fault, line = reader.hyper(), reader.hyper()
        why, results = reader.opaque().decode(errors="replace"), program.results(reader.opaque())

        self.stopped = token = object()

        def resume(values=None, rounds=100_000_000):
            """Goes on where it stopped, once; with other values of those that are given, if there are any."""
            if self.stopped is not token:
                raise Lost("it was resumed before, or another program has been run since")
            table = program.table(values) if values else b""
            self.stopped = None
            with self.alone():
                return self.outcome(program, *self.ask("Resume", opaque(table) + struct.pack(">q", rounds)))

        raise Stopped(why, fault, line, results, resume)


def connect(name, timeout=None):
    """The program at an address: `tcp://host:port`."""
    place = urlsplit(name if "//" in name else "//" + name)
    if place.scheme not in ("", "tcp") or place.hostname is None or place.port is None or place.path not in ("", "/"):
        raise ValueError(f"{name!r} is no address like tcp://127.0.0.1:7000 (what is exported there is named in use)")
    return Server(place.hostname, place.port, timeout)
