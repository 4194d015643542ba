"""Kills the server in the midst of composites, again and again, and looks whether all that it acknowledged is there
then.

durability.py PROGRAM ROUNDS: the program is `drystone build --with . *.dry`'s.
"""

import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../clients/python"))

import drystone
from drystone.server import Lost

CLIENTS, CALLS = 4, 20
SEED = int(os.environ.get("SEED", time.time_ns()))


class Server:
    """A server with the store in a file; ends without a chance to do anything more."""

    def __init__(self, program, file):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        arguments = [program, f"file={file}", f"store={self.address}/store", "redis="]
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE)
        line = self.process.stdout.readline()
        assert line == b"ready\n", line

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Client:
    """Stores record after record, and counts them in another one. `acknowledged`: the last one of which it knows that
    it is there."""

    def __init__(self, name):
        self.name, self.acknowledged, self.complaint = name, 0, None

    def write(self, address):
        """Composites of some calls each, until the server is gone."""
        try:
            with drystone.connect(address, timeout=60) as server:
                program = server.program()
                store, i = program.use("store"), program.integer()
                first, count = program.integer(given=True), program.integer(result=True)
                with program.for_(i, first, first + (CALLS - 1)):
                    store.Set(f"{self.name}:" + drystone.text(i), drystone.text(i * 31))
                    store.Done()
                    store.Add(f"count {self.name}", 1)
                    store.Number(count)
                while True:
                    done = program.run({first: self.acknowledged + 1})[count]
                    if done != self.acknowledged + CALLS:
                        self.complaint = f"{done} are counted, and {self.acknowledged + CALLS} were stored"
                        return
                    self.acknowledged = done
        except (Lost, OSError):
            pass

    def check(self, address):
        """Counts what is there. The next composite goes on behind it: of the last one some may be there, too."""
        with drystone.connect(address, timeout=60) as server:
            program = server.program()
            store, i, value = program.use("store"), program.integer(), program.text()
            good, count = program.integer(result=True), program.integer(result=True)
            store.Add(f"count {self.name}", 0)
            store.Number(count)
            with program.for_(i, 1, count):
                store.Get(f"{self.name}:" + drystone.text(i))
                with program.if_(store.has("Value")):
                    store.Value(value)
                    with program.if_(value == drystone.text(i * 31)):
                        good.set(good + 1)
                with program.else_():
                    store.Missing()
            result = program.run()
        if not (self.acknowledged <= result[count] <= self.acknowledged + CALLS and result[good] == result[count]):
            raise SystemExit(
                f"client {self.name}: {self.acknowledged} acknowledged, {result[count]} counted, "
                f"{result[good]} there (SEED={SEED})"
            )
        self.acknowledged = result[count]


def main(program, rounds):
    chance = random.Random(SEED)
    clients = [Client(name) for name in "abcd"[:CLIENTS]]
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "store.redb")
        for _ in range(rounds):
            server = Server(program, file)
            threads = [threading.Thread(target=client.write, args=(server.address,)) for client in clients]
            for thread in threads:
                thread.start()
            time.sleep(chance.uniform(0.1, 0.6))
            server.kill()
            for thread in threads:
                thread.join()
            server = Server(program, file)
            try:
                for client in clients:
                    if client.complaint:
                        raise SystemExit(client.complaint)
                    client.check(server.address)
            finally:
                server.kill()
    total = sum(client.acknowledged for client in clients)
    print(f"killed {rounds} times: all of {total} acknowledged records are there")


main(os.path.abspath(sys.argv[1]), int(sys.argv[2]))
