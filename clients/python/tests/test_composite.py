"""Composite calls to a real server: see drystone/tests/command/composite.rs, which starts it and gives the address as
PORT."""

import os
import random
import socket
import struct
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

import drystone
from drystone.server import MESSAGE, Lost
from drystone.xdr import INTEGER, TEXT, Reader, SequenceOf, encode, opaque, type_of, word

ADDRESS = f"tcp://127.0.0.1:{os.environ['PORT']}"


class Composite(unittest.TestCase):
    def setUp(self):
        self.server = drystone.connect(ADDRESS, timeout=60)
        self.addCleanup(self.server.close)

    def counting(self, rounds):
        program = self.server.program()
        count, n = program.use("count"), program.integer(given=True, result=True)
        with program.repeat(rounds):
            count.Next(n)
            count.Then(n)
        return program, n

    def endless(self):
        program = self.server.program()
        x = program.integer(1, result=True)
        with program.while_(x > 0):
            x.set(x + 1)
        return program, x

    def test_dependent_calls_run_at_the_server(self):
        program = self.server.program()
        store, i = program.use("store"), program.integer()
        key, steps = program.text(given=True), program.integer(result=True)
        with program.for_(i, 1, 50):
            store.Put(drystone.text(i), drystone.text(i + 1))
        store.Get(key)
        with program.while_(store.has("Value")):
            store.Value(key)
            steps.set(steps + 1)
            store.Get(key)
        store.Missing()
        self.assertEqual([program.run({key: str(first)})[steps] for first in (1, 20, 50, 51)], [50, 31, 1, 0])

    def test_what_python_would_do_wrongly_by_itself_is_refused(self):
        program, n = self.counting(1)
        for wrong in (lambda: f"key {n}", lambda: "n=" + str(n), lambda: "{}".format(n)):
            self.assertRaisesRegex(TypeError, "known at the server only", wrong)
        self.assertEqual(repr(n), "<INTEGER at the server>")
        self.assertRaisesRegex(drystone.ProgramError, "values are given for variables", program.run, {"n": 1})
        self.assertRaisesRegex(drystone.ProgramError, "rounds", program.run, {}, 5.5)
        self.assertRaisesRegex(drystone.ProgramError, "abort", program.on_error, "stop")
        self.assertRaisesRegex(KeyError, "by their variables", lambda: program.run({n: 1})["n"])
        program.while_(n < 5)
        n.set(n + 1)
        why = "line [0-9]+: a block does nothing without `with`"
        self.assertRaisesRegex(drystone.ProgramError, why, program.run, {n: 1})

    def test_a_connection_is_one_threads_at_a_time(self):
        endless, _ = self.endless()
        waits = threading.Thread(target=lambda: self.assertRaises(drystone.Stopped, endless.run, {}, 300_000_000))
        waits.start()
        said = ""
        while waits.is_alive() and not said:
            try:
                program, n = self.counting(1)
                program.run({n: 1})
            except drystone.ProgramError as error:
                said = str(error)
        waits.join()
        self.assertIn("another thread", said)

    def test_a_program_is_a_value_that_is_run_again(self):
        program, n = self.counting(100)
        self.assertEqual([program.run({n: first})[n] for first in range(10)], list(range(100, 110)))
        with drystone.connect(ADDRESS) as other:
            known = other.program()
            count, m = known.use("count"), known.integer(given=True, result=True)
            count.Next(m)
            count.Then(m)
            # It says that it knows the program, and doesn't.
            other.known.add(known.hash())
            self.assertEqual(known.run({m: 6})[m], 7)

    def test_texts_spell_numbers(self):
        program = self.server.program()
        n, x = program.integer(7, result=True), program.real(result=True)
        all = [program.boolean(result=True) for _ in range(3)]
        for is_one, answer in zip(all, (n.is_spelled_by("42"), x.is_spelled_by("1.5"), n.is_spelled_by("4 2"))):
            is_one.set(answer)
        results = program.run()
        self.assertEqual([results[it] for it in (n, x, *all)], [42, 1.5, True, True, False])
        self.assertRaises(TypeError, lambda: list(program.text()))

    POINT = {"x": 0, "at": {"name": b"", "known": False}, "weight": 0.0}
    NOTHING = {}

    def entry(self, key, sizes, **fields):
        at = {"name": fields.get("name", b""), "known": False, "no": {}}
        p = {"x": fields.get("x", 0), "at": at, "weight": fields.get("weight", 0.0)}
        return {"key": key, "sizes": sizes, "no": {}, "p": p, "c": b"\0"}

    def test_records_are_dictionaries_and_sequences_are_lists(self):
        program = self.server.program()
        shapes = program.use("shapes")
        p = shapes.variable("Put", "p", given=True, result=True)
        all = shapes.variable("Got", "all", given=True, result=True)
        count = program.integer(result=True)
        with program.repeat(2):
            shapes.Put(p, all)
            shapes.Got(all, p)
        count.set(drystone.len_(all))
        p["weight"] += 1.0
        results = program.run({p: {"x": 7, "at": {"name": "here"}, "weight": 2}, all: [{"key": "k", "sizes": [1]}]})
        self.assertEqual(results[count], 3)
        self.assertEqual(results[p], {"x": 3, "at": {"name": b"here", "known": False}, "weight": 3.0})
        seen = self.entry(b"here", [2, -1], x=2, name=b"here", weight=2.0)
        seen["p"]["at"]["known"] = True
        first = self.entry(b"here", [7, -1], x=7, name=b"here", weight=2.0)
        self.assertEqual(results[all], [self.entry(b"k", [1]), first, seen])
        results = program.run({p: {}})
        self.assertEqual((results[count], results[p]["x"]), (2, 2))

    def test_fields_may_be_expressions_and_new_variables_take_what_comes(self):
        program = self.server.program()
        shapes, n = program.use("shapes"), program.integer(4, result=True)
        shapes.Put({"x": n * 2, "at": {"name": drystone.text(n)}}, [])
        all, p = shapes.Got()
        p.set({"x": p["weight"].program.integer(5) + n, "at": p["at"]})
        n.set(p["x"] + drystone.len_(all))
        mine = shapes.variable("Got", "all", result=True)
        mine.set(all)
        empty = shapes.variable("Got", "all", result=True)
        q = shapes.variable("Got", "p", result=True)
        q.set(p)
        results = program.run()
        self.assertEqual(results[n], 10)
        self.assertEqual(results[mine], [self.entry(b"4", [8, -1], x=8, name=b"4")])
        self.assertEqual((results[empty], results[q]["at"]["name"]), ([], b"4"))

    def test_assigning_a_record_uses_its_old_values(self):
        program = self.server.program()
        count, shapes = program.use("count"), program.use("shapes")
        p = shapes.variable("Put", "p", given=True, result=True)
        p.set({"x": drystone.integer(p["weight"]), "weight": drystone.real(p["x"]), "at": {"name": "new"}})
        results = program.run({p: {"x": 3, "weight": 1.5, "at": {"known": True}}})
        self.assertEqual(results[p], {"x": 1, "weight": 3.0, "at": {"name": b"new", "known": False}})

    def test_sequences_may_be_deep_long_and_empty(self):
        program = self.server.program()
        shapes = program.use("shapes")
        x = shapes.variable("Deep", "x", given=True, result=True)
        e = shapes.variable("Deep", "e", given=True, result=True)
        shapes.Deep(x, e)
        shapes.Back(x, e)
        for deep in ([], [[]], [[[1.5, 2], []], [], [[-0.5]]]):
            results = program.run({x: deep, e: [{}] * len(deep)})
            self.assertEqual((results[x], results[e]), (deep + [[]], [{}] * (len(deep) + 1)))
        program = self.server.program()
        shapes = program.use("shapes")
        shapes.Many(100_000)
        numbers = shapes.variable("Numbers", "all", result=True)
        shapes.Numbers(numbers)
        self.assertEqual(program.run()[numbers], [0] * 99_999 + [100_000])

    def test_wrong_records_and_sequences_are_refused_here(self):
        program = self.server.program()
        shapes = program.use("shapes")
        for p, all, why in (
            ({"z": 1}, [], "Put's p has no field z; it has x, at, weight"),
            ({"at": 1}, [], "Put's p.at: 1 is no dictionary"),
            (5, [], "Put's p: 5 is no dictionary"),
            ({"x": "a"}, [], "Put's p.x takes INTEGER here, not TEXT"),
            ({}, [{"key": 1}], r"a sequence\[0\].key: 1 is no TEXT"),
            ({}, [{"sizes": [0, 0.5]}], r"a sequence\[0\].sizes\[1\]: 0.5 is no INTEGER"),
            ({}, [{"name": 1}], r"a sequence\[0\] has no field name"),
            ({}, {}, "is no list|is no value|no SEQUENCE"),
            ({}, "text", "is no list|SEQUENCE"),
        ):
            self.assertRaisesRegex(TypeError, why, shapes.Put, p, all)
        all, n = shapes.variable("Got", "all"), program.integer()
        self.assertRaisesRegex(TypeError, "can't be compared", lambda: all == all)
        self.assertRaises(TypeError, lambda: all + all)
        self.assertRaises(TypeError, lambda: all[0])
        self.assertRaises(TypeError, all.set, shapes.variable("Deep", "x"))
        self.assertRaisesRegex(drystone.ProgramError, "Got's p goes into a record", shapes.Got, all, n)
        self.assertRaisesRegex(drystone.ProgramError, r"Put\(p: a record, all: SEQUENCE\) got 1", shapes.Put, {})
        self.assertRaisesRegex(drystone.ProgramError, "has no parameter q; it has p, all", shapes.variable, "Put", "q")
        self.assertRaises(KeyError, lambda: shapes.variable("Put", "p")["y"])

    def test_what_is_no_sequence_stops_only_the_program(self):
        for garbage in (b"", b"\0\0\0", b"\xff" * 4, b"\0\0\0\1", b"\0\0\0\0\0\0\0\0", b"\0\0\0\1\0\0\0\xff"):
            program = self.server.program()
            shapes, held = program.use("shapes"), program.text(garbage)
            fields = [program.integer(), program.text(), program.boolean(), program.real()]
            call = program.call(shapes._number, 0, shapes._find("Put"), [*fields, held])
            program.command(word(7) + word(call))
            with self.assertRaises(drystone.Stopped) as stopped:
                program.run()
            self.assertEqual(stopped.exception.fault, 4, str(stopped.exception))
        program, n = self.counting(1)
        self.assertEqual(program.run({n: 1})[n], 2)

    def test_who_says_nothing_is_no_program(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            port = silent.getsockname()[1]
            self.assertRaises(Lost, drystone.connect, f"tcp://127.0.0.1:{port}", timeout=0.2)
            self.assertRaises(ValueError, drystone.connect, f"tcp://127.0.0.1:{port}/store")

    def test_nothing_is_a_program_too(self):
        empty = self.server.program()
        self.assertRaises(drystone.Refused, empty.run)
        empty.stop()
        empty.run()

    def test_communications_are_closed_and_begun_anew_as_often_as_one_likes(self):
        program = self.server.program()
        store, i = program.use("store"), program.integer()
        after, told = program.boolean(result=True), program.text(result=True)
        with program.for_(i, 1, 5000):
            store.Put("last", drystone.text(i))
            store.close()
        after.set(store.has("Value"))
        store.Get("last")
        store.Value(told)
        got = program.run()
        self.assertEqual((got[after], got[told]), (False, b"5000"))

    def test_expressions_are_those_of_the_language(self):
        program = self.server.program()
        a, b, x = program.integer(given=True), program.integer(given=True), program.real(given=True)
        results = {
            "div": program.integer(result=True), "mod": program.integer(result=True),
            "half": program.real(result=True), "less": program.boolean(result=True),
            "text": program.text(result=True), "byte": program.character(result=True),
            "bits": program.integer(result=True), "shifted": program.integer(result=True),
            "wrapped": program.integer(result=True),
        }
        results["div"].set(a // b)
        results["mod"].set(a % b)
        results["half"].set(x / 2)
        results["less"].set((a < b) | ~(x >= 1.5))
        results["text"].set(drystone.text(a) + "," + drystone.slice_("abcdef", 2, 3))
        results["byte"].set(results["text"][0])
        results["bits"].set((a & 0xFF) ^ ~b | 0x100)
        results["shifted"].set(drystone.shift(a, -60) + drystone.shift(b, 63) + drystone.rotate(1, -b))
        results["wrapped"].set(drystone.sub_wrap(drystone.mul_wrap(a, 2**62), drystone.add_wrap(2**63 - 1, b)))
        got = program.run({a: -7, b: 2, x: 3.0})
        expected = [-4, 1, 1.5, True, b"-7,cde", b"-", -252, 2**62 + 15, -2**62 - 1]
        self.assertEqual([got[it] for it in results.values()], expected)

    def test_arrays_and_branches(self):
        program = self.server.program()
        numbers, i = program.integer(given=True, length=20), program.integer()
        odd, even = program.integer(result=True), program.integer(result=True)
        squares = program.integer(result=True, length=20)
        with program.for_(i, 0, 19):
            with program.if_(numbers[i] % 2 == 1):
                odd.set(odd + numbers[i])
            with program.else_():
                even.set(even + numbers[i])
            squares[i] = numbers[i] * numbers[i]
        got = program.run({numbers: list(range(20))})
        self.assertEqual((got[odd], got[even], got[squares]), (100, 90, [n * n for n in range(20)]))

    def test_variables_change_in_place_and_elements_take_results(self):
        program = self.server.program()
        count, i = program.use("count"), program.integer()
        sum_, all_ = program.integer(result=True), program.integer(result=True, length=10)
        with program.for_(i, 0, 9):
            count.Next(i * i)
            count.Then(all_[9 - i])
            sum_ += all_[9 - i]
            all_[9 - i] += 100
        got = program.run()
        self.assertEqual((got[sum_], got[all_]), (295, [101 + i * i for i in reversed(range(10))]))

    def test_programs_do_not_share_what_they_are_made_of(self):
        program, other = self.server.program(), self.server.program()
        a, b, far = program.integer(), other.integer(), other.use("count")
        for wrong in (lambda: a.set(b), lambda: a + b, lambda: program.if_(b > 0).__enter__(), lambda: far.Next(a),
                      lambda: program.for_(b, 1, 2), lambda: program.for_(a, 1, b), lambda: far.Then(a)):
            with self.assertRaisesRegex(drystone.ProgramError, "program"):
                wrong()

    def test_a_program_that_stops_says_where_and_goes_on(self):
        program = self.server.program()
        a, b, c = program.integer(given=True), program.integer(given=True), program.integer(result=True)
        c.set(1)
        c.set(a // b)
        written = sys._getframe().f_lineno - 1
        with self.assertRaises(drystone.Stopped) as stopped:
            program.run({a: 10, b: 0})
        stopped = stopped.exception
        self.assertEqual((str(stopped).split(" (")[0], stopped.line), ("division by zero", written))
        self.assertEqual(stopped.results[c], 1)
        self.assertEqual(stopped.resume({a: 10, b: 5})[c], 2)

    def test_what_has_stopped_may_be_left(self):
        stops = self.server.program()
        x = stops.integer(result=True)
        x.set(1 // x)
        program, n = self.counting(2)
        for _ in range(3):
            with self.assertRaisesRegex(drystone.Stopped, "division by zero") as stopped:
                stops.run()
            self.assertEqual(program.run({n: 1})[n], 3)
            with self.assertRaisesRegex(Lost, "another program"):
                stopped.exception.resume()
        with self.assertRaisesRegex(Lost, "protocol"):
            self.server.ask("Resume", opaque(b"") + struct.pack(">q", 1))
        self.assertEqual(program.run({n: 1})[n], 3)
        with self.assertRaisesRegex(drystone.ProgramError, "another program"):
            program.run({x: 1})

    def test_a_budget_ends_and_is_extended(self):
        program, x = self.endless()
        with self.assertRaises(drystone.Stopped) as first:
            program.run(rounds=10_000)
        with self.assertRaises(drystone.Stopped) as second:
            first.exception.resume(rounds=10_000)
        self.assertIn("budget", str(first.exception))
        self.assertGreater(second.exception.results[x], first.exception.results[x])

    def test_calls_that_fail(self):
        program = self.server.program()
        count, n = program.use("count"), program.integer(result=True)
        failed = program.boolean(result=True)
        program.on_error("continue")
        count.Then(n)
        failed.set(program.failed())
        n.set(5)
        got = program.run()
        self.assertEqual((got[failed], got[n]), (True, 5))
        program = self.server.program()
        program.use("count").Then()
        with self.assertRaisesRegex(drystone.Stopped, "Then is received where nothing can come"):
            program.run()

    def test_what_makes_no_sense_is_refused_with_a_sentence(self):
        with self.assertRaisesRegex(drystone.Refused, "nothing is exported"):
            self.server.program().use("nobody")
        program = self.server.program()
        count = program.use("count")
        with self.assertRaisesRegex(AttributeError, "it has Next, Then"):
            count.Nothing()
        with self.assertRaisesRegex(TypeError, "takes INTEGER here, not TEXT"):
            count.Next("one")
        with self.assertRaisesRegex(TypeError, "decided at the server"):
            if program.integer() > 1:
                pass

    def test_nonsense_instead_of_a_program_hurts_nobody(self):
        program, n = self.counting(3)
        self.server.begin()
        code, random_ = program.encode(), random.Random(7)
        for _ in range(300):
            damaged = bytearray(code)
            for _ in range(random_.randint(1, 4)):
                damaged[random_.randrange(len(damaged))] = random_.randrange(256)
            damaged = bytes(damaged[:random_.randint(1, len(damaged))])
            names, table = word(1) + opaque(b"count"), struct.pack(">q", 1)
            body = opaque(damaged) + opaque(names) + opaque(table) + struct.pack(">q", 1000)
            try:
                answer, _ = self.server.ask("Run", body)
            except Lost:
                self.fail("the server has ended the connection")
            if answer == "Stopped":
                self.server.discard()
                self.server.begin()
        with drystone.connect(ADDRESS) as other:
            self.server = other
            program, n = self.counting(3)
            self.assertEqual(program.run({n: 1})[n], 4)

    def test_messages_out_of_turn_end_their_communication_only(self):
        self.server.begin()
        with self.assertRaisesRegex(Lost, "protocol"):
            self.server.ask("Resume", opaque(b"") + struct.pack(">q", 1))
        program, n = self.counting(1)
        with drystone.connect(ADDRESS) as other:
            self.server = other
            program, n = self.counting(1)
            self.assertEqual(program.run({n: 1})[n], 2)

    def test_honest_clients_have_their_turns_beside_endless_programs(self):
        program, n = self.counting(10)

        def median():
            times = []
            for _ in range(200):
                begun = time.perf_counter()
                self.assertEqual(program.run({n: 0})[n], 10)
                times.append(time.perf_counter() - begun)
            return sorted(times)[100]

        alone = median()
        hostile = [drystone.connect(ADDRESS) for _ in range(8)]
        mine, threads = self.server, []
        for server in hostile:
            self.server = server
            endless, _ = self.endless()
            threads.append(threading.Thread(target=quietly, args=(endless,), daemon=True))
            threads[-1].start()
        self.server = mine
        time.sleep(0.3)
        beside = median()
        for server in hostile:
            server.socket.shutdown(2)
        for thread, server in zip(threads, hostile):
            thread.join(10)
            self.assertFalse(thread.is_alive())
            server.close()
        self.assertLess(beside, 0.1, f"{alone} s alone, {beside} s beside eight endless programs")
        print(f"alone {alone * 1e6:.0f} us, beside eight endless programs {beside * 1e6:.0f} us")


class Forms(unittest.TestCase):
    def test_forms_say_what_sequences_consist_of(self):
        self.assertEqual(type_of("[(a:i,rest:[t)").element, {"a": INTEGER, "rest": SequenceOf(TEXT)})
        for form in ["", "[", "(a:", "(a:i", "ii", "x", "[" * 5000 + "i"]:
            with self.assertRaises(ValueError):
                type_of(form)

    def test_a_sequence_has_no_more_bytes_than_its_elements(self):
        numbers = type_of("[i")
        self.assertEqual(Reader(encode(numbers, [7, -7])).value(numbers), [7, -7])
        for data in [opaque(word(0) + b"more"), opaque(word(2) + bytes(8)), opaque(word(2**32 - 1)), word(8)]:
            with self.assertRaises(ValueError):
                Reader(data).value(numbers)


def quietly(program):
    try:
        program.run(rounds=2**62)
    except (Lost, OSError, ValueError):
        pass


if __name__ == "__main__":
    unittest.main()
