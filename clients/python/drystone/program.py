"""A composite call under construction: variables, calls, and commands around them."""

import contextlib
import functools
import hashlib

from .expressions import Array, Element, Expression, ProgramError, Variable, line, literal, wanted
from .xdr import BOOLEAN, CHARACTER, INITIAL, INTEGER, NAMES, REAL, SEQUENCE, TEXT
from .xdr import Reader, SequenceOf, check_fields, encode, fits, word

MAGIC, VERSION = 0x436F6D70, 1
NO_INDEX, ANY, FINISH = 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFE
SEND, RECEIVE, TEST, INPUT, CLOSE = range(5)
FAULT_OF_ASSERT = 3


def scope(method):
    """A context manager that its program records, to report one that is never entered."""
    manager = contextlib.contextmanager(method)

    @contextlib.contextmanager
    def entered(self, where, made):
        self.unentered.remove(where)
        with made:
            yield

    @functools.wraps(method)
    def noted(self, *arguments):
        where = line()
        self.unentered.append(where)
        return entered(self, where, manager(self, *arguments))

    return noted


class Program:
    """A program to be shipped. `describe` returns the interface exported under a name."""

    def __init__(self, describe, execute):
        self.describe, self.execute = describe, execute
        self.communications, self.variables, self.calls = [], [], []
        self.blocks = [[]]
        self.pending_else = None
        # Lines of statements such as `while_` that no `with` has entered.
        self.unentered = []

    # Variables.

    def boolean(self, initial=False, **how): return self.variable(BOOLEAN, initial, **how)
    def character(self, initial=b"\0", **how): return self.variable(CHARACTER, initial, **how)
    def integer(self, initial=0, **how): return self.variable(INTEGER, initial, **how)
    def real(self, initial=0.0, **how): return self.variable(REAL, initial, **how)
    def text(self, initial=b"", **how): return self.variable(TEXT, initial, **how)

    def variable(self, ty, initial, given=False, result=False, length=None):
        """A variable. `given`: its value comes with `run`, else it is `initial`; `result`: it comes back."""
        if not fits(ty, initial):
            raise ProgramError(f"{initial!r} is no {NAMES[ty]}")
        if length is not None and not 0 < length < 2**31:
            raise ProgramError(f"an array can't have {length} elements")
        number = len(self.variables)
        # An empty sequence isn't an empty TEXT, in which sequences are held.
        starts = given or (result and (isinstance(ty, SequenceOf) or initial != INITIAL[ty]))
        travels = 3 if starts and result else 1 if starts else 2 if result else 0
        self.variables.append((ty, length, travels, initial))
        return Array(self, number, ty, length) if length else Variable(self, number, ty)

    # Communications.

    def use(self, name):
        """A communication with an exported name."""
        interface = self.describe(name)
        number = len(self.communications)
        self.communications.append((name, interface))
        return Communication(self, number, name, interface)

    def call(self, communication, kind, number, arguments=()):
        code = word(communication) + word(line()) + word(kind) + word(number)
        if kind in (SEND, RECEIVE):
            code += word(len(arguments)) + b"".join(self._place(it) for it in arguments)
        self.calls.append(code)
        return len(self.calls) - 1

    def evaluated(self, ty, value):
        """The value of an expression in a variable: what is none is assigned to a new one."""
        if isinstance(value, Variable):
            return value
        variable = self.variable(ty, INITIAL[ty])
        variable.set(value)
        return variable

    def _place(self, argument):
        """A variable; or an element of an array, with a variable as the index."""
        argument.code_in(self)
        if isinstance(argument, Element):
            return word(argument.array.number) + word(argument.index.number)
        return word(argument.number) + word(NO_INDEX)

    # Commands.

    def command(self, code):
        self.pending_else = None
        self.blocks[-1].append(code)

    @scope
    def block(self, make):
        self.blocks.append([])
        try:
            yield
        finally:
            body = sequence(self.blocks.pop())
        self.command(make(body))

    def condition(self, condition):
        return wanted(BOOLEAN, condition, "a condition").code_in(self)

    def while_(self, condition):
        """`with program.while_(condition):` repeats its block."""
        condition = self.condition(condition)
        return self.block(lambda body: word(4) + condition + body)

    @scope
    def if_(self, condition):
        """`with program.if_(condition):`, which `with program.else_():` may follow."""
        condition = self.condition(condition)
        with self.block(lambda body: word(3) + condition + body + sequence([])):
            yield
        made = self.blocks[-1][-1]
        self.pending_else = made[:len(made) - len(sequence([]))]

    @scope
    def else_(self):
        """The block for the case that the condition of the preceding `if_` doesn't hold."""
        begun = self.pending_else if self.blocks[-1] else None
        if begun is None:
            raise ProgramError("else_ stands directly behind if_")
        with self.block(lambda body: begun + body):
            yield
        made = self.blocks[-1].pop()
        self.blocks[-1][-1] = made

    def for_(self, variable, first, last, step=1):
        """Counts an INTEGER variable from first to last, both included."""
        numbers = [wanted(INTEGER, it, "for_") for it in (first, last, step)]
        is_own = isinstance(variable, Variable) and variable.program is self
        if not is_own or (variable.ty, variable.length) != (INTEGER, None):
            raise ProgramError("for_ counts a variable of this program: an integer")
        head = word(6) + word(variable.number) + word(line()) + b"".join(it.code_in(self) for it in numbers)
        return self.block(lambda body: head + body)

    def repeat(self, count):
        """`with program.repeat(n):` repeats its block n times."""
        return self.for_(self.integer(), 1, count)

    def stop(self):
        """Ends the program here."""
        self.command(word(12))

    def fail(self):
        """Stops the program with an error."""
        self.command(word(11) + word(FAULT_OF_ASSERT) + word(line()))

    def on_error(self, what):
        """How a failing call is handled from now on: "abort" the program, or "continue" it."""
        if what not in ("abort", "continue"):
            raise ProgramError(f'on_error is "abort" or "continue", not {what!r}')
        self.command(word(10) + word(["abort", "continue"].index(what)))

    def failed(self):
        """Whether the last call failed."""
        return Expression(BOOLEAN, word(9), self)

    # As a whole.

    def encode(self):
        """Its bytes."""
        if self.unentered:
            raise ProgramError(f"line {self.unentered[0]}: a block does nothing without `with`")
        if len(self.blocks) > 1:
            raise ProgramError("a block is still open")
        code = word(MAGIC) + word(VERSION) + word(len(self.communications))
        code += b"".join(interface.fingerprint for _, interface in self.communications)
        code += word(len(self.variables))
        for ty, length, travels, initial in self.variables:
            code += word(TEXT if isinstance(ty, SequenceOf) else ty) + word(length or 0) + word(travels)
            code += encode(ty, initial) if travels == 0 else b""
        code += word(len(self.calls)) + b"".join(self.calls)
        return code + word(0) + sequence(self.blocks[0])

    def hash(self):
        """Its hash, by which servers cache it."""
        return hashlib.sha256(self.encode()).digest()

    def table(self, values):
        """The values that are shipped with it."""
        if any(not isinstance(it, (Variable, Record)) for it in values):
            raise ProgramError("values are given for variables: {variable: value}")
        values = dict(pair for it, value in values.items() for pair in self._given(it, value))
        if any(it.program is not self for it in values):
            raise ProgramError("a value was given for a variable of another program")
        values = {it.number: value for it, value in values.items()}
        table = b""
        for number, (ty, length, travels, initial) in enumerate(self.variables):
            if travels not in (1, 3):
                continue
            value = values.pop(number, [initial] * length if length else initial)
            for item in value if length else [value]:
                table += encode(ty, item)
            if length and len(value) != length:
                raise ProgramError(f"an array of {length} elements got {len(value)}")
        if values:
            raise ProgramError("a value was given for a variable that isn't given=True")
        return table

    def _given(self, variable, value):
        """The variables of a record, with their values."""
        if isinstance(variable, Variable):
            return [(variable, value)]
        check_fields(variable.fields, value, "a record")
        return [pair for name, field in variable.fields.items() if name in value
                for pair in self._given(field, value[name])]

    def results(self, table):
        """The values that come back."""
        reader, results = Reader(table), {}
        for number, (ty, length, travels, _) in enumerate(self.variables):
            if travels in (2, 3):
                items = [reader.value(ty) for _ in range(length or 1)]
                results[number] = items if length else items[0]
        return Results(self, results)

    def run(self, values=None, rounds=100_000_000):
        """Ships it, and waits for its results; `rounds` of loops at most."""
        if not isinstance(rounds, int) or not 0 <= rounds < 2**63:
            raise ProgramError(f"a program can't have {rounds} rounds")
        return self.execute(self, values or {}, rounds)


