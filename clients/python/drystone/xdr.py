"""Values as they travel: XDR (RFC 4506), of the component language's five types."""

import struct

BOOLEAN, CHARACTER, INTEGER, REAL, TEXT = range(5)
NAMES = ["BOOLEAN", "CHARACTER", "INTEGER", "REAL", "TEXT", "a component"]
INITIAL = [False, b"\0", 0, 0.0, b""]


def word(number):
    return struct.pack(">I", number)


def opaque(data):
    return word(len(data)) + data + bytes(-len(data) % 4)


def as_bytes(text):
    return text.encode() if isinstance(text, str) else bytes(text)


def fits(ty, value):
    """Whether a Python value is one of a type."""
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


class Reader:
    """Reads what has come; bytes that are cut off are a ValueError."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def bytes(self, count):
        if self.at + count > len(self.data):
            raise ValueError("the bytes are cut off")
        self.at += count
        return self.data[self.at - count:self.at]

    def word(self):
        return struct.unpack(">I", self.bytes(4))[0]

    def hyper(self):
        return struct.unpack(">q", self.bytes(8))[0]

    def opaque(self):
        data = self.bytes(self.word())
        self.bytes(-len(data) % 4)
        return data

    def value(self, ty):
        if ty == BOOLEAN:
            return self.word() == 1
        if ty == CHARACTER:
            return bytes([self.word()])
        if ty == INTEGER:
            return self.hyper()
        if ty == REAL:
            return struct.unpack(">d", self.bytes(8))[0]
        return self.opaque()
