"""Says the same to the key-value server and to Redis, and compares what they answer, byte by byte.

beside.py PROGRAM ROUNDS: the program is `drystone build --with . *.dry`'s; needs redis-server. A round is some dozens
of commands by three connections, or bytes that are hardly a protocol. SEED says where to begin, MOST how many
differences are shown, and SHOWN how many commands before each.

What no two servers have in common isn't compared (numbers of clients, times, the order of keys), but for what it is
like.
"""

import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import time

from making import Maker, framed

SEED = int(os.environ.get("SEED", time.time_ns()))


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""

    def more(self):
        got = self.socket.recv(1 << 20)
        if not got:
            raise EOFError
        self.rest += got

    def line(self):
        while b"\r\n" not in self.rest:
            self.more()
        line, self.rest = self.rest.split(b"\r\n", 1)
        return line

    def answer(self):
        """An answer as it was sent, in parts: an array is a list behind its head."""
        line = self.line()
        if line[:1] in b"$=" and line[1:] != b"-1":
            length = int(line[1:]) + 2
            while len(self.rest) < length:
                self.more()
            text, self.rest = self.rest[:length], self.rest[length:]
            return line + b"\r\n" + text
        if line[:1] in b"*~%" and line[1:] != b"-1":
            return [line] + [self.answer() for _ in range(int(line[1:]) * (2 if line[:1] == b"%" else 1))]
        return line

    def ask(self, said):
        try:
            self.socket.sendall(said)
            return self.answer()
        except (EOFError, ConnectionError):
            return "closed"

    def everything(self, said):
        """What is answered until the connection is closed."""
        try:
            self.socket.sendall(said)
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        try:
            while True:
                self.more()
        except (EOFError, ConnectionError):
            return self.rest
        except TimeoutError:
            return self.rest + b" .. and is not closed"

    def close(self):
        self.socket.close()


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Pair:
    """Both servers; with a password, or without one."""

    def __init__(self, program, folder, password=None):
        folder = os.path.join(folder, "guarded" if password else "open")
        os.mkdir(folder)
        self.ports = [free_port(), free_port()]
        own = [
            program,
            f"file={folder}/store.redb",
            "store=",
            f"redis=127.0.0.1:{self.ports[0]}",
            "requests=1000000000",
            "bytes=1000000000",
        ]
        redis = [
            "redis-server",
            "--port",
            str(self.ports[1]),
            "--save",
            "",
            "--databases",
            "1",
            "--proto-max-bulk-len",
            "16777216",
            "--dir",
            folder,
        ]
        if password:
            with open(f"{folder}/password", "w") as file:
                print(password, file=file)
            own, redis = [*own, f"password={folder}/password"], [*redis, "--requirepass", password]
        self.password = password and password.encode()
        self.processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in (own, redis)]
        for port in self.ports:
            for _ in range(200):
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except ConnectionError:
                    time.sleep(0.05)

        own, redis = (
            {name.split(b"\r\n")[1] for name in end.ask(framed([b"COMMAND", b"LIST"]))[1:]} for end in self.connect()
        )
        self.only_redis = redis - own

    def connect(self):
        """To both; whoever has to say a password has said it."""
        both = self.come()
        for end in both if self.password else []:
            end.ask(framed([b"AUTH", self.password]))
        return both

    def come(self):
        return [Connection(port) for port in self.ports]

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()

    def running(self):
        return all(process.poll() is None for process in self.processes)


def close(own, other, by):
    """Whether two answers are numbers that hardly differ."""
    return own[:1] == other[:1] == b":" and abs(int(own[1:]) - int(other[1:])) <= by


def is_same(words, own, other):
    """Whether two answers to a command say the same."""
    if own == other:
        return True
    name = words[0].upper() if words else b""
    if isinstance(own, list) and isinstance(other, list):
        if name == b"KEYS":
            return own[0] == other[0] and sorted(own[1:]) == sorted(other[1:])
        if name == b"SCAN":
            # Other cursors than the first mean something else to each server.
            return (
                words[1] != b"0"
                or own[:2] == other[:2]
                and isinstance(own[2], list)
                and is_same([b"KEYS"], own[2], other[2])
            )
        if name == b"HELLO":
            return [part for part in own if part[:1] != b":"] == [part for part in other if part[:1] != b":"]
        return False
    if isinstance(own, bytes) and isinstance(other, bytes):
        if name in (b"TTL", b"EXPIRETIME"):
            return close(own, other, 1)
        if name == b"DBSIZE":
            return close(own, other, 5)  # what has expired takes room for a moment
        if name in (b"PTTL", b"PEXPIRETIME"):
            return close(own, other, 1000)
        if name == b"RANDOMKEY":
            return own[:1] == other[:1]
    return False


