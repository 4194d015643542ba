//! Copies between buffers: whole and in part, by `memcpy`, by bytes and by words, from several buffers into one and
//! from one into several, in place, and through messages and chains of nodes.

use super::Generator;
use super::scope::{Buffer, Scope};

impl Generator {
    /// A copy of some bytes; how many and where may be known or not.
    pub fn copy(&mut self, scope: &Scope, to: &Buffer, from: &Buffer) -> String {
        let most = to.size.min(from.size);
        let length = if self.random.one_in(2) { most } else { 1 + self.random.below(most) };
        let to_at = self.below(scope, to.size - length + 1);
        let from_at = self.below(scope, from.size - length + 1);
        let (to_at, from_at) = (joined(&to.name, &to_at), joined(&from.name, &from_at));
        let apart = to.is_apart_from(from);
        let count = match self.random.below(4) {
            0 => self.below(scope, length + 1),
            _ => format!("{length}u"),
        };
        let i = self.name("k");
        match self.random.below(8) {
            0..3 if apart => format!("memcpy({to_at}, {from_at}, {count});\n"),
            3 => {
                let operation = self.random.pick(&["", " ^ 0x5Au", " + i", " * 3u"]).replace('i', &i);
                format!(
                    "for (u32 {i} = 0, {i}n = {count}; {i} < {i}n; {i}++) {{\n\
                     ({to_at})[{i}] = (u8)(({from_at})[{i}]{operation});\n}}\n"
                )
            }
            4 => format!(
                "for (u32 {i} = 0; {i} < {length}u; {i}++) ({to_at})[{i}] = ({from_at})[{}u - {i}];\n",
                length - 1
            ),
            5 if length >= 4 => {
                let swap = *self.random.pick(&["__builtin_bswap32", "(u32)", "1u + ", "~"]);
                format!(
                    "for (u32 {i} = 0; {i} + 4u <= {length}u; {i} += 4u) {{\nu32 {i}w;\n\
                     memcpy(&{i}w, {from_at} + {i}, 4u);\n{i}w = {swap}({i}w);\n\
                     memcpy({to_at} + {i}, &{i}w, 4u);\n}}\n"
                )
            }
            6 => format!(
                "{{\nconst u8 *{i}f = {from_at}, *{i}e = {i}f + {count};\nu8 *{i}t = {to_at};\n\
                 while ({i}f < {i}e) *{i}t++ = *{i}f++;\n}}\n"
            ),
            _ => format!("memmove({to_at}, {from_at}, {count});\n"),
        }
    }

    /// A new buffer with a copy of another one in it.
    pub fn copy_into_new(&mut self, scope: &mut Scope, from: &Buffer) -> String {
        let header = self.random.below(3) * 4;
        let size = (from.size + header + self.random.below(3)).next_multiple_of(4);
        let name = self.name("copy");
        let (length, source) = (from.size, &from.name);
        let text = match self.random.below(3) {
            0 => format!(
                "u8 {name}[{size}];\nmemset({name}, 0, {size}u);\nmemcpy({name} + {header}, {source}, {length}u);\n"
            ),
            1 => format!(
                "u8 {name}[{size}] = {{ 0 }};\n\
                 for (u32 i = 0; i < {length}u; i++) {name}[i + {header}u] = {source}[i];\n"
            ),
            _ => {
                let tail = size - header - length;
                let value = self.word(scope, 1);
                let mut text = format!("u8 {name}[{size}];\n");
                for at in 0..header / 4 {
                    text += &format!(
                        "u32 {name}h{at} = {value} + {at}u;\nmemcpy({name} + {}, &{name}h{at}, 4u);\n",
                        at * 4
                    );
                }
                text += &format!("memcpy({name} + {header}, {source}, {length}u);\n");
                if tail > 0 {
                    text += &format!("memset({name} + {}, 1, {tail}u);\n", header + length);
                }
                text
            }
        };
        self.declare_buffer(scope, name, size);
        text
    }

