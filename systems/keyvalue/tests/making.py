"""Makes commands for clients of Redis, and streams of bytes that are hardly a protocol."""

import re

KEYS = [
    b"a",
    b"b",
    b"c",
    b"key:1",
    b"key:2",
    b"key:10",
    b"",
    b"with space",
    b"x\r\ny",
    b"*",
    b"[a]",
    b"\xc3\xa9",
    b"k" * 70,
    b"\x00",
]
NUMBERS = [
    b"0", b"1", b"-1", b"2", b"5", b"10", b"100", b"-100", b"3600", b"100000", b"+1", b"007", b"-0", b"0x10",
    b"0FH", b" 1", b"1 ", b"", b"-", b"+", b"1.5", b"1e3", b"9223372036854775807", b"-9223372036854775808",
    b"9223372036854775808", b"-9223372036854775809", b"99999999999999999999", b"2147483647", b"2147483648",
    b"-2147483649", b"9223372036854775", b"9223372036854776", b"4611686018427387904", b"nan", b"abc",
]  # fmt: skip
TIMES = [b"100000", b"200000", b"36000", b"0", b"-1", b"9999999999", b"9999999999999", b"9223372036854775807"]
VALUES = [
    b"",
    b"0",
    b"1",
    b"41",
    b"-7",
    b"value",
    b"with space",
    b"\r\n",
    b"\x00\xff\x80",
    b"a" * 100,
    b"10",
    b"9223372036854775807",
    b"007",
    b"+5",
    b" 4",
]
PATTERNS = [
    b"*",
    b"a*",
    b"*a",
    b"key:?",
    b"key:*",
    b"[abc]",
    b"[a-c]",
    b"[^a]",
    b"[c-a]",
    b"\\*",
    b"**",
    b"[",
    b"[^",
    b"k*k",
    b"?",
    b"",
    b"[a",
    b"\\",
    b"key:[0-9][0-9]",
]
WORDS = [
    b"foo",
    b"NX",
    b"XX",
    b"GET",
    b"EX",
    b"50000000",
    b"KEEPTTL",
    b"-1",
    b"",
    b"PERSIST",
    b"GT",
    b"ASYNC",
    b"MATCH",
    b"COUNT",
    b"\r\n",
    b"x" * 300,
]


