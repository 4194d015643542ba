"""Expressions of a program, written in Python. They compute nothing here: the server evaluates them."""

import traceback

from .xdr import BOOLEAN, CHARACTER, INTEGER, NAMES, REAL, TEXT, SequenceOf, encode, opaque, word

# Numbers of operations: docs/src/composite.md.
NOT = {BOOLEAN: 2, INTEGER: 43}
NEGATE = {INTEGER: 3, REAL: 11}
BINARY = {
    "+": {INTEGER: 4, REAL: 12, TEXT: 37},
    "-": {INTEGER: 5, REAL: 13},
    "*": {INTEGER: 6, REAL: 14},
    "/": {REAL: 15},
    "//": {INTEGER: 7},
    "%": {INTEGER: 8},
    "&": {BOOLEAN: 0, INTEGER: 40},
    "|": {BOOLEAN: 1, INTEGER: 41},
    "^": {INTEGER: 42},
}
COMPARISONS = ["==", "!=", "<", "<=", ">", ">="]
CONVERSIONS = {
    (INTEGER, CHARACTER): 25, (CHARACTER, INTEGER): 26, (BOOLEAN, INTEGER): 27, (REAL, INTEGER): 28,
    (INTEGER, REAL): 29, (CHARACTER, TEXT): 30, (INTEGER, TEXT): 31, (REAL, TEXT): 32, (BOOLEAN, TEXT): 33,
}
LENGTH, BYTE_OF, SLICE, FIND = 34, 35, 36, 38
SHIFT, ROTATE, ADD_WRAP, SUB_WRAP, MUL_WRAP = 44, 45, 46, 47, 48


def line():
    """The line of the nearest caller outside this package, for errors."""
    for frame in reversed(traceback.extract_stack()):
        if not frame.filename.startswith(__file__.rsplit("/", 1)[0]):
            return frame.lineno
    return 0


class ProgramError(Exception):
    """The program is invalid; the message says why."""


class Expression:
    """An expression, evaluated by the server. `program`: the one whose variables or calls it uses, if any."""

    __hash__ = object.__hash__

    def __init__(self, ty, code, program=None):
        self.ty, self.code, self.program = ty, code, program

    def code_in(self, program):
        """Its code, for the program whose variables and calls it uses."""
        if self.program not in (None, program):
            raise ProgramError("an expression has a variable or a call of another program")
        return self.code

    def __bool__(self):
        raise TypeError("a condition is decided at the server: use `with program.if_(..)`, and & | ~ for and, or, not")

    def __str__(self):
        raise TypeError(
            "its value is known at the server only: put texts together with +, and numbers into them with text(x)"
        )

    def __format__(self, spec):
        return str(self)

    def __repr__(self):
        return f"<{NAMES[self.ty]} at the server>"

    def __add__(self, other): return binary("+", self, other)
    def __radd__(self, other): return binary("+", other, self)
    def __sub__(self, other): return binary("-", self, other)
    def __rsub__(self, other): return binary("-", other, self)
    def __mul__(self, other): return binary("*", self, other)
    def __rmul__(self, other): return binary("*", other, self)
    def __truediv__(self, other): return binary("/", self, other)
    def __rtruediv__(self, other): return binary("/", other, self)
    def __floordiv__(self, other): return binary("//", self, other)
    def __rfloordiv__(self, other): return binary("//", other, self)
    def __mod__(self, other): return binary("%", self, other)
    def __rmod__(self, other): return binary("%", other, self)
    def __eq__(self, other): return compare("==", self, other)
    def __ne__(self, other): return compare("!=", self, other)
    def __lt__(self, other): return compare("<", self, other)
    def __le__(self, other): return compare("<=", self, other)
    def __gt__(self, other): return compare(">", self, other)
    def __ge__(self, other): return compare(">=", self, other)
    def __and__(self, other): return binary("&", self, other)
    def __rand__(self, other): return binary("&", other, self)
    def __or__(self, other): return binary("|", self, other)
    def __ror__(self, other): return binary("|", other, self)
    def __xor__(self, other): return binary("^", self, other)
    def __rxor__(self, other): return binary("^", other, self)

    def __invert__(self):
        if self.ty not in NOT:
            raise TypeError(f"there is no ~ for {NAMES[self.ty]}")
        return apply(self.ty, NOT[self.ty], self)

    def __neg__(self):
        if self.ty not in NEGATE:
            raise TypeError(f"- is for numbers, not for {NAMES[self.ty]}")
        return apply(self.ty, NEGATE[self.ty], self)

    def __iter__(self):
        raise TypeError(
            "nothing is known of it here: use `with program.for_(..)`, up to len_ of a TEXT or the length of an array"
        )

    def __getitem__(self, index):
        if isinstance(index, slice):
            raise TypeError("write slice_(t, first, count)")
        return apply(CHARACTER, BYTE_OF, wanted(TEXT, self, "[ ]"), wanted(INTEGER, index, "[ ]"))


