"""Clients that hoard: how much memory they make the key-value server take, and whether others are served meanwhile.

hoard.py PROGRAM [CLIENTS [SECONDS [KIND..]]]: the program is `drystone build --with . *.dry`'s. For each kind of
hoarding so many clients (100) bring, or ask for, as much as they can for so many seconds (4), and take nothing. Fails
if the server takes more than the book says, or keeps somebody else waiting.
"""

import os
import socket
import subprocess
import sys
import tempfile
import threading
import time

MB = 1 << 20
MEMORY, REQUEST, CACHE = 64 * MB, 16 * MB, 32 * MB
# Beside what commands and transactions hold, and the file in memory: what a client may cost otherwise; what is given
# and not taken, and what one transaction copies; and the program.
EACH, GIVEN, PROGRAM = 700 * 1024, 128 * MB + 64 * MB, 40 * MB


def framed(*words):
    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


class Server:
    def __init__(self, program, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        arguments = [
            program,
            f"file={folder}/store.redb",
            "store=",
            f"redis=127.0.0.1:{self.port}",
            "bytes=1000000000000",
            "requests=1000000000",
        ]
        arguments += [f"memory={MEMORY}", f"request={REQUEST}", f"cache={CACHE}", "patience=4", "clients=3000"]
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE)
        assert self.process.stdout.readline() == b"ready\n"

    def memory(self, what="VmRSS"):
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith(what)) * 1024

    def forget_peak(self):
        with open(f"/proc/{self.process.pid}/clear_refs", "w") as file:
            file.write("5")

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def ask(self, client, *words):
        """Its answer; nothing if it has let the client go."""
        try:
            client.sendall(framed(*words))
            return client.recv(1 << 16)
        except (BrokenPipeError, ConnectionResetError):
            return b""

    def end(self):
        self.process.kill()
        self.process.wait()


def pour(client, said, most):
    """Sends until nobody takes it, or so much is sent; the client never reads."""
    client.setblocking(False)
    sent, end = 0, time.monotonic() + SECONDS
    while sent < most and time.monotonic() < end:
        try:
            sent += client.send(said)
        except BlockingIOError:
            time.sleep(0.002)
        except OSError:
            return


def unread(server, client):
    pour(client, framed("GET", "large") * 32, 10000)


def unread_many(server, client):
    pour(client, framed("MGET", *["large"] * 200), 10000)


def unread_keys(server, client):
    pour(client, framed("KEYS", "*") * 50, 10000)


def unread_old(server, client):
    for turn in range(4):
        pour(client, framed("SET", f"large {client.fileno()}", b"x" * (4 * MB), "GET"), 8 * MB)


def unread_small(server, client):
    pour(client, framed("INCR", "n") * 20000, 50 * MB)


def unread_transaction(server, client):
    pour(client, framed("MULTI") + framed("GET", "large") * 40 + framed("EXEC"), 10000)


def unfinished(server, client):
    pour(
        client,
        b"*100000\r\n$4\r\nMSET\r\n" + b"$1000000\r\n" + b"x" * 1000000 + b"\r\n" + b"$5\r\nshort\r\n" * 50000,
        40 * MB,
    )


def unfinished_word(server, client):
    pour(client, b"*2\r\n$3\r\nGET\r\n$500000000\r\n" + b"x" * (4 * MB), 40 * MB)


def unfinished_words(server, client):
    pour(client, b"*100000000\r\n" + b"$0\r\n\r\n" * 1000000, 40 * MB)


def unfinished_line(server, client):
    pour(client, b"x" * 60000, 60000)


def transaction(server, client):
    pour(client, framed("MULTI") + framed("SET", "a", b"x" * 100000) * 100, 12 * MB)


def transaction_of_small(server, client):
    pour(client, framed("MULTI") + framed("GET", "a") * 400000, 12 * MB)


def watching(server, client):
    pour(
        client, b"".join(framed("WATCH", f"{client.fileno()} {number} " + "x" * 8000) for number in range(200)), 12 * MB
    )


def idle(server, client):
    pour(client, framed("PING"), 10)


KINDS = [
    unread, unread_many, unread_keys, unread_old, unread_small, unread_transaction,
    unfinished, unfinished_word, unfinished_words, unfinished_line,
    transaction, transaction_of_small, watching, idle,
]  # fmt: skip


def attack(program, kind, count, seconds):
    """How much more the server takes at most, how much when all have gone, and how long somebody else waits."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(program, folder)
        try:
            with server.connect() as honest:
                server.ask(honest, "SET", "large", b"x" * (MB - 1000))
                for begin in range(0, 30000, 1000):
                    server.ask(
                        honest,
                        "MSET",
                        *[word for number in range(begin, begin + 1000) for word in (f"key {number}", "x")],
                    )
                server.forget_peak()
                before = server.memory()
                clients = []
                for _ in range(count):
                    clients.append(server.connect())
                    clients[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                threads = [threading.Thread(target=kind, args=(server, client)) for client in clients]
                longest = 0
                for thread in threads:
                    thread.start()
                end = time.monotonic() + seconds
                turn = 0
                while time.monotonic() < end or any(thread.is_alive() for thread in threads):
                    begin = time.monotonic()
                    turn += 1
                    assert server.ask(honest, "SET", "honest", turn) == b"+OK\r\n"
                    longest = max(longest, time.monotonic() - begin)
                    time.sleep(0.02)
                # Also one who brings more than others get.
                begin = time.monotonic()
                while (answer := server.ask(honest, "SET", "honest", b"y" * (4 * MB))) != b"+OK\r\n":
                    # Refused, or let go, while the others have all that there is for so much.
                    assert answer[:1] in (b"-", b"") and time.monotonic() - begin < 10, answer
                    if not answer:
                        honest = server.connect()
                large = time.monotonic() - begin
                peak = server.memory("VmHWM") - before
                for client in clients:
                    client.close()
                time.sleep(min(2, seconds))
                # The honest one held most for a moment, and may have been let go after its answer.
                with server.connect() as new:
                    assert server.ask(new, "PING") == b"+PONG\r\n"
                return peak, server.memory() - before, longest, large
        finally:
            server.end()


def main(program, count, seconds, kinds):
    bound = MEMORY + GIVEN + CACHE + PROGRAM + EACH * count
    print(f"{count} clients; the bound is {bound // MB} MiB more than without them")
    failed = False
    for kind in KINDS:
        if kinds and kind.__name__ not in kinds:
            continue
        peak, left, longest, large = attack(program, kind, count, seconds)
        print(
            f"{kind.__name__}: at most {peak // MB} MiB more, {left // MB} when they have gone; "
            f"a SET takes up to {1000 * longest:.0f} ms, one of 4 MiB {1000 * large:.0f}",
            flush=True,
        )
        failed |= peak > bound or longest > 5 or large > 10
    if failed:
        sys.exit("more memory, or time, than the book says")


COUNT, SECONDS = [int(argument) for argument in sys.argv[2:4]] + [100, 4][len(sys.argv[2:4]) :]
main(os.path.abspath(sys.argv[1]), COUNT, SECONDS, sys.argv[4:])