    /// A new buffer from parts of two others, of which one may be changed afterwards.
    pub fn assembly(&mut self, scope: &mut Scope) -> String {
        let first = self.part(scope, 1, false);
        let second = self.part(scope, 1, true);
        let (a, b) = (1 + self.random.below(first.size), 1 + self.random.below(second.size));
        let name = self.name("joint");
        let mut text = format!(
            "u8 {name}[{}];\nmemcpy({name}, {}, {a}u);\nmemcpy({name} + {a}, {}, {b}u);\n",
            a + b,
            first.name,
            second.name
        );
        if self.random.one_in(2) {
            let at = self.below(scope, b);
            text += &format!("{}[{at}] ^= (u8){};\n", second.name, self.word(scope, 1));
        }
        self.declare_buffer(scope, name, a + b);
        text
    }

    /// Through a structure, by value.
    pub fn message(&mut self, scope: &mut Scope) -> String {
        let from = self.part(scope, 1, false);
        let length = from.size.min(16);
        let name = self.name("message");
        let (kind, xid) = (self.known_word(scope, 1), self.word(scope, 1));
        let source = &from.name;
        let mut text = format!(
            "struct message {name} = {{ {kind}, (u16){xid}, {length}u, {{ 0 }} }};\n\
             memcpy({name}.payload, {source}, {length}u);\n"
        );
        match self.random.below(3) {
            0 => text += &format!("{name} = answer({name}, {});\n", self.word(scope, 1)),
            1 => {
                text +=
                    &format!("struct message {name}b = {name};\n{name}.payload[2] ^= {name}b.payload[1];\n")
            }
            _ => {}
        }
        scope.words.push(format!("(u32){name}.xid"));
        scope.words.push(format!("{name}.kind"));
        self.declare_buffer(scope, format!("{name}.payload"), 16);
        text
    }

    /// In fragments through a chain of nodes, from the heap or from an array.
    pub fn chain(&mut self, scope: &mut Scope) -> String {
        let from = self.part(scope, 1, false);
        let to = self.part(scope, 1, true);
        let most = from.size.min(to.size).min(32);
        let n = self.name("n");
        let total = if self.random.one_in(2) { format!("{most}u") } else { self.below(scope, most + 1) };
        let heap = self.random.one_in(2);
        // Bytes of a node: recursion along a list becomes a loop only if the list is longer than it may be unfolded.
        let piece = *self.random.pick(&[8, 4, 2, 1]);
        let make = match heap {
            true => format!("struct node *{n} = malloc(sizeof *{n});\n"),
            false => format!("struct node *{n} = &{n}_pool[{n}_at / {piece}u];\n"),
        };
        let pool = if heap { String::new() } else { format!("struct node {n}_pool[{}];\n", 32 / piece) };
        let release = if heap { format!("free({n});\n") } else { String::new() };
        // Pushed in front as Figure 10 of the paper does, or appended.
        let (ends, link) = match self.random.below(2) {
            0 => (String::new(), format!("{n}->next = {n}_head;\n{n}_head = {n};\n")),
            _ => (
                format!("struct node **{n}_end = &{n}_head;\n"),
                format!("{n}->next = 0;\n*{n}_end = {n};\n{n}_end = &{n}->next;\n"),
            ),
        };
        scope.words.push(format!("{n}_walked"));
        // By way of a volatile variable nobody knows which list it is, nor how long.
        let unknown = *self.random.pick(&["volatile ", "volatile ", ""]);
        format!(
            "u32 {n}_total = {total};\nstruct node *{n}_head = 0;\n{pool}{ends}\
             for (u32 {n}_at = 0; {n}_at < {n}_total; {n}_at += {piece}u) {{\n\
             {make}{n}->length = {n}_total - {n}_at < {piece}u ? {n}_total - {n}_at : {piece}u;\n\
             memcpy({n}->bytes, {} + {n}_at, {n}->length);\n{link}}}\n\
             struct node *{unknown}{n}_list = {n}_head;\n\
             u32 {n}_walked = {n}_head ? walk({n}_list, 1u) : 0u;\nsum = sum * 3u + {n}_walked;\n\
             u32 {n}_done = 0;\nwhile ({n}_head) {{\nstruct node *{n} = {n}_head;\n\
             memcpy({} + {n}_done, {n}->bytes, {n}->length);\n{n}_done += {n}->length;\n\
             {n}_head = {n}->next;\n{release}}}\n",
            from.name, to.name
        )
    }
}

/// The address of a byte of a buffer.
fn joined(name: &str, at: &str) -> String {
    if at == "0u" { name.to_string() } else { format!("({name} + {at})") }
}