class Variable(Expression):
    """A variable of a program; `number` is its place in the table."""

    def __init__(self, program, number, ty):
        super().__init__(ty, word(5) + word(number), program)
        self.number, self.length = number, None

    def set(self, value):
        """Assigns a value at this point of the program."""
        value = wanted(self.ty, value, "set")
        self.program.command(word(1) + word(self.number) + value.code_in(self.program))

    def is_spelled_by(self, text):
        """Whether a TEXT spells a number of this variable's type, which is then assigned (NUMBER): a command, executed
        once, where it stands."""
        if self.ty not in (INTEGER, REAL) or self.length is not None:
            raise TypeError("only an INTEGER or a REAL is spelled")
        is_one = self.program.boolean()
        spelled = wanted(TEXT, text, "is_spelled_by").code_in(self.program)
        self.program.command(word(8) + word(self.number) + word(is_one.number) + spelled)
        return is_one

    def _changed(self, value):
        self.set(value)
        return self

    def __iadd__(self, other): return self._changed(self + other)
    def __isub__(self, other): return self._changed(self - other)
    def __imul__(self, other): return self._changed(self * other)
    def __itruediv__(self, other): return self._changed(self / other)
    def __ifloordiv__(self, other): return self._changed(self // other)
    def __imod__(self, other): return self._changed(self % other)
    def __iand__(self, other): return self._changed(self & other)
    def __ior__(self, other): return self._changed(self | other)
    def __ixor__(self, other): return self._changed(self ^ other)


class Array(Variable):
    """Variables of one type, numbered from 0."""

    def __init__(self, program, number, ty, length):
        super().__init__(program, number, ty)
        self.length = length

    def __getitem__(self, index):
        index = wanted(INTEGER, index, "[ ]")
        return Element(self, index)

    def __setitem__(self, index, value):
        index, value = wanted(INTEGER, index, "[ ]"), wanted(self.ty, value, "[ ]")
        codes = index.code_in(self.program) + value.code_in(self.program)
        self.program.command(word(2) + word(self.number) + word(line()) + codes)


class Element(Expression):
    """An element of an array."""

    def __init__(self, array, index):
        code = word(6) + word(array.number) + word(line()) + index.code_in(array.program)
        super().__init__(array.ty, code, array.program)
        self.array, self.index = array, index


def literal(value):
    """A Python value as an expression."""
    if isinstance(value, Array):
        raise TypeError("a whole array has no value: take an element of it")
    if isinstance(value, Expression):
        return value
    for kind, ty in ((bool, BOOLEAN), (int, INTEGER), (float, REAL), ((str, bytes, bytearray), TEXT)):
        if isinstance(value, kind):
            return Expression(ty, word(ty) + encode(ty, value))
    raise TypeError(f"{value!r} is no value of the component language")


def wanted(ty, value, where):
    """A Python value as one of a type: a REAL may be any number, a CHARACTER a text of one byte."""
    if not isinstance(value, Expression):
        if ty == REAL and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if ty == CHARACTER and isinstance(value, (str, bytes)):
            return Expression(ty, word(ty) + encode(ty, value))
        if isinstance(ty, SequenceOf):
            return Expression(ty, word(TEXT) + encode(ty, value))
    value = literal(value)
    if value.ty != ty:
        raise TypeError(f"{where} takes {NAMES[ty]} here, not {NAMES[value.ty]}")
    return value


def pair(left, right, where):
    """Two operands of one type, which either of them determines."""
    if isinstance(left, Expression):
        return left.ty, literal(left), wanted(left.ty, right, where)
    right = literal(right)
    return right.ty, wanted(right.ty, left, where), right


def apply(ty, operation, *operands):
    program = next((it.program for it in operands if it.program), None)
    codes = b"".join(it.code_in(program) for it in operands)
    return Expression(ty, word(7) + word(operation) + word(line()) + codes, program)


def binary(symbol, left, right):
    ty, left, right = pair(left, right, symbol)
    if ty not in BINARY[symbol]:
        raise TypeError(f"there is no {symbol} for {NAMES[ty]}")
    return apply(ty, BINARY[symbol][ty], left, right)


def compare(symbol, left, right):
    ty, left, right = pair(left, right, symbol)
    if isinstance(ty, SequenceOf):
        raise TypeError("sequences can't be compared at the server")
    kind = {REAL: 1, TEXT: 2}.get(ty, 0)
    return apply(BOOLEAN, 64 + 6 * kind + COMPARISONS.index(symbol), left, right)


def convert(value, ty):
    value = literal(value)
    if value.ty == ty:
        return value
    if (value.ty, ty) not in CONVERSIONS:
        raise TypeError(f"{NAMES[value.ty]} can't be made {NAMES[ty]}")
    return apply(ty, CONVERSIONS[value.ty, ty], value)


def text(value):
    """A value as a TEXT."""
    return convert(value, TEXT)


def integer(value):
    """A REAL floored, the code of a CHARACTER, a BOOLEAN as 0 or 1."""
    return convert(value, INTEGER)


def real(value):
    """An INTEGER as a REAL."""
    return convert(value, REAL)


def integers(operation, left, right, where):
    return apply(INTEGER, operation, wanted(INTEGER, left, where), wanted(INTEGER, right, where))


def shift(value, by):
    """The 64 bits of an INTEGER, shifted to the left, or to the right if `by` is negative; zeros come in."""
    return integers(SHIFT, value, by, "shift")


def rotate(value, by):
    """The same; what falls out comes in on the other side."""
    return integers(ROTATE, value, by, "rotate")


def add_wrap(left, right):
    """The lowest 64 bits of a sum; it never overflows."""
    return integers(ADD_WRAP, left, right, "add_wrap")


def sub_wrap(left, right):
    """The same of a difference."""
    return integers(SUB_WRAP, left, right, "sub_wrap")


def mul_wrap(left, right):
    """The same of a product."""
    return integers(MUL_WRAP, left, right, "mul_wrap")


def len_(value):
    """The length of a TEXT in bytes, or the number of elements of a sequence."""
    if isinstance(value, Expression) and isinstance(value.ty, SequenceOf):
        # A TEXT holds it, which begins with that number.
        held = Expression(TEXT, value.code, value.program)
        bytes_ = [integer(held[index]) for index in range(4)]
        return ((bytes_[0] * 256 + bytes_[1]) * 256 + bytes_[2]) * 256 + bytes_[3]
    return apply(INTEGER, LENGTH, wanted(TEXT, value, "len_"))


def slice_(value, first, count):
    """A part of a TEXT."""
    operands = wanted(INTEGER, first, "slice_"), wanted(INTEGER, count, "slice_")
    return apply(TEXT, SLICE, wanted(TEXT, value, "slice_"), *operands)


def find(value, part, first=0):
    """The place of a part in a TEXT, from a place on; -1: it isn't there."""
    operands = wanted(TEXT, part, "find"), wanted(INTEGER, first, "find")
    return apply(INTEGER, FIND, wanted(TEXT, value, "find"), *operands)
