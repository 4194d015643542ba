"""Talks to Drystone programs, and ships composite calls to them: whole blocks of calls, as one crossing."""

from .expressions import find, integer, len_, real, slice_, text
from .program import Program, ProgramError
from .server import Lost, Refused, Server, Stopped, connect

__all__ = [
    "Lost", "Program", "ProgramError", "Refused", "Server", "Stopped", "connect",
    "find", "integer", "len_", "real", "slice_", "text",
]
