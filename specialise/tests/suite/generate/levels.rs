//! The functions of a program: levels, each calling those below, and the entry function.

use drystone_tests::random::Random;

use super::scope::{Buffer, Object, Scope};
use super::{ENTRY, Generator, arguments};

/// Functions that do for each other: they take `(config, data, length, to)` alike.
pub struct Level {
    /// Their names; more than one if the level is called through a table.
    pub names: Vec<String>,
    /// Bytes that `data` and `to` point to at least; `length` is at most that.
    pub capacity: usize,
    /// Whether `data` may be written.
    pub writes_data: bool,
}

impl Level {
    /// The type of `data`.
    pub fn data(&self) -> &'static str {
        if self.writes_data { "u8 *" } else { "const u8 *" }
    }

    fn parameters(&self) -> String {
        format!("struct config *config, {}data, u32 length, u8 *to", self.data())
    }
}

/// The levels of a program, from the lowest.
pub fn choose(random: &mut Random, size: usize) -> Vec<Level> {
    let count = 1 + random.below(size + 1);
    (0..count)
        .map(|level| Level {
            names: (0..*random.pick(&[1, 1, 2, 3]))
                .map(|alternative| format!("level{level}_{}", (b'a' + alternative) as char))
                .collect(),
            capacity: *random.pick(&[8, 12, 16, 16, 24, 32]),
            writes_data: random.one_in(3),
        })
        .collect()
}

impl Generator {
    /// Prototypes of all levels, with a table of the functions of each.
    pub fn level_declarations(&self) -> String {
        let mut text = String::new();
        for (number, level) in self.levels.iter().enumerate() {
            let parameters = level.parameters();
            text += &format!("typedef u32 operation{number}({parameters});\n");
            text +=
                &level.names.iter().map(|name| format!("u32 {name}({parameters});\n")).collect::<String>();
            text += &format!("extern operation{number} *const operations{number}[{}];\n", level.names.len());
        }
        text + &format!("u32 {ENTRY}({});\n", arguments::PARAMETERS)
    }

    /// The tables of functions.
    pub fn operation_tables(&self) -> String {
        let table = |(number, level): (usize, &Level)| {
            let names = level.names.join(", ");
            format!("operation{number} *const operations{number}[{}] = {{ {names} }};\n", level.names.len())
        };
        self.levels.iter().enumerate().map(table).collect()
    }

    /// The text of each function, the lowest first, the entry last.
    pub fn functions(&mut self) -> Vec<String> {
        let mut functions = Vec::new();
        for level in 0..self.levels.len() {
            for alternative in 0..self.levels[level].names.len() {
                functions.push(self.level_function(level, alternative));
            }
        }
        functions.push(self.entry());
        functions
    }

    fn level_function(&mut self, number: usize, alternative: usize) -> String {
        let Level { ref names, capacity, writes_data } = self.levels[number];
        let heading = format!("u32 {}({})", names[alternative], self.levels[number].parameters());
        let mut scope = Scope::of_level(number);
        scope.words.push("length".to_string());
        let data =
            Buffer { name: "data".into(), size: capacity, object: Object::Given, writable: writes_data };
        let to = Buffer { name: "to".into(), size: capacity, object: Object::Given, writable: true };
        scope.buffers = self.state.buffers();
        scope.buffers.extend([data.clone(), to.clone()]);
        let body = self.body(&mut scope, &data, &to);
        let noinline = if self.random.one_in(3) { "__attribute__((noinline)) " } else { "" };
        format!("{noinline}{heading} {{\n{body}}}\n")
    }

    fn entry(&mut self) -> String {
        let mut scope = Scope::of_level(self.levels.len());
        if self.arguments.knows_length() { &mut scope.known } else { &mut scope.words }
            .push("in_length".to_string());
        let object = Object::Given;
        let data = Buffer { name: "in".into(), size: self.arguments.in_size, object, writable: false };
        let to = Buffer { name: "out".into(), size: self.arguments.out_size, object, writable: true };
        scope.buffers = self.state.buffers();
        scope.buffers.extend([data.clone(), to.clone()]);
        let body = self.body(&mut scope, &data, &to);
        format!("u32 {ENTRY}({}) {{\n{body}}}\n", arguments::PARAMETERS)
    }

