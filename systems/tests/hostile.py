"""Eight honest clients of a server, alone and then beside eight hostile ones: how long the honest ones wait for
answers.

hostile.py keyvalue|files PROGRAM SECONDS [FACTOR]: the program is `drystone build --with . *.dry`'s, in the system's
folder. Fails if the median is more than FACTOR (2) times what it was alone. The hostile ones run when nobody else wants
the processor (SCHED_IDLE): they are to be a burden by what they ask of the server, not by what they cost this machine.
"""

import multiprocessing
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../clients/python"))

import drystone

LARGE = 1 << 20


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def framed(*words):
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        word = word if isinstance(word, bytes) else str(word).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(word), word))
    return b"".join(parts)


class KeyValue:
    """The key-value server, by the protocol of Redis and by composites."""

    def __init__(self, program, folder):
        self.redis, self.tcp = free_port(), free_port()
        self.arguments = [
            program, f"file={folder}/store.redb", f"redis=127.0.0.1:{self.redis}",
            f"store=tcp://127.0.0.1:{self.tcp}/store", "bytes=1000000", "requests=600",
        ]  # fmt: skip

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.redis), timeout=30)

    def composites(self):
        return drystone.connect(f"tcp://127.0.0.1:{self.tcp}", timeout=120)

    def prepare(self):
        """Each session brings as much as its quota allows at once."""
        for first in range(0, 20000, 500):
            with self.connect() as client:
                numbers = range(first, first + 500)
                client.sendall(b"".join(framed("SET", f"many:{number}", "x" * 50) for number in numbers))
                received = 0
                while received < 500 * len(b"+OK\r\n"):
                    received += len(client.recv(65536))
        with self.connect() as client:
            client.sendall(framed("SET", "large", b"x" * (LARGE - 100)))
            client.recv(100)

    def honest(self, number):
        """What one asks again and again."""
        if number % 2:
            server = self.composites()
            program = server.program()
            store, key, value = program.use("store"), program.text(given=True), program.text(result=True)
            store.Set(key, "value of " + key)
            store.Done()
            store.Get(key)
            store.Value(value)

            def ask(turn):
                name = f"honest {number} {turn}"
                assert program.run({key: name})[value] == f"value of {name}".encode()

        else:
            client = self.connect()
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

            def ask(turn):
                client.sendall(framed("SET", f"honest {number}", turn) + framed("GET", f"honest {number}"))
                expected, heard = f"+OK\r\n${len(str(turn))}\r\n{turn}\r\n".encode(), b""
                while len(heard) < len(expected):
                    heard += client.recv(1000)
                assert heard == expected

        return ask

    def deaf(self, *command):
        """Says the same without end, and never listens."""
        with self.connect() as client:
            said = framed(*command) * max(1, 65536 // len(framed(*command)))
            while True:
                client.sendall(said)

    def greedy(self, *command):
        """Asks for as much as it gets."""
        with self.connect() as client:
            while True:
                client.sendall(framed(*command) * 4)
                client.recv(LARGE)

    def babbling(self):
        while True:
            with self.connect() as client:
                client.sendall(random.randbytes(random.randrange(1, 5000)))

    def slow(self):
        """Begins many things and ends none."""
        clients = [self.connect() for _ in range(200)]
        while True:
            for client in clients:
                client.sendall(b"*")
                time.sleep(0.005)
                client.close()
            clients = [self.connect() for _ in range(200)]

    def endless(self):
        with self.composites() as server:
            program = server.program()
            wind(program, program.integer(1))
            while True:
                try:
                    program.run()
                except drystone.Stopped:
                    pass

    def filling(self):
        with self.composites() as server:
            program = server.program()
            store, text, i = program.use("store"), program.text("x" * 1000), program.integer()
            with program.for_(i, 1, 9):
                text.set(text + text)
            with program.while_(i > 0):
                store.Set("large", text)
                store.Done()
                i.set(i + 1)
            program.run()

    def hostile(self):
        return [
            lambda: self.deaf("SET", "deaf", b"x" * 60000),
            lambda: self.deaf("GET", "large"),
            lambda: self.deaf("INCR", "deaf"),
            lambda: self.greedy("KEYS", "*"),
            self.babbling,
            self.slow,
            self.endless,
            self.filling,
        ]


class Files:
    """The file server."""

    def __init__(self, program, folder):
        self.tcp, self.folder = free_port(), folder
        shelf = f"shelf=tcp://127.0.0.1:{self.tcp}/shelf"
        self.arguments = [program, f"folder={folder}", shelf, "bytes=1000000", "requests=600"]

    def connect(self):
        return drystone.connect(f"tcp://127.0.0.1:{self.tcp}", timeout=120)

    def prepare(self):
        os.mkdir(f"{self.folder}/many")
        for number in range(20000):
            open(f"{self.folder}/many/{number}", "w").close()
        with open(f"{self.folder}/large", "wb") as large:
            large.write(bytes(64 * LARGE))

    def honest(self, number):
        server = self.connect()
        program = server.program()
        shelf, file, data = program.use("shelf"), program.integer(), program.text(result=True)
        shelf.Open(f"honest {number}", "rw")
        shelf.Opened(file)
        shelf.Write(file, "text " * 200)
        shelf.Done()
        shelf.Seek(file, 500)
        shelf.Done()
        shelf.Read(file, 100)
        shelf.Data(data)
        shelf.Close(file)
        shelf.Done()

        def ask(_):
            assert program.run()[data] == b"text " * 20

        return ask

    def looping(self, build):
        """Does something again and again, at the server."""
        with self.connect() as server:
            program = server.program()
            shelf, file, again = program.use("shelf"), program.integer(), program.integer(1)
            build(program, shelf, file, again)
            while True:
                try:
                    program.run()
                except drystone.Stopped:
                    pass

    def reading(self):
        def build(program, shelf, file, again):
            shelf.Open("large", "r")
            shelf.Opened(file)
            with program.while_(again > 0):
                shelf.Seek(file, 0)
                shelf.Done()
                shelf.Read(file, LARGE)
                shelf.Data(program.text())

        self.looping(build)

    def writing(self, update):
        def build(program, shelf, file, again):
            text = program.text("x" * 1000)
            with program.for_(again, 1, 9):
                text.set(text + text)
            shelf.Open("hostile", "rw")
            shelf.Opened(file)
            with program.while_(again > 0):
                shelf.Seek(file, 0)
                shelf.Done()
                shelf.Write(file, text)
                shelf.Done()
                if update:
                    shelf.Update(file)
                    shelf.Done()

        self.looping(build)

    def hoarding(self):
        def build(program, shelf, file, again):
            with program.while_(again > 0):
                shelf.Open("large", "r")
                with program.if_(shelf.has("Opened")):
                    shelf.Opened(file)
                with program.else_():
                    shelf.Failed(program.text())

        self.looping(build)

    def listing(self):
        def build(program, shelf, file, again):
            with program.while_(again > 0):
                shelf.List("many", "")
                shelf.Names(program.text())

        self.looping(build)

    def escaping(self):
        def build(program, shelf, file, again):
            with program.while_(again > 0):
                shelf.Open("../../../../etc/passwd", "r")
                shelf.Failed(program.text())

        self.looping(build)

    def endless(self):
        self.looping(lambda program, shelf, file, again: loop(program, again))

    def babbling(self):
        while True:
            with socket.create_connection(("127.0.0.1", self.tcp), timeout=30) as client:
                client.sendall(random.randbytes(random.randrange(1, 5000)))
            # How many connections come in a second is not bounded by what `tcp:` names are exported by.
            time.sleep(0.005)

    def hostile(self):
        return [
            self.reading,
            lambda: self.writing(False),
            lambda: self.writing(True),
            self.hoarding,
            self.listing,
            self.escaping,
            self.endless,
            self.babbling,
        ]


def loop(program, x):
    with program.while_(x > 0):
        x.set(x % 1000 + 1)


def wind(program, x):
    """Rounds as long as a program can have them, and searches in a long text."""
    text, i = program.text(b"ab"), program.integer()
    with program.for_(i, 1, 20):
        text.set(text + text)
    short = program.text(b"ab")
    with program.while_(x > 0):
        x.set(drystone.find(text, b"bb"))
        for _ in range(600):
            x.set(drystone.find(short, b"b"))


def be_hostile(act):
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    while True:
        try:
            act()
        except (OSError, drystone.Lost):
            time.sleep(0.01)


def be_honest(server, number, seconds, results):
    """Asks fifty times in a second; tells how many milliseconds each answer took."""
    ask, took, turn = server.honest(number), [], 0
    ask(turn)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        turn += 1
        begin = time.perf_counter()
        ask(turn)
        took.append((time.perf_counter() - begin) * 1000)
        time.sleep(random.uniform(0.01, 0.03))
    results.put(took)


def measure(server, seconds):
    results = multiprocessing.Queue()
    honest = [multiprocessing.Process(target=be_honest, args=(server, number, seconds, results)) for number in range(8)]
    for process in honest:
        process.start()
    took = sorted(one for _ in honest for one in results.get(timeout=seconds + 120))
    for process in honest:
        process.join()
    return statistics.median(took), took[len(took) * 99 // 100], took[-1], len(took)


def main(kind, program, seconds, factor):
    with tempfile.TemporaryDirectory() as folder:
        server = {"keyvalue": KeyValue, "files": Files}[kind](os.path.abspath(program), folder)
        process = subprocess.Popen(server.arguments, stdout=subprocess.PIPE)
        assert process.stdout.readline() == b"ready\n"
        hostile = []
        try:
            server.prepare()
            alone = measure(server, seconds)
            for act in server.hostile():
                hostile.append(multiprocessing.Process(target=be_hostile, args=(act,), daemon=True))
                hostile[-1].start()
            time.sleep(1)
            beside = measure(server, seconds)
            living = sum(one.is_alive() for one in hostile)
        finally:
            for one in hostile:
                one.kill()
            with open(f"/proc/{process.pid}/status") as status:
                peak = next(line.split()[1] for line in status if line.startswith("VmHWM"))
            process.kill()
            process.wait()
    for name, (median, tail, most, count) in [("alone", alone), ("beside hostile ones", beside)]:
        print(f"{kind}, honest {name}: median {median:.2f} ms, 99 % {tail:.2f} ms, most {most:.2f} ms, {count} answers")
    print(f"{living} hostile clients to the end, the server used {int(peak) // 1024} MiB at most")
    if living < len(hostile):
        sys.exit("a hostile client has come to an end")
    if beside[0] > factor * alone[0]:
        sys.exit(f"more than {factor} times as long")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4]) if len(sys.argv) > 4 else 2)
