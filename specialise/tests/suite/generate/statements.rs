//! Random statements that compute and store. `blocks` has compound statements, `copies` copies, `pointers` those with
//! pointers, and `outside` calls of functions that only the harness defines.

use super::Generator;
use super::scope::{Buffer, Object, Scope};

impl Generator {
    /// So many statements.
    pub fn statements(&mut self, scope: &mut Scope, count: usize, depth: usize) -> String {
        (0..count).map(|_| self.statement(scope, depth)).collect()
    }

    /// A block of statements of its own.
    pub fn block(&mut self, scope: &Scope, depth: usize) -> String {
        let mut inner = scope.clone();
        let count = 1 + self.random.below(3);
        self.statements(&mut inner, count, depth)
    }

    fn statement(&mut self, scope: &mut Scope, depth: usize) -> String {
        let compound = depth > 0 && self.random.one_in(3);
        if compound {
            return self.compound(scope, depth - 1);
        }
        match self.random.below(24) {
            0 | 1 => self.assignment(scope),
            2 => self.new_variable(scope),
            3 | 4 => self.store(scope),
            5..9 => {
                let (to, from) = (self.part(scope, 1, true), self.part(scope, 1, false));
                self.copy(scope, &to, &from)
            }
            9 | 10 => {
                let from = self.part(scope, 1, false);
                self.copy_into_new(scope, &from)
            }
            11 => self.assembly(scope),
            12 => self.member_update(scope),
            13 => self.alias(scope),
            14 => self.call_of_helper(scope),
            15 => self.pun(scope),
            16 => self.bits(scope),
            17 => self.message(scope),
            18..21 if scope.loops == 0 => self.chain(scope),
            21 if scope.loops == 0 && scope.level > 0 && self.calls > 0 => self.call(scope),
            22 => self.cursor(scope),
            _ => self.outside(scope),
        }
    }

    fn assignment(&mut self, scope: &mut Scope) -> String {
        let name = self.random.pick(&scope.variables).clone();
        let operator = *self.random.pick(&["=", "+=", "^=", "-=", "|="]);
        format!("{name} {operator} {};\n", self.word(scope, 3))
    }

    fn new_variable(&mut self, scope: &mut Scope) -> String {
        let name = self.name("x");
        if self.random.one_in(2) {
            let text = format!("u32 {name} = {};\n", self.known_word(scope, 2));
            scope.known.push(name);
            return text;
        }
        let text = match self.random.below(3) {
            0 => format!("u16 {name} = (u16){};\n", self.word(scope, 2)),
            1 => format!(
                "u64 {name}w = (u64){} << 7 ^ {};\nu32 {name} = (u32)({name}w % 1000003u);\n",
                self.word(scope, 1),
                self.word(scope, 1)
            ),
            _ => format!("u32 {name} = {};\n", self.word(scope, 2)),
        };
        // A word of 16 bits would be promoted to a signed integer in an expression.
        if text.starts_with("u16") {
            scope.words.push(format!("(u32){name}"))
        } else {
            scope.declare(&name)
        }
        text
    }

    fn store(&mut self, scope: &mut Scope) -> String {
        let to = self.part(scope, 1, true);
        let at = self.below(scope, to.size);
        let operator = *self.random.pick(&["=", "=", "^=", "+="]);
        format!("{}[{at}] {operator} (u8){};\n", to.name, self.word(scope, 2))
    }

    /// A change of the configuration or of a global integer.
    fn member_update(&mut self, scope: &mut Scope) -> String {
        if self.random.one_in(4) {
            return match self.random.below(3) {
                0 => "ticks++;\n".to_string(),
                1 => format!("ticks = {};\n", self.word(scope, 1)),
                _ => {
                    let name = self.name("t");
                    scope.words.push(name.clone());
                    format!("u32 {name} = ticks;\n")
                }
            };
        }
        let all = self.state.assignable();
        if all.is_empty() {
            return "ticks += 3u;\n".to_string();
        }
        let (name, bits) = self.random.pick(&all).clone();
        let value = self.word(scope, 2);
        match bits {
            64 => format!("{name} = {name} * 31ul + {value};\n"),
            9 => format!("{name} = {value} & 511u;\n"),
            bits => format!("{name} = (u{bits})((u32){name} + {value});\n"),
        }
    }

    /// A new array of at least so many bytes, filled in one of many ways.
    pub fn new_buffer(&mut self, scope: &mut Scope, least: usize) -> String {
        let size = (least + self.random.below(16)).next_multiple_of(4);
        let name = self.name("buffer");
        let fill = match self.random.below(5) {
            0 => format!("u8 {name}[{size}] = {{ 0 }};\n"),
            1 => format!("u8 {name}[{size}];\nmemset({name}, {}, {size}u);\n", self.random.below(256)),
            2 => {
                let value = self.word(scope, 1);
                format!(
                    "u8 {name}[{size}];\nfor (u32 i = 0; i < {size}u; i++) {name}[i] = (u8)({value} >> (i & 7u));\n"
                )
            }
            3 => {
                let value = self.known_word(scope, 1);
                format!(
                    "u8 {name}[{size}];\nfor (u32 i = 0; i < {size}u; i++) {name}[i] = (u8)({value} * (i + 1u));\n"
                )
            }
            _ => {
                let (words, value) = (size / 4, self.word(scope, 1));
                format!(
                    "u32 {name}w[{words}];\nu8 *{name} = (u8 *){name}w;\nfor (u32 i = 0; i < {words}u; i++) {{\n\
                     {name}w[i] = {value} + i;\n}}\n"
                )
            }
        };
        self.declare_buffer(scope, name, size);
        fill
    }

    /// Adds a local array to the scope.
    pub fn declare_buffer(&mut self, scope: &mut Scope, name: String, size: usize) -> Buffer {
        let buffer = Buffer { name, size, object: Object::Local(self.names), writable: true };
        scope.buffers.push(buffer.clone());
        buffer
    }
}