class Results:
    """What came back: `results[variable]`."""

    def __init__(self, program, values):
        self.program, self.values = program, values

    def __getitem__(self, variable):
        if isinstance(variable, Record):
            return {name: self[field] for name, field in variable.fields.items()}
        if not isinstance(variable, Variable):
            raise KeyError("results are asked for by their variables: results[variable]")
        if variable.program is not self.program:
            raise KeyError("the variable is another program's")
        if variable.number not in self.values:
            raise KeyError("the variable is no result: make it with result=True")
        return self.values[variable.number]


class Record:
    """A record: a variable for each of its fields, `record["field"]`."""

    def __init__(self, program, fields):
        self.program, self.fields = program, fields

    def __getitem__(self, name):
        if name not in self.fields:
            raise KeyError(f"there is no field {name}; there are {', '.join(self.fields) or 'none'}")
        return self.fields[name]

    def __setitem__(self, name, value):
        # `r["n"] += 1` has changed the variable already.
        if value is not self[name]:
            self[name].set(value)

    def set(self, value):
        """Assigns a record, or a dictionary of fields. Fields that are not in it get their initial values."""
        pairs = [(field, self._copy(field.ty, value)) for field, value in self._pairs(value, "set")]
        for field, value in pairs:
            field.set(value)

    def _copy(self, ty, value):
        """A value that assignments to fields don't change."""
        copy = self.program.variable(ty, INITIAL[ty])
        copy.set(value)
        return copy

    def _pairs(self, value, where):
        """Its variables, each with its part of a value."""
        if isinstance(value, Record):
            value = value.fields
        check_fields(self.fields, value, where)
        for name, field in self.fields.items():
            at = f"{where}.{name}"
            if isinstance(field, Record):
                yield from field._pairs(value.get(name, {}), at)
            else:
                yield field, wanted(field.ty, value.get(name, INITIAL[field.ty]), at)


