"""Takes the room for the key-value server's file away and gives it back, again and again, kills the server in between,
and looks whether all that it acknowledged is there, and nothing by halves.

full.py PROGRAM ROUNDS: the program is `drystone build --with . *.dry`'s. A disk is full here where the file may not
become larger (a limit of the process, RLIMIT_FSIZE), and, where one may mount it, a small one in memory. Without room
writes are refused and reads answered; with room again writes go on, without a restart.
"""

import ctypes
import os
import random
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time

SEED = int(os.environ.get("SEED", time.time_ns()))
CLIENTS, PATIENCE = 4, 20


def framed(*words):
    words = [str(word).encode() for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.file = self.socket.makefile("rb")

    def ask(self, *words):
        self.socket.sendall(framed(*words))
        return self.answer()

    def answer(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise EOFError
        if line[:1] == b"$" and line != b"$-1\r\n":
            return self.file.read(int(line[1:]) + 2)[:-2]
        if line[:1] == b"*" and line != b"*-1\r\n":
            return [self.answer() for _ in range(int(line[1:]))]
        return line.strip()


class Server:
    def __init__(self, program, file):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        arguments = [
            program,
            f"file={file}",
            "store=",
            f"redis=127.0.0.1:{self.port}",
            "bytes=1000000000000",
            "requests=1000000000",
        ]
        # Python passes over the signal that comes with the limit, and so does the server then.
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, restore_signals=False)
        assert self.process.stdout.readline() == b"ready\n"
        self.file = file

    def limit(self, bytes_):
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (bytes_, resource.RLIM_INFINITY))

    def kill(self):
        self.process.kill()
        self.process.wait()


class Client(threading.Thread):
    """Writes records in one transaction, again and again: what it knows to be there, and what may be."""

    def __init__(self, port, name, chance):
        super().__init__(daemon=True)
        self.port, self.name, self.chance = port, name, chance
        self.acknowledged = self.tried = 0
        self.count, self.refused, self.read, self.unread, self.complaint = 0, 0, 0, 0, None

    def run(self):
        try:
            connection = Connection(self.port)
            while True:
                self.tried += 1
                value = f"{self.tried} " + "x" * self.chance.choice([10, 1000, 20000])
                connection.ask("MULTI")
                connection.ask("SET", f"{self.name} one", value)
                connection.ask("SET", f"{self.name} two", value)
                connection.ask("SET", f"{self.name} {self.tried}", value)
                answer = connection.ask("EXEC")
                if answer == [b"+OK"] * 3:
                    self.acknowledged = self.tried
                    self.count += 1
                elif answer[:1] == b"-":
                    self.refused += 1
                    time.sleep(0.01)
                else:
                    self.complaint = f"{self.name}: EXEC is answered {answer}"
                # What was acknowledged can be read in any case, but for the moment in which the file is opened anew.
                answer = connection.ask("GET", f"{self.name} one")
                if answer[:1] == b"-":
                    self.unread += 1
                    continue
                self.read += 1
                if not self.acknowledged <= number(answer) <= self.tried:
                    self.complaint = f"{self.name}: {number(answer)} is read, {self.acknowledged} was acknowledged"
        except (OSError, EOFError):
            pass


def number(value):
    return 0 if value == b"$-1" else int(value.split()[0])


def check(port, clients):
    connection = Connection(port)
    for client in clients:
        one, two = (connection.ask("GET", f"{client.name} {which}") for which in ("one", "two"))
        if one != two or not client.acknowledged <= number(one) <= client.tried:
            raise SystemExit(
                f"{client.name}: {client.acknowledged} acknowledged, "
                f"{number(one)} and {number(two)} there (SEED={SEED})"
            )


def goes_on(clients):
    """Whether each of them has something acknowledged within a while."""
    before, end = [client.acknowledged for client in clients], time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if all(client.acknowledged > old or not client.is_alive() for client, old in zip(clients, before)):
            return
        time.sleep(0.01)
    raise SystemExit(f"with room again nothing is written within {PATIENCE} s (SEED={SEED})")


def mounted(folder):
    """Makes a disk of 6 MiB there, which this process and its children see; whether it may."""
    namespace_of_mounts = 0x20000
    if ctypes.CDLL(None).unshare(namespace_of_mounts):
        return False
    for arguments in (["--make-rprivate", "/"], ["-t", "tmpfs", "-o", "size=6m", "none", folder]):
        if subprocess.run(["mount", *arguments], capture_output=True).returncode:
            return False
    return True


def fill_a_disk(program):
    """Where a disk has room again the very next write is done."""
    with tempfile.TemporaryDirectory() as folder:
        if not mounted(folder):
            return "no disk could be mounted"
        server = Server(program, os.path.join(folder, "store.redb"))
        try:
            return fill(Connection(server.port), folder)
        finally:
            server.kill()
            subprocess.run(["umount", folder])


def fill(connection, disk):
    stored, value = 0, b"x" * 100000
    while connection.ask("SET", f"key {stored}", value.decode()) == b"+OK":
        stored += 1
    answers = [connection.ask("SET", "more", "x"), connection.ask("GET", "key 0")]
    if not answers[0].startswith(b"-ERR the store's file: ") or answers[1] != value:
        raise SystemExit(f"a full disk: {answers}")
    subprocess.run(["mount", "-o", "remount,size=50m", disk], check=True)
    answers = [connection.ask("SET", "more", "x"), connection.ask("DEL", "key 0"), connection.ask("DBSIZE")]
    if answers != [b"+OK", b":1", b":%d" % stored]:
        raise SystemExit(f"with room again: {answers}, and {stored} values were stored before")
    return f"a disk that was full with {stored} values goes on when it has room"


def main(program, rounds):
    disk = fill_a_disk(program)
    chance = random.Random(SEED)
    total = dict.fromkeys(["count", "refused", "read", "unread"], 0)
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "store.redb")
            server = Server(program, file)
            clients = [Client(server.port, name, random.Random(chance.random())) for name in "abcd"[:CLIENTS]]
            for client in clients:
                client.start()
            for _ in range(2):
                time.sleep(chance.uniform(0.05, 0.3))
                server.limit(os.path.getsize(file) + chance.choice([0, 1, 10000]))
                time.sleep(chance.uniform(0.1, 0.7))
                if chance.random() < 0.3:
                    break
                server.limit(resource.RLIM_INFINITY)
                goes_on(clients)
            server.kill()
            for client in clients:
                client.join()
                if client.complaint:
                    raise SystemExit(f"{client.complaint} (SEED={SEED})")
                for what in total:
                    total[what] += getattr(client, what)
            server = Server(program, file)
            check(server.port, clients)
            server.kill()
    if not total["refused"]:
        raise SystemExit("nothing was ever refused: the limit has no effect")
    if total["unread"] > total["read"] // 10:
        raise SystemExit(f"{total['unread']} reads were refused, {total['read']} answered")
    print(
        f"full and killed {rounds} times: {total['count']} transactions acknowledged, "
        f"{total['refused']} refused, {total['read']} reads right; " + disk
    )


main(os.path.abspath(sys.argv[1]), int(sys.argv[2]))
