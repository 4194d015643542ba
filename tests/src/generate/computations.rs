//! Random expressions and statements that compute. They neither wait nor fail, and every INTEGER expression lies
//! between 0 and 9972.

use super::{Generator, IMPORT};

/// The loop variables `k0`, `k1`, `k2`, which a body with [`Generator::statements`] declares.
pub(super) const LOOPS: &str = "k0, k1, k2: INTEGER";

impl Generator {
    /// An INTEGER expression over variables below a million in magnitude.
    pub fn number(&mut self, names: &[&str], depth: usize) -> String {
        if depth == 0 || self.random.one_in(6) {
            return if names.is_empty() || self.random.one_in(3) {
                match self.shared.constants.len() {
                    count if count > 0 && self.random.one_in(3) => {
                        self.shared.constants[self.random.below(count)].clone()
                    }
                    _ => self.random.range(0, 9972).to_string(),
                }
            } else {
                format!("({} MOD 9973)", self.random.pick(names))
            };
        }
        let a = self.number(names, depth - 1);
        let b = self.number(names, depth - 1);
        match self.random.below(19) {
            0 | 1 => format!("(({a} + {b}) MOD 9973)"),
            2 | 3 => format!("({a} * {b} MOD 9973)"),
            4 | 5 => format!("(({a} - {b}) MOD 9973)"),
            6 => format!("({a} DIV ({b} + 1))"),
            7 => format!("({a} MOD ({b} + 1))"),
            8 => format!("((-{a}) DIV ({b} + 1) + 9972)"),
            9 => format!("(({a} MOD (-1 - {b})) MOD 9973)"),
            10 => format!("{}({a}, {b})", self.random.pick(&["MIN", "MAX"])),
            11 => format!("INTEGER({})", self.condition(names, depth - 1)),
            12 => format!("(INTEGER(SQRT(REAL({a})) * 4.0 + {b} / 8.0) MOD 9973)"),
            13 => format!("(INTEGER({}) MOD 9973)", self.real(names, depth - 1)),
            14 => format!("LENGTH({})", self.text(names, depth - 1)),
            15 => format!("(FIND({}, TEXT({b} MOD 10), 0) + 1)", self.text(names, depth - 1)),
            16 | 17 => format!("({} MOD 9973)", self.bits(&a, &b)),
            _ => match self.functions.len() {
                0 => format!("INTEGER(CHARACTER({a} MOD 256))"),
                count => {
                    let (name, arity) = self.functions[self.random.below(count)].clone();
                    let arguments: Vec<_> = (0..arity).map(|_| self.number(names, 0)).collect();
                    format!("{name}({})", arguments.join(", "))
                }
            },
        }
    }

    /// Bit operations and wrapping arithmetic on two INTEGERs, with any INTEGER as result.
    fn bits(&mut self, a: &str, b: &str) -> String {
        match self.random.below(6) {
            0 => format!("{}({a}, BITNOT({b}))", self.random.pick(&["BITAND", "BITOR", "BITXOR"])),
            1 => format!("BITAND({a}, {})", self.random.pick(&["0FFH", "-1", "SHIFT(1, 12) - 1"])),
            2 => format!("{}({a} - {b}, {b} MOD 150 - 75)", self.random.pick(&["SHIFT", "ROTATE"])),
            3 => {
                let distance = self.random.range(-66, 66);
                format!("{}({a} - {b}, {distance})", self.random.pick(&["SHIFT", "ROTATE"]))
            }
            4 => format!("{}({a}, MAX(INTEGER) - {b})", self.random.pick(&["ADDWRAP", "SUBWRAP", "MULWRAP"])),
            _ => format!("SHIFT(MULWRAP({a} + 1, 9E3779B97F4A7C15H), {b} MOD 64 - 63)"),
        }
    }

    /// A REAL expression of moderate magnitude, with only operations that every machine rounds alike.
    pub fn real(&mut self, names: &[&str], depth: usize) -> String {
        let a = self.number(names, depth.min(1));
        let b = self.number(names, 0);
        match self.random.below(5) {
            0 => format!("({a} / ({b} + 1) * 16.0)"),
            1 => format!("({a} * 0.37 - {b} * 1.25)"),
            2 => format!("(SQRT(REAL({a})) + {b} / 3.0)"),
            3 => format!("MAX({a} * 0.5, REAL({b}))"),
            _ => format!("(-REAL({a}) / 7.0)"),
        }
    }