def members(parameters):
    """The parameters of a message by their names: types, and dictionaries for records."""
    all = {}
    for path, ty in parameters:
        *records, name = path.split(".")
        within = all
        for record in records:
            within = within.setdefault(record, {})
        within[name] = ty
    return all


def name_of(ty):
    return "a record" if isinstance(ty, dict) else NAMES[ty]


class Communication:
    """A communication of a program: its messages are methods."""

    def __init__(self, program, number, name, interface):
        self._program, self._number, self._name, self._interface = program, number, name, interface

    def __getattr__(self, message):
        if message.startswith("_"):
            raise AttributeError(message)
        number = self._find(message)
        _, sender, parameters = self._interface.messages[number]
        make = self._receive if sender else self._send
        return lambda *values: make(message, number, members(parameters), values)

    def _find(self, message):
        names = [it[0] for it in self._interface.messages]
        if message not in names:
            raise AttributeError(f"{self._name} has no message {message}; it has {', '.join(names)}")
        return names.index(message)

    def variable(self, message, parameter, given=False, result=False):
        """A variable for a parameter of a message: a Record, if that is a record."""
        parameters = members(self._interface.messages[self._find(message)][2])
        if parameter not in parameters:
            raise ProgramError(f"{message} has no parameter {parameter}; it has {', '.join(parameters) or 'none'}")
        return self._new(parameters[parameter], given=given, result=result)

    def _new(self, ty, **how):
        if isinstance(ty, dict):
            return Record(self._program, {name: self._new(it, **how) for name, it in ty.items()})
        if ty == SEQUENCE:
            raise ProgramError("the server doesn't say what its sequences consist of")
        return self._program.variable(ty, INITIAL[ty], **how)

    def _send(self, message, number, parameters, values):
        self._counted(message, parameters, values)
        arguments = []
        for (name, ty), value in zip(parameters.items(), values):
            self._flatten(ty, value, f"{message}'s {name}", arguments)
        program = self._program
        program.command(word(7) + word(program.call(self._number, SEND, number, arguments)))

    def _flatten(self, ty, value, where, arguments):
        """Adds the variables that hold a value, of a record one for each field."""
        if not isinstance(ty, dict):
            return arguments.append(self._variable(ty, wanted(ty, value, where)))
        if isinstance(value, Record):
            value = value.fields
        check_fields(ty, value, where)
        for name, it in ty.items():
            missing = {} if isinstance(it, dict) else INITIAL[it]
            self._flatten(it, value.get(name, missing), f"{where}.{name}", arguments)

    def _variable(self, ty, value):
        """Arguments must be variables: other expressions are assigned to new ones."""
        return self._program.evaluated(ty, value)

    def _receive(self, message, number, parameters, values):
        program = self._program
        if not values:
            values = [self._new(ty) for ty in parameters.values()]
        self._counted(message, parameters, values)
        places = []
        for (name, ty), value in zip(parameters.items(), values):
            self._places(ty, value, f"{message}'s {name}", places)
        program.command(word(7) + word(program.call(self._number, RECEIVE, number, places)))
        return values[0] if len(values) == 1 else tuple(values)

    def _places(self, ty, value, where, places):
        """Adds the variables into which a value goes, of a record one for each field."""
        if isinstance(ty, dict):
            if not isinstance(value, Record) or list(value.fields) != list(ty):
                raise ProgramError(f"{where} goes into a record with the fields {', '.join(ty)}")
            for name, it in ty.items():
                self._places(it, value.fields[name], f"{where}.{name}", places)
            return
        is_place = isinstance(value, Element) or isinstance(value, Variable) and not value.length
        if not is_place or value.ty != ty:
            raise ProgramError(f"{where} goes into a variable of type {NAMES[ty]}")
        if isinstance(value, Element):
            value = Element(value.array, self._variable(INTEGER, value.index))
        places.append(value)

    def _counted(self, message, parameters, values):
        if len(values) != len(parameters):
            takes = ", ".join(f"{name}: {name_of(ty)}" for name, ty in parameters.items())
            raise ProgramError(f"{message}({takes}) got {len(values)} values")

    def _test(self, kind, number):
        return Expression(BOOLEAN, word(8) + word(self._program.call(self._number, kind, number)), self._program)

    def has(self, message):
        """Whether this message comes next; waits until that is known."""
        return self._test(TEST, self._find(message))

    def has_any(self):
        """Whether a message comes next; waits until that is known."""
        return self._test(TEST, ANY)

    def finished(self):
        """Whether the server has ended."""
        return self._test(TEST, FINISH)

    def close(self):
        """Ends the communication, where its protocol may end."""
        self._program.command(word(7) + word(self._program.call(self._number, CLOSE, 0)))


def sequence(commands):
    return word(0) + word(len(commands)) + b"".join(commands)
