"""Values as they travel: XDR (RFC 4506), of the component language's types."""

import struct

BOOLEAN, CHARACTER, INTEGER, REAL, TEXT, COMPONENT, SEQUENCE = range(7)
NAMES = ["BOOLEAN", "CHARACTER", "INTEGER", "REAL", "TEXT", "a component", "SEQUENCE"]
INITIAL = [False, b"\0", 0, 0.0, b"", None, []]


class SequenceOf(int):
    """The type of a sequence, by the type of its elements: a number, a SequenceOf, or a dictionary of the fields of
    records with their types."""

    def __new__(cls, element):
        made = super().__new__(cls, SEQUENCE)
        made.element = element
        return made

    def __eq__(self, other):
        return isinstance(other, SequenceOf) and self.element == other.element

    def __ne__(self, other):
        return not self == other

    __hash__ = int.__hash__


def type_of(form):
    """The type that a form (docs/src/wire.md) says."""
    try:
        ty, rest = first_type(form)
    except (IndexError, ValueError, RecursionError):
        rest = None
    if rest != "":
        raise ValueError(f"{form[:80]} is no form")
    return ty


def first_type(form):
    """The type at the beginning of a form, and what follows."""
    if form[:1] == "[":
        element, rest = first_type(form[1:])
        return SequenceOf(element), rest
    if form[:1] != "(":
        return "bcirt".index(form[0]), form[1:]
    fields, rest = {}, form[1:]
    while rest[:1] != ")":
        name, rest = rest.lstrip(",").split(":", 1)
        fields[name], rest = first_type(rest)
    return fields, rest[1:]


def word(number):
    return struct.pack(">I", number)


def opaque(data):
    return word(len(data)) + data + bytes(-len(data) % 4)


def as_bytes(text):
    return text.encode() if isinstance(text, str) else bytes(text)


def fits(ty, value):
    """Whether a Python value is one of a type."""
    if isinstance(ty, SequenceOf):
        return isinstance(value, (list, tuple))
    if ty == BOOLEAN:
        return isinstance(value, bool)
    if ty == INTEGER:
        return isinstance(value, int) and not isinstance(value, bool) and -2**63 <= value < 2**63
    if ty == REAL:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if ty == CHARACTER:
        return isinstance(value, (str, bytes)) and len(as_bytes(value)) == 1
    return isinstance(value, (str, bytes, bytearray))


def encode(ty, value):
    if isinstance(ty, SequenceOf):
        return opaque(array(ty, value, "a sequence"))
    if not fits(ty, value):
        raise TypeError(f"{value!r} is no {NAMES[ty]}")
    if ty == BOOLEAN:
        return word(int(value))
    if ty == CHARACTER:
        return word(as_bytes(value)[0])
    if ty == INTEGER:
        return struct.pack(">q", value)
    if ty == REAL:
        return struct.pack(">d", value)
    return opaque(as_bytes(value))


def array(ty, value, where):
    """A sequence without the opaque around it; `where` it is, for errors."""
    if not fits(ty, value):
        raise TypeError(f"{where}: {value!r} is no list")
    return word(len(value)) + b"".join(
        element(ty.element, it, f"{where}[{index}]") for index, it in enumerate(value)
    )


def element(ty, value, where):
    """A value in a sequence."""
    if isinstance(ty, SequenceOf):
        return array(ty, value, where)
    if not isinstance(ty, dict):
        if not fits(ty, value):
            raise TypeError(f"{where}: {value!r} is no {NAMES[ty]}")
        return encode(ty, value)
    check_fields(ty, value, where)
    fields = (element(of, value[name] if name in value else initial(of), f"{where}.{name}") for name, of in ty.items())
    return b"".join(fields) if ty else word(0)


def check_fields(ty, value, where):
    """A record is a dictionary. Fields that it lacks have their initial values."""
    if not isinstance(value, dict):
        raise TypeError(f"{where}: {value!r} is no dictionary of a record's fields")
    unknown = [name for name in value if name not in ty]
    if unknown:
        raise TypeError(f"{where} has no field {unknown[0]}; it has {', '.join(ty) or 'none'}")


def initial(ty):
    """What a field begins with."""
    return {} if isinstance(ty, dict) else INITIAL[ty]


class Reader:
    """Reads what has come; bytes that are cut off are a ValueError."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def bytes(self, count):
        if self.at + count > len(self.data):
            raise ValueError("the bytes are cut off")
        self.at += count
        return self.data[self.at - count:self.at]

    def end(self):
        if self.at < len(self.data):
            raise ValueError("there are more bytes than values")

    def word(self):
        return struct.unpack(">I", self.bytes(4))[0]

    def hyper(self):
        return struct.unpack(">q", self.bytes(8))[0]

    def opaque(self):
        data = self.bytes(self.word())
        self.bytes(-len(data) % 4)
        return data

    def elements(self, ty):
        """A sequence without the opaque around it."""
        count = self.word()
        # Each element takes a word at least.
        if count > (len(self.data) - self.at) // 4:
            raise ValueError("a sequence is cut off")
        return [self.element(ty.element) for _ in range(count)]

    def element(self, ty):
        if isinstance(ty, SequenceOf):
            return self.elements(ty)
        if isinstance(ty, dict):
            if not ty:
                self.word()
            return {name: self.element(of) for name, of in ty.items()}
        return self.value(ty)

    def value(self, ty):
        if isinstance(ty, SequenceOf):
            reader = Reader(self.opaque())
            elements = reader.elements(ty)
            reader.end()
            return elements
        if ty == BOOLEAN:
            return self.word() == 1
        if ty == CHARACTER:
            return bytes([self.word()])
        if ty == INTEGER:
            return self.hyper()
        if ty == REAL:
            return struct.unpack(">d", self.bytes(8))[0]
        return self.opaque()