    /// A BOOLEAN expression.
    pub fn condition(&mut self, names: &[&str], depth: usize) -> String {
        let a = self.number(names, depth.min(1));
        let b = self.number(names, 0);
        let operator = *self.random.pick(&["=", "#", "<", "<=", ">", ">="]);
        match self.random.below(if depth == 0 { 4 } else { 7 }) {
            0 | 1 => format!("({a} {operator} {b})"),
            2 => format!("({a} MOD 3 {operator} {b} MOD 3)"),
            3 => format!("(TEXT({a}) {operator} TEXT({b}))"),
            4 => format!("~{}", self.condition(names, depth - 1)),
            5 => format!("({} AND {})", self.condition(names, depth - 1), self.condition(names, 0)),
            _ => format!("({} OR {})", self.condition(names, depth - 1), self.condition(names, 0)),
        }
    }

    /// A short TEXT expression.
    pub fn text(&mut self, names: &[&str], depth: usize) -> String {
        let a = self.number(names, 0);
        match self.random.below(5) {
            0 => format!("TEXT({a})"),
            1 => format!("(TEXT({a}) + \"ab\")"),
            2 => format!("SLICE(TEXT({a}) + \"xyz\", 1, 3)"),
            3 => format!("TEXT({})", self.condition(names, depth.min(1))),
            _ => format!(
                "(\"{}\" + TEXT(CHARACTER(97 + {a} MOD 26)))",
                self.random.pick(&["", "q", "wall", "\\t"])
            ),
        }
    }

    /// Statements that change the targets and read the names. The enclosing body declares [`LOOPS`].
    pub fn statements(&mut self, targets: &[&str], names: &[&str], depth: usize) -> String {
        let count = 1 + self.random.below(3);
        (0..count).map(|_| self.statement(targets, names, depth)).collect()
    }

    fn statement(&mut self, targets: &[&str], names: &[&str], depth: usize) -> String {
        let target = *self.random.pick(targets);
        if depth == 0 {
            return format!("{target} := {};\n", self.number(names, 2));
        }
        let k = format!("k{}", depth - 1);
        let mut inner_names = names.to_vec();
        inner_names.push(&k);
        match self.random.below(8) {
            0 | 1 => format!("{target} := {};\n", self.number(names, 3)),
            6 => self.case(targets, names, depth - 1),
            2 => format!(
                "IF {} THEN\n{}ELSIF {} THEN\n{}ELSE\n{}END;\n",
                self.condition(names, 1),
                self.statements(targets, names, depth - 1),
                self.condition(names, 1),
                self.statements(targets, names, depth - 1),
                self.statements(targets, names, depth - 1)
            ),
            3 => {
                let (from, to, by) = *self.random.pick(&[(0, 4, 1), (5, 1, -2), (-2, 3, 3), (1, 0, 1)]);
                let body = self.loop_body(targets, &inner_names, depth - 1);
                format!("FOR {k} := {from} TO {to} BY {by} DO\n{body}END;\n")
            }
            4 => {
                let bound = self.number(names, 1);
                let body = self.loop_body(targets, &inner_names, depth - 1);
                format!("{k} := {bound} MOD 5;\nWHILE {k} > 0 DO\n{body}DEC({k})\nEND;\n")
            }
            5 => {
                let body = self.loop_body(targets, &inner_names, depth - 1);
                format!(
                    "{k} := 0;\nREPEAT\n{body}INC({k}, 2)\nUNTIL ({k} > 6) OR {};\n",
                    self.condition(names, 0)
                )
            }
            _ => format!("{target} := {target} MOD 1000;\nINC({target}, {});\n", self.number(names, 1)),
        }
    }