class Difference(Exception):
    pass


def short(x):
    text = repr(x)
    return text if len(text) < 300 else f"{text[:200]}.. ({len(text)})"


def shown(said):
    return "\n    ".join(f"{number}: {' '.join(short(word)[1:] for word in words)}" for number, words in said)


def converse(pair, chance):
    """Some commands by several connections, of which the others change what one watches."""
    maker, clients, queues = Maker(chance, pair.password), [pair.come() for _ in range(3)], [None] * 3
    said = []
    for _ in range(chance.randint(5, 80)):
        number = chance.choice([0, 0, 0, 1, 2])
        words = maker.command()
        request = maker.framed(words)
        said.append((number, words))
        own, other = (connection.ask(request) for connection in clients[number])
        if queues[number] is not None and own == other == b"+QUEUED":
            queues[number].append(words)
        same = is_same(words, own, other)
        if (
            words[:1]
            and words[0].upper() == b"EXEC"
            and isinstance(own, list)
            and isinstance(other, list)
            and len(own) == len(other)
        ):
            same = all(is_same(*each) for each in zip(queues[number] or [], own[1:], other[1:]))
        if not same:
            raise Difference(
                f"\n    {shown(said[-int(os.environ.get('SHOWN', 15)):])}"
                f"\n  own:   {short(own)}\n  Redis: {short(other)}"
            )
        name = words[0].upper() if words else b""
        if name == b"MULTI" and own == b"+OK":
            queues[number] = []
        elif name in (b"EXEC", b"DISCARD", b"RESET") and (
            isinstance(own, list) or own[:1] != b"-" or own[:5] == b"-EXEC"
        ):
            queues[number] = None
        if own == "closed":
            break
    for connection in clients:
        for end in connection:
            end.close()
    return said


def babble(pair, chance):
    """Bytes that are no protocol to their end. Without zeros: behind one Redis finds no end of a line."""
    stream = Maker(chance, pair.password).rubbish()
    unlike = re.compile(rb"\x00|\b(DBSIZE|KEYS|SCAN|HELLO|RANDOMKEY|TTL|PTTL|EXPIRETIME|PEXPIRETIME|CLIENT)\b", re.I)
    if unlike.search(stream):
        return []
    own, other = (end.everything(stream) for end in pair.come())
    # At a line of HTTP Redis drops what it hasn't said yet.
    is_closed = other == b"" and re.search(rb"\b(POST|host:)", stream, re.I)
    known = [name for name in re.findall(rb"unknown command '([^']*)'", own) if name.lower() in pair.only_redis]
    if own != other and not is_closed and not known:
        raise Difference(f"\n    {short(stream[-290:])}\n  own:   {short(own[-250:])}\n  Redis: {short(other[-250:])}")
    return [stream]


def compare(pair, said):
    """Looks whether both have the same keys with the same values."""
    own, other = pair.connect()
    states = []
    for end in (own, other):
        keys = sorted(key.partition(b"\r\n")[2][:-2] for key in end.ask(framed([b"KEYS", b"*"]))[1:])
        states.append([(key, end.ask(framed([b"GET", key]))) for key in keys])
        end.close()
    if states[0] != states[1]:
        unlike = [[entry for entry in state if entry not in states[1 - i]][:3] for i, state in enumerate(states)]
        shows = shown(said) if said and isinstance(said[0], tuple) else short(said)
        raise Difference(f"what is stored behind {shows}\n  own:   {unlike[0]}\n  Redis: {unlike[1]}")


def main(program, rounds):
    found, count = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        pairs = [Pair(program, folder), Pair(program, folder, "open sesame")]
        try:
            for number in range(rounds):
                chance = random.Random(f"{SEED} {number}")
                pair = pairs[number % 8 == 7]
                try:
                    said = (babble if chance.random() < 0.3 else converse)(pair, chance)
                    compare(pair, said)
                    count += len(said)
                except Difference as difference:
                    found += 1
                    print(f"round {number} of SEED={SEED}: {difference}", flush=True)
                    for connection in pair.connect():
                        connection.ask(framed([b"FLUSHALL"]))
                if not pair.running():
                    sys.exit(f"a server has ended in round {number} of SEED={SEED}")
                if found >= int(os.environ.get("MOST", 1)):
                    break
        finally:
            for pair in pairs:
                pair.end()
    if found:
        sys.exit(1)
    print(f"{rounds} rounds, {count} commands and streams: as Redis")


main(os.path.abspath(sys.argv[1]), int(sys.argv[2]))