class Maker:
    """Makes commands, most of which are right."""

    def __init__(self, chance, password):
        self.chance, self.password = chance, password

    def key(self):
        return self.chance.choice(KEYS[:6] if self.chance.random() < 0.8 else KEYS)

    def number(self):
        return self.chance.choice(NUMBERS[:10] if self.chance.random() < 0.6 else NUMBERS)

    def value(self):
        if self.chance.random() < 0.01:
            return self.chance.randbytes(self.chance.choice([5000, 20000, 70000, 300000]))
        return self.chance.choice(VALUES) if self.chance.random() < 0.7 else self.number()

    def time(self):
        """Not so soon that one of both servers may be quicker."""
        number = self.chance.choice(TIMES) if self.chance.random() < 0.8 else self.number()
        return TIMES[0] if number in (b"1", b"2", b"5", b"10", b"100") else number

    def pattern(self):
        return self.chance.choice(PATTERNS)

    def some(self, make, least=1, most=4):
        return [make() for _ in range(self.chance.randint(least, most))]

    def options(self, *choices):
        """Some of them, each of which may bring a word."""
        chosen = []
        while self.chance.random() < 0.5:
            name, *rest = self.chance.choice(choices)
            chosen += [name] + [make() for make in rest]
        return chosen

    def secret(self):
        """The right password mostly, if there is one."""
        if self.password and self.chance.random() < 0.7:
            return [b"default"][: self.chance.randint(0, 1)] + [self.password]
        return self.some(self.value, 1, 2)

    def until(self):
        return [(unit, self.time) for unit in [b"EX", b"PX", b"EXAT", b"PXAT", b"ex"]]

    def command(self):
        key, value, number = self.key, self.value, self.number
        conditions = [(b"NX",), (b"XX",), (b"GT",), (b"LT",), (b"gt",)]
        makers = {
            b"GET": lambda: [key()],
            b"SET": lambda: [
                key(),
                value(),
                *self.options((b"NX",), (b"XX",), (b"GET",), (b"KEEPTTL",), (b"get",), *self.until()),
            ],
            b"SETNX": lambda: [key(), value()],
            b"SETEX": lambda: [key(), self.time(), value()],
            b"PSETEX": lambda: [key(), self.time(), value()],
            b"GETSET": lambda: [key(), value()],
            b"GETDEL": lambda: [key()],
            b"GETEX": lambda: [key(), *self.options((b"PERSIST",), *self.until())],
            b"APPEND": lambda: [key(), value()],
            b"STRLEN": lambda: [key()],
            b"GETRANGE": lambda: [key(), number(), number()],
            b"SUBSTR": lambda: [key(), number(), number()],
            b"SETRANGE": lambda: [key(), self.chance.choice([b"0", b"3", b"10", b"-1", b"x", b"20000000"]), value()],
            b"INCR": lambda: [key()],
            b"DECR": lambda: [key()],
            b"INCRBY": lambda: [key(), number()],
            b"DECRBY": lambda: [key(), number()],
            b"MGET": lambda: self.some(key),
            b"MSET": lambda: [word for _ in range(self.chance.randint(1, 3)) for word in (key(), value())],
            b"MSETNX": lambda: [word for _ in range(self.chance.randint(1, 3)) for word in (key(), value())],
            b"DEL": lambda: self.some(key),
            b"UNLINK": lambda: self.some(key),
            b"EXISTS": lambda: self.some(key),
            b"TOUCH": lambda: self.some(key),
            b"TYPE": lambda: [key()],
            b"RENAME": lambda: [key(), key()],
            b"RENAMENX": lambda: [key(), key()],
            b"COPY": lambda: [key(), key(), *self.options((b"REPLACE",), (b"DB", number))],
            b"KEYS": lambda: [self.pattern()],
            b"SCAN": lambda: [
                b"0",
                b"COUNT",
                b"1000",
                *self.options((b"MATCH", self.pattern), (b"TYPE", lambda: b"string"), (b"TYPE", lambda: b"list")),
            ],
            b"DBSIZE": list,
            b"EXPIRE": lambda: [key(), self.time(), *self.options(*conditions)],
            b"PEXPIRE": lambda: [key(), self.time(), *self.options(*conditions)],
            b"EXPIREAT": lambda: [key(), self.time(), *self.options(*conditions)],
            b"PEXPIREAT": lambda: [key(), self.time(), *self.options(*conditions)],
            b"PERSIST": lambda: [key()],
            b"TTL": lambda: [key()],
            b"PTTL": lambda: [key()],
            b"EXPIRETIME": lambda: [key()],
            b"PEXPIRETIME": lambda: [key()],
            b"MULTI": list,
            b"EXEC": list,
            b"DISCARD": list,
            b"WATCH": lambda: self.some(key),
            b"UNWATCH": list,
            b"PING": lambda: self.some(value, 0, 2),
            b"ECHO": lambda: [value()],
            b"SELECT": lambda: [self.chance.choice([b"0", number()])],
            b"FLUSHALL": lambda: self.options((b"SYNC",), (b"async",)),
            b"FLUSHDB": list,
            b"RANDOMKEY": list,
            b"HELLO": lambda: self.some(lambda: self.chance.choice([b"2", b"3"]), 0, 1),
            b"RESET": list,
            b"AUTH": self.secret,
            b"HELLO 3 AUTH": lambda: [b"default", self.password or value()],
            b"CLIENT": lambda: [self.chance.choice([b"GETNAME", b"getname", b"NONSENSE"])],
            b"CLIENT SETNAME": lambda: [self.chance.choice([b"me", b"a b", b"", b"x\n"])],
            b"NONSENSE": lambda: self.some(value, 0, 5),
            b"": lambda: self.some(value, 0, 1),
        }
        rare = [b"FLUSHALL", b"FLUSHDB", b"RESET", b"AUTH", b"HELLO", b"CLIENT", b"CLIENT SETNAME", b"NONSENSE", b""]
        name = self.chance.choice(list(makers))
        if self.password and self.chance.random() < 0.15:
            name = b"AUTH"
        if name in rare and not (name == b"AUTH" and self.password) and self.chance.random() < 0.7:
            name = self.chance.choice([b"SET", b"GET", b"EXEC", b"MULTI"])
        words = name.split(b" ") + makers[name]()
        pick = self.chance.random()
        if pick < 0.06 and len(words) > 1:
            words.pop()
        elif pick < 0.12:
            words.append(self.chance.choice(WORDS))
        elif pick < 0.16 and len(words) > 1:
            words[self.chance.randrange(1, len(words))] = self.chance.choice(WORDS)
        if self.chance.random() < 0.1:
            words[0] = self.chance.choice([words[0].lower(), words[0].title()])
        return words

    def framed(self, words):
        """As clients send it; sometimes as one types it."""
        if self.chance.random() < 0.1 and words[0]:
            return b" ".join(self.quoted(word) for word in words) + self.chance.choice([b"\r\n", b"\n"])
        return framed(words)

    def quoted(self, word):
        if word and not re.search(rb"[\s\"'\\\x00]", word) and self.chance.random() < 0.7:
            return word
        if (
            b"'" not in word
            and b"\\" not in word
            and not re.search(rb"[\r\n\x00]", word)
            and self.chance.random() < 0.5
        ):
            return b"'" + word + b"'"
        special = {10: b"\\n", 13: b"\\r", 9: b"\\t", 7: b"\\a", 8: b"\\b", 34: b'\\"', 92: b"\\\\"}
        return b'"' + b"".join(special.get(c) or (bytes([c]) if 32 <= c < 127 else b"\\x%02x" % c) for c in word) + b'"'

    def rubbish(self):
        """A stream that goes wrong somewhere."""
        stream = b"".join(self.framed(self.command()) for _ in range(self.chance.randint(1, 4)))
        wrong = [
            b"*0\r\n", b"*-1\r\n", b"*-7\r\n", b"*+1\r\n$4\r\nPING\r\n", b"*1H\r\n", b"*01\r\n$4\r\nPING\r\n",
            b"* 1\r\n", b"*\r\n", b"*1\r\n$+4\r\nPING\r\n", b"*1\r\n$-1\r\n", b"*1\r\n$04\r\nPING\r\n",
            b"*1\r\n$4 \r\nPING\r\n", b"*1\r\n+PING\r\n", b"*1\r\nPING\r\n", b"*2147483648\r\n",
            b"*3000000000\r\n", b"*99999999999999999999\r\n", b"*1\r\n$99999999999\r\n",
            b"*1\r\n$99999999999999999999\r\n", b"*1\r\n$4\r\nPINGxx", b"*1\rx$4\r\nPING\r\n",
            b"'unbalanced\r\n", b'"a"b\r\n', b"ping 'a'b\r\n", b"get \"a\\x4\"\r\n",
            b"echo \"\\x41\\x4\\q\"\r\n", b"echo 'it\\'s'\r\n", b"echo a\"b c\"\r\n", b"\r\n", b"   \r\n",
            b"\n", b"\tping\t\n", b"POST / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: x\r\n", b"host: x\r\n",
            b"x" * 70000, b"*" + b"1" * 70000, b"*1\r\n$" + b"1" * 70000, b"quit\r\nset a 1\r\n",
            b"QUIT now\r\n", framed([b"POST", b"x"]), framed([b"quit"]),
            b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n*1\r\n$4\r\nPI", b"*4\r\n$4\r\nMSET\r\n$1\r\n",
            b"multi\r\n*1\r\n$x\r\n",
        ]  # fmt: skip
        pick = self.chance.random()
        if pick < 0.7:
            stream += self.chance.choice(wrong)
        elif pick < 0.85:
            stream = stream[: self.chance.randrange(len(stream) + 1)]
        stream += b"".join(self.framed(self.command()) for _ in range(self.chance.randint(0, 2)))
        return stream


def framed(words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
