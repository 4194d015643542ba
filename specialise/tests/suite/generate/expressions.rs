//! Random expressions of 32-bit words, without side effects, and defined for all values.

use super::Generator;
use super::scope::Scope;
use super::state::Known;

impl Generator {
    /// A word of any origin.
    pub fn word(&mut self, scope: &Scope, depth: usize) -> String {
        self.expression(scope, Known::No, depth)
    }

    /// A word that usually follows from what is known.
    pub fn known_word(&mut self, scope: &Scope, depth: usize) -> String {
        self.expression(scope, Known::Yes, depth)
    }

    fn expression(&mut self, scope: &Scope, known: Known, depth: usize) -> String {
        if depth == 0 || self.random.one_in(5) {
            return self.leaf(scope, known);
        }
        let a = self.expression(scope, known, depth - 1);
        let b = self.expression(scope, known, depth - 1);
        let small = self.random.range(1, 31);
        match self.random.below(30) {
            0..4 => format!("({a} + {b})"),
            4 | 5 => format!("({a} - {b})"),
            6 => format!("({a} * {b})"),
            7..10 => format!("({a} {} {b})", self.random.pick(&["&", "|", "^"])),
            10 => format!("({a} << {small})"),
            11 => format!("({a} >> ({b} & 31u))"),
            12 => format!("({a} {} (({b} & 255u) + 1u))", self.random.pick(&["/", "%"])),
            13 => format!("(u32)((i32)({a} & 65535u) / ((i32)({b} & 127u) - 200))"),
            14 => format!("(u32)((i32){a} % ((i32)({b} & 127u) + 3))"),
            15 => format!("(u32)((i32){a} >> {small})"),
            16 => format!("(u32)({a} {} {b})", self.random.pick(&["==", "!=", "<", "<="])),
            17 => format!("(u32)((i32){a} {} (i32){b})", self.random.pick(&["<", "<=", ">"])),
            18 => format!("({} ? {a} : {b})", self.condition(scope, depth - 1)),
            19 => format!("(u32)({}){a}", self.random.pick(&["i8", "u8", "i16", "u16"])),
            20 => format!("(u32)(((u64){a} * {b} + {a}) >> {small})"),
            21 => format!("(u32)(((i64)(i32){a} * (i32){b}) >> {small})"),
            22 => format!("({a} << {small} | {a} >> {})", 32 - small),
            23 => format!("({a} < {b} ? {a} : {b})"),
            24 => format!("__builtin_bswap32({a})"),
            25 => format!("(u32)__builtin_clz({a} | 1u)"),
            26 => format!("(u32)(i32)((double)(i32)({a} & 65535u) * 0.75 - (double)({b} & 255u) / 3.0)"),
            27 => format!("(u32)(i32)((float)({a} & 1023u) / ((float)({b} & 15u) + 0.5f))"),
            28 => format!("(u32)(((double){a} < (double){b} * 1.5) + ({a} && {b}) + !{a})"),
            _ => self.element(scope, &a),
        }
    }

    fn leaf(&mut self, scope: &Scope, known: Known) -> String {
        let choice = self.random.below(8);
        let mut words = if choice < 4 { scope.known.clone() } else { self.state.words(Known::Yes) };
        if known == Known::No && !choice.is_multiple_of(4) {
            words = if choice < 4 { scope.words.clone() } else { self.state.words(Known::No) };
            if choice == 5 || words.is_empty() {
                let buffer = self.random.pick(&scope.buffers).clone();
                let at = self.random.below(buffer.size);
                return format!("(u32){}[{at}]", buffer.name);
            }
        }
        if choice == 7 || words.is_empty() {
            return match self.random.below(3) {
                0 => format!("{}u", self.random.bits() as u32),
                _ => format!("{}u", self.random.below(70)),
            };
        }
        self.random.pick(&words).clone()
    }

    /// An element of a table or a buffer by an index of any size.
    fn element(&mut self, scope: &Scope, index: &str) -> String {
        if self.random.one_in(2) && !scope.buffers.is_empty() {
            let buffer = self.random.pick(&scope.buffers).clone();
            return format!("(u32){}[{index} % {}u]", buffer.name, buffer.size);
        }
        let table = self.random.pick(&self.state.tables);
        format!("(u32){}[{index} % {}u]", table.name, table.length)
    }

    /// A truth value, known or not.
    pub fn condition(&mut self, scope: &Scope, depth: usize) -> String {
        let known = if self.random.one_in(2) { Known::Yes } else { Known::No };
        let a = self.expression(scope, known, depth);
        let b = self.expression(scope, known, depth.saturating_sub(1));
        let limit = self.random.pick(&[3u32, 17, 100, 1 << 31]);
        match self.random.below(6) {
            0 => format!("({a} & {}u)", self.random.range(1, 7)),
            1 => format!("({a} {} {b})", self.random.pick(&["==", "<", ">=", "!="])),
            2 => format!("((i32){a} < (i32){b})"),
            3 => format!("({a} > {limit}u)"),
            4 => format!("({a} < {limit}u || {b} == 5u)"),
            _ => format!("({a} % 3u != 0 && {b} > 1u)"),
        }
    }

    /// A word below a bound: a number, or computed from what is known, or from anything.
    pub fn below(&mut self, scope: &Scope, bound: usize) -> String {
        match self.random.below(4) {
            _ if bound == 1 => "0u".to_string(),
            0 => format!("{}u", self.random.below(bound)),
            1 => format!("({} % {bound}u)", self.known_word(scope, 1)),
            _ => format!("({} % {bound}u)", self.word(scope, 1)),
        }
    }
}