    /// Copies what it is given, works on it, calls down, and delivers.
    fn body(&mut self, scope: &mut Scope, data: &Buffer, to: &Buffer) -> String {
        self.calls = if scope.level + 1 >= self.levels.len() { 3 } else { 2 };
        let mut text = String::from("u32 sum = 1u;\n");
        scope.declare("sum");
        text += &self.new_buffer(scope, 8);
        text += &self.copy_into_new(scope, data);
        let count = self.size.max(2);
        text += &self.statements(scope, count, 2);
        if scope.level > 0 && self.calls > 0 {
            text += &self.call(scope);
        }
        let count = 1 + self.random.below(self.size);
        text += &self.statements(scope, count, 2);
        let locals: Vec<Buffer> =
            scope.buffers.iter().filter(|b| matches!(b.object, Object::Local(_))).cloned().collect();
        for _ in 0..1 + self.random.below(2) {
            let from = self.random.pick(&locals).clone();
            text += &self.copy(scope, to, &from);
        }
        let fold = self.random.pick(&locals).clone();
        text += &format!("sum = sum * 31u + digest({}, {}u);\n", fold.name, fold.size);
        text + &format!("return {};\n", self.folded(scope))
    }

    /// A word that depends on all variables.
    fn folded(&mut self, scope: &Scope) -> String {
        scope.variables.iter().skip(1).fold("sum".to_string(), |sum, name| format!("({sum} * 7u ^ {name})"))
    }

    /// A call to a function of a lower level, directly or through a table or a pointer.
    pub fn call(&mut self, scope: &mut Scope) -> String {
        self.calls = self.calls.saturating_sub(1);
        let number = if self.random.one_in(4) { self.random.below(scope.level) } else { scope.level - 1 };
        let (capacity, writes) = (self.levels[number].capacity, self.levels[number].writes_data);
        let mut text = String::new();
        if !scope.buffers.iter().any(|buffer| buffer.writable && buffer.size >= capacity) {
            text += &self.new_buffer(scope, capacity);
        }
        let data = self.part(scope, capacity, writes);
        let to = self.part(scope, capacity, true);
        let length = match self.random.below(3) {
            0 => format!("{}u", self.random.range(0, capacity as i64)),
            _ => self.below(scope, capacity + 1),
        };
        let function = self.callee(scope, number);
        text + &format!("sum += {function}(config, {}, {length}, {});\n", data.name, to.name)
    }

    /// So many bytes of some buffer.
    pub fn part(&mut self, scope: &Scope, size: usize, write: bool) -> Buffer {
        let fit: Vec<&Buffer> =
            scope.buffers.iter().filter(|b| b.size >= size && (b.writable || !write)).collect();
        let buffer = (*self.random.pick(&fit)).clone();
        let spare = buffer.size - size;
        if spare == 0 || self.random.one_in(2) { buffer } else { buffer.from(self.random.below(spare + 1)) }
    }

    fn callee(&mut self, scope: &Scope, number: usize) -> String {
        let alternatives = self.levels[number].names.len();
        let pointers = self.state.operations(number);
        match self.random.below(5) {
            0 | 1 if !pointers.is_empty() => self.random.pick(&pointers).clone(),
            2 => format!("operations{number}[{}]", self.below(scope, alternatives)),
            3 => {
                let first = self.random.pick(&self.levels[number].names).clone();
                let second = self.random.pick(&self.levels[number].names).clone();
                let condition = self.condition(scope, 1);
                format!("({condition} ? {first} : {second})")
            }
            _ => self.random.pick(&self.levels[number].names).clone(),
        }
    }
}