    /// A choice by a value of some type.
    fn case(&mut self, targets: &[&str], names: &[&str], depth: usize) -> String {
        const NUMBERS: [&[&str]; 4] = [
            &["0, 2..3", "5", "1, 4, 6"],
            &["0..2", "3..6"],
            &["0", "1", "2", "3", "4", "5", "6"],
            &["1..5"],
        ];
        const LETTERS: [&[&str]; 3] =
            [&["\"a\"..\"m\"", "\"n\"", "70X..7AX"], &["\"x\", 61X"], &["0X..0FFX"]];
        const TEXTS: [&[&str]; 3] =
            [&["\"TRUE\"", "\"FALSE\""], &["\"\"", "\"wallk\", \"0\"", "\"ab\""], &["\"1ab\""]];
        let number = self.number(names, 1);
        let (value, labels, is_complete) = match self.random.below(4) {
            0 | 1 => {
                let which = self.random.below(4);
                (format!("{number} MOD 7"), NUMBERS[which], which < 3)
            }
            2 => (format!("CHARACTER(97 + {number} MOD 26)"), *self.random.pick(&LETTERS), false),
            _ if self.random.one_in(2) => (self.condition(names, 1), &["TRUE", "FALSE"][..], true),
            _ => (self.text(names, 1), *self.random.pick(&TEXTS), false),
        };
        let mut text = format!("CASE {value} OF\n");
        for label in labels {
            text += &format!("| {label}:\n{}", self.statements(targets, names, depth));
        }
        if !is_complete || self.random.one_in(4) {
            text += &format!("ELSE\n{}", self.statements(targets, names, depth));
        }
        text + "END;\n"
    }

    /// What a loop repeats, which may leave it.
    fn loop_body(&mut self, targets: &[&str], names: &[&str], depth: usize) -> String {
        let mut body = self.statements(targets, names, depth);
        if self.random.one_in(4) {
            body += &format!("IF {} THEN EXIT END;\n", self.condition(names, 1));
            body += &self.statements(targets, names, depth);
        }
        body
    }

    /// A function procedure, which later expressions of its component may call. It may contain a recursive procedure
    /// that changes the function's variables, by name and as `VARIABLE` parameters.
    pub fn function(&mut self) -> String {
        let name = self.name("F");
        let inner = self.name("G");
        let step = self.number(&["v", "depth", "x"], 2);
        let body = self.statements(&["x", "y"], &["a", "b", "x", "y"], 2);
        let result = self.number(&["a", "b", "x", "y"], 2);
        let depth = self.random.below(6);
        let text = format!(
            "PROCEDURE {name}(a, b: INTEGER): INTEGER;
VARIABLE x, y: INTEGER;
VARIABLE {LOOPS};
PROCEDURE {inner}(VARIABLE v: INTEGER; depth: INTEGER);
BEGIN
v := {step};
x := (x + 1) MOD 9973;
IF depth > 0 THEN {inner}(v, depth - 1) END
END {inner};
BEGIN
{body}{inner}(y, {depth});
RETURN {result}
END {name};
"
        );
        self.functions.push((name, 2));
        text
    }

    /// Makes up to two functions for a new component, which replace those of the enclosing component; shared functions
    /// remain.
    pub fn new_functions(&mut self) -> String {
        if self.random.one_in(4) {
            self.share();
        }
        self.functions.clone_from(&self.shared.functions);
        (0..self.random.below(3)).map(|_| self.function()).collect()
    }

    /// Adds a constant and a function to the top-level declarations.
    fn share(&mut self) {
        let name = self.name("C");
        let qualifier = if self.shared.imported { format!("{IMPORT}.") } else { String::new() };
        let unqualified = |name: &String| name.strip_prefix(&qualifier).unwrap_or(name).to_string();
        let value = self.random.range(0, 9972);
        self.shared.text += &format!("CONSTANT {name} = {value};\n");
        // Names are not qualified within their own file.
        let constants = self.shared.constants.iter().map(unqualified).chain([name.clone()]).collect();
        let outside = std::mem::replace(&mut self.shared.constants, constants);
        self.functions =
            self.shared.functions.iter().map(|(name, arity)| (unqualified(name), *arity)).collect();
        let text = self.function();
        self.shared.text += &text;
        let (function, arity) = self.functions.pop().expect("it was just made");
        self.shared.constants = outside;
        self.shared.constants.push(format!("{qualifier}{name}"));
        self.shared.functions.push((format!("{qualifier}{function}"), arity));
    }
}
