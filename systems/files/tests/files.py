"""The file server, as clients in Python see it: files.py PROGRAM. The program is `drystone build --with . *.dry`'s."""

import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../clients/python"))

import drystone

PROGRAM = os.path.abspath(sys.argv.pop(1))


class Files(unittest.TestCase):
    def setUp(self):
        outer = tempfile.TemporaryDirectory()
        self.addCleanup(outer.cleanup)
        self.folder = os.path.join(outer.name, "in")
        os.mkdir(self.folder)
        with open(os.path.join(outer.name, "secret"), "w") as secret:
            secret.write("secret")

    def serve(self, *options):
        """A server, and a connection to it."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        arguments = [PROGRAM, f"folder={self.folder}", f"shelf={address}/shelf", *options]
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        connection = drystone.connect(address, timeout=30)
        self.addCleanup(connection.close)
        return connection

    def write(self, name, data):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(data)

    def why(self, server, request, *values, answer="Done"):
        """Why a request fails; "" if it doesn't."""
        program = server.program()
        shelf, reason = program.use("shelf"), program.text(result=True)
        getattr(shelf, request)(*values)
        with program.if_(shelf.has("Failed")):
            shelf.Failed(reason)
        with program.else_():
            getattr(shelf, answer)()
        return program.run()[reason].decode()

    def copying(self, server):
        program = server.program()
        shelf, old, new = program.use("shelf"), program.text(given=True), program.text(given=True)
        source, target, data = program.integer(), program.integer(), program.text()
        copied = program.integer(result=True)
        shelf.Open(old, "r")
        shelf.Opened(source)
        shelf.Open(new, "w")
        shelf.Opened(target)
        shelf.Read(source, 10000)
        shelf.Data(data)
        with program.while_(drystone.len_(data) > 0):
            shelf.Write(target, data)
            shelf.Done()
            copied.set(copied + drystone.len_(data))
            shelf.Read(source, 10000)
            shelf.Data(data)
        shelf.Update(target)
        shelf.Done()
        return program, old, new, copied

    def test_a_file_is_copied_in_one_crossing(self):
        server, data = self.serve(), os.urandom(123456)
        self.write("old", data)
        program, old, new, copied = self.copying(server)
        self.assertEqual(program.run({old: "old", new: "new"})[copied], len(data))
        with open(os.path.join(self.folder, "new"), "rb") as file:
            self.assertEqual(file.read(), data)

    def test_what_one_seeks_is_read(self):
        server = self.serve()
        self.write("letters", bytes(range(97, 123)))
        program = server.program()
        shelf, file, data = program.use("shelf"), program.integer(), program.text(result=True)
        shelf.Open("letters", "r")
        shelf.Opened(file)
        shelf.Seek(file, 23)
        shelf.Done()
        shelf.Read(file, 100)
        shelf.Data(data)
        self.assertEqual(program.run()[data], b"xyz")

    def test_nothing_leads_out(self):
        server = self.serve()
        os.symlink("../secret", os.path.join(self.folder, "link"))
        os.mkfifo(os.path.join(self.folder, "pipe"))
        outside, links = "not a name within the folder", "symbolic links lead nowhere here"
        for name, why in [("../secret", outside), ("/etc/passwd", outside), ("link", links), ("pipe", "it is no file")]:
            self.assertEqual(self.why(server, "Open", name, "r", answer="Opened"), why, name)
        self.assertEqual(self.why(server, "Rename", "link", "../stolen"), outside)
        self.assertEqual(self.why(server, "List", "..", "", answer="Names"), outside)

    def test_a_session_has_so_many_files(self):
        server = self.serve("open=3")
        self.write("file", b"")
        program = server.program()
        shelf, i, file = program.use("shelf"), program.integer(), program.integer()
        opened = program.integer(result=True)
        with program.for_(i, 1, 5):
            shelf.Open("file", "r")
            with program.if_(shelf.has("Opened")):
                shelf.Opened(file)
                opened.set(opened + 1)
            with program.else_():
                shelf.Failed(program.text())
        self.assertEqual(program.run()[opened], 3)
        self.assertEqual(program.run()[opened], 3, "a session's files go with it")

    def test_a_file_has_so_many_bytes(self):
        server = self.serve("largest=1000")
        self.write("old", bytes(2000))
        program, old, new, _ = self.copying(server)
        with self.assertRaises(drystone.Stopped):
            program.run({old: "old", new: "new"})
        self.assertEqual(os.path.getsize(os.path.join(self.folder, "new")), 0)

    def test_who_goes_in_the_midst_of_a_request_leaves_the_server(self):
        server = self.serve()
        for number in range(5000):
            self.write(str(number), b"")
        for _ in range(5):
            with drystone.connect(self.address, timeout=30) as other:
                program = other.program()
                shelf, again = program.use("shelf"), program.integer(1)
                with program.while_(again > 0):
                    shelf.List("", "")
                    shelf.Names(program.text())
                running = threading.Thread(target=lambda: self.assertRaises((drystone.Lost, OSError), program.run))
                running.start()
                time.sleep(0.2)
                other.socket.shutdown(socket.SHUT_RDWR)
                running.join()
        program, old, new, copied = self.copying(server)
        self.assertEqual(program.run({old: "7", new: "new"})[copied], 0)

    def test_where_nothing_may_be_changed_nothing_is(self):
        server = self.serve("write=no")
        self.write("old", b"data")
        for request in [("Open", "old", "w"), ("Delete", "old"), ("MakeFolder", "new"), ("Rename", "old", "new")]:
            answer = "Opened" if request[0] == "Open" else "Done"
            self.assertEqual(self.why(server, *request, answer=answer), "nothing may be changed here")
        self.assertEqual(os.listdir(self.folder), ["old"])


unittest.main()
