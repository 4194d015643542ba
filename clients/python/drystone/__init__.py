"""Talks to Drystone programs, and ships composite calls to them: whole blocks of calls, as one crossing."""

from .expressions import add_wrap, find, integer, len_, mul_wrap, real, rotate, shift, slice_, sub_wrap, text
from .program import Program, ProgramError, Record
from .server import Lost, Refused, Server, Stopped, connect

__all__ = [
    "Lost", "Program", "ProgramError", "Record", "Refused", "Server", "Stopped", "connect",
    "add_wrap", "find", "integer", "len_", "mul_wrap", "real", "rotate", "shift", "slice_", "sub_wrap", "text",
]
