//! The state of a program besides its arguments: the configuration that its entry function is pointed to, and its
//! global variables. For each: its declaration, what is known of it, and how the harness sets and observes it.

use drystone_tests::random::Random;

use super::levels::Level;
use super::scope::{Buffer, Object};

/// What stands at the top of every file.
pub const TYPES: &str = "\
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned u32;
typedef unsigned long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long i64;
void *memcpy(void *, const void *, u64);
void *memmove(void *, const void *, u64);
void *memset(void *, int, u64);
int memcmp(const void *, const void *, u64);
void *malloc(u64);
void free(void *);
void outside_change(u32 tag, u8 *bytes, u32 length);
void outside_see(const u8 *bytes, u32 length);
void outside_keep(u8 *bytes, u32 length);
u32 outside_poll(u32 tag);
void outside_forget(void);
struct config;
";

/// A member of the configuration or of the session.
pub struct Member {
    pub name: String,
    pub kind: Kind,
    /// Bytes from the start of the structure.
    pub at: usize,
    /// Whether it is known.
    pub known: bool,
    /// What it is, or is at first.
    pub value: u64,
}

/// What a member holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An integer of so many bytes.
    Integer(usize),
    /// So many bytes.
    Bytes(usize),
    /// Three bit fields, of 3, 9 and 20 bits.
    Flags,
    /// A function of the level.
    Operation(usize),
    /// Eight bytes or more of a store.
    Place,
}

impl Kind {
    fn size_and_align(self) -> (usize, usize) {
        match self {
            Kind::Integer(size) => (size, size),
            Kind::Bytes(size) => (size, 1),
            Kind::Flags => (4, 4),
            Kind::Operation(_) | Kind::Place => (8, 8),
        }
    }
}

/// An array of words that is never written while the entry function runs.
pub struct Table {
    pub name: String,
    pub length: usize,
    /// How many bytes an element has.
    pub width: usize,
    /// Whether `init` fills it; else it is initialised as it is declared.
    pub computed: bool,
    factor: u64,
}

/// All of it.
pub struct State {
    pub config: Vec<Member>,
    pub config_size: usize,
    /// A structure that `init` fills and nobody changes; may be empty.
    pub session: Vec<Member>,
    pub tables: Vec<Table>,
    /// Global buffers by size.
    pub stores: Vec<usize>,
    /// Global integers by their size in bytes.
    pub counters: Vec<usize>,
    /// The names that operations have, by level.
    operations: Vec<Vec<String>>,
}

impl State {
    pub fn choose(random: &mut Random, levels: &[Level]) -> State {
        let stores = (0..1 + random.below(2)).map(|_| *random.pick(&[16, 24, 32, 40])).collect();
        let counters = (0..random.below(3)).map(|_| *random.pick(&[1, 2, 4, 8])).collect();
        let tables = (0..1 + random.below(2))
            .map(|number| Table {
                name: format!("table{number}"),
                length: *random.pick(&[4, 7, 8, 16]),
                width: *random.pick(&[1, 2, 4, 8]),
                computed: random.one_in(2),
                factor: random.bits() >> 1 | 1,
            })
            .collect();
        let (config, config_size) = members(random, levels, 3, "option");
        let (mut session, _) =
            if random.one_in(2) { members(random, levels, 1, "part") } else { (Vec::new(), 0) };
        session.iter_mut().for_each(|member| member.known = true);
        let operations = levels.iter().map(|level| level.names.clone()).collect();
        State { config, config_size, session, tables, stores, counters, operations }
    }

    /// The global buffers.
    pub fn buffers(&self) -> Vec<Buffer> {
        let store = |(number, &size): (usize, &usize)| Buffer {
            name: format!("store{number}"),
            size,
            object: Object::Global(number),
            writable: true,
        };
        let place = |name: String| Buffer { name, size: 8, object: Object::Anything, writable: true };
        let places =
            self.members(|member| member.kind == Kind::Place).into_iter().map(|(name, _)| place(name));
        self.stores.iter().enumerate().map(store).chain(places).chain([place("cursor".to_string())]).collect()
    }

    /// Pointers to functions of a level.
    pub fn operations(&self, level: usize) -> Vec<String> {
        let found = self.members(|member| member.kind == Kind::Operation(level));
        found.into_iter().map(|(name, _)| name).collect()
    }

    /// Words in configuration and session; those that are known, or the others.
    pub fn words(&self, known: Known) -> Vec<String> {
        let members = self.members(|member| member.known == (known == Known::Yes));
        members.iter().filter_map(|(name, kind)| word(name, *kind)).flatten().collect()
    }

    /// Assignable bytes, words and bit fields of the configuration, with how many bits they take.
    pub fn assignable(&self) -> Vec<(String, usize)> {
        let mut all: Vec<(String, usize)> = self
            .counters
            .iter()
            .enumerate()
            .map(|(number, size)| (format!("counter{number}"), size * 8))
            .collect();
        for member in &self.config {
            let name = format!("config->{}", member.name);
            match member.kind {
                Kind::Integer(size) => all.push((name, size * 8)),
                Kind::Bytes(size) => all.push((format!("{name}[{}]", size / 2), 8)),
                Kind::Flags => all.push((format!("{name}_b"), 9)),
                Kind::Operation(_) | Kind::Place => {}
            }
        }
        all
    }

    fn members(&self, wanted: impl Fn(&Member) -> bool) -> Vec<(String, Kind)> {
        let config = self.config.iter().map(|member| ("config->", member));
        let session = self.session.iter().map(|member| ("session.", member));
        let wanted = config.chain(session).filter(|(_, member)| wanted(member));
        wanted.map(|(prefix, member)| (format!("{prefix}{}", member.name), member.kind)).collect()
    }

    /// The name of a function of a level.
    pub fn operation_name(&self, level: usize, value: u64) -> &str {
        let names = &self.operations[level];
        &names[value as usize % names.len()]
    }

    /// The store and the byte of it that a place begins at.
    pub fn place(&self, value: u64) -> (usize, usize) {
        let store = value as usize % self.stores.len();
        (store, (value >> 8) as usize % (self.stores[store] - 7))
    }

    /// What is declared in every file.
    pub fn declarations(&self) -> String {
        let mut text = structure("config", &self.config);
        if !self.session.is_empty() {
            text += &format!("{}extern struct session session;\n", structure("session", &self.session));
        }
        for table in &self.tables {
            let declared = format!("u{} {}[{}]", table.width * 8, table.name, table.length);
            match table.computed {
                true => text += &format!("extern {declared};\n"),
                false => text += &format!("static const {declared} = {{ {} }};\n", table.elements()),
            }
        }
        for (number, size) in self.stores.iter().enumerate() {
            text += &format!("extern u8 store{number}[{size}];\n");
        }
        for (number, size) in self.counters.iter().enumerate() {
            text += &format!("extern u{} counter{number};\n", size * 8);
        }
        text + "extern u8 *cursor;\nextern volatile u32 ticks;\nvoid init(void);\n"
    }

    /// What is defined in one file.
    pub fn definitions(&self) -> String {
        let mut text = String::new();
        for table in self.tables.iter().filter(|table| table.computed) {
            text += &format!("u{} {}[{}];\n", table.width * 8, table.name, table.length);
        }
        for (number, size) in self.stores.iter().enumerate() {
            text += &format!("u8 store{number}[{size}] = {{ 1, 2, 3 }};\n");
        }
        for (number, size) in self.counters.iter().enumerate() {
            text += &format!("u{} counter{number};\n", size * 8);
        }
        if !self.session.is_empty() {
            text += "struct session session;\n";
        }
        format!("{text}u8 *cursor = store0;\nvolatile u32 ticks;\n{}", self.initialiser())
    }

    fn initialiser(&self) -> String {
        let mut text = "void init(void) {\n".to_string();
        for table in self.tables.iter().filter(|table| table.computed) {
            let Table { name, length, width, factor, .. } = table;
            text += &format!(
                "for (u32 i = 0; i < {length}u; i++) {{\n{name}[i] = (u{})((i + 1u) * {factor}ul >> 7);\n}}\n",
                width * 8
            );
        }
        for member in &self.session {
            text += &self.assignment("session.", member);
        }
        text + "}\n"
    }

    /// Gives a member its value.
    pub fn assignment(&self, prefix: &str, member: &Member) -> String {
        let Member { name, value, .. } = member;
        match member.kind {
            Kind::Integer(8) => format!("{prefix}{name} = {value}ul;\n"),
            Kind::Integer(size) => {
                format!("{prefix}{name} = {}u;\n", value & ((1 << (size * 8)) - 1))
            }
            Kind::Bytes(size) => (0..size)
                .map(|at| format!("{prefix}{name}[{at}] = {};\n", member.byte(at)))
                .collect::<String>(),
            Kind::Flags => format!(
                "{prefix}{name}_a = {}u;\n{prefix}{name}_b = {}u;\n{prefix}{name}_c = {}u;\n",
                value & 7,
                value >> 3 & 511,
                value >> 12 & 0xF_FFFF
            ),
            Kind::Operation(level) => {
                format!("{prefix}{name} = {};\n", self.operation_name(level, *value))
            }
            Kind::Place => {
                let (store, at) = self.place(*value);
                format!("{prefix}{name} = store{store} + {at};\n")
            }
        }
    }

    /// What the context says of global variables.
    pub fn context(&self) -> String {
        let tables = self.tables.iter().filter(|table| table.computed).map(|table| table.name.as_str());
        let session = (!self.session.is_empty()).then_some("session");
        tables.chain(session).map(|name| format!("\n[global.{name}]\nconstant = true\n")).collect()
    }

    /// What the context says of the configuration's contents, one entry a line.
    pub fn known_contents(&self) -> String {
        let mut text = String::new();
        for member in self.config.iter().filter(|member| member.known) {
            let Member { at, value, .. } = member;
            match member.kind {
                Kind::Integer(size) => text += &integer(*at, size, *value),
                Kind::Flags => text += &integer(*at, 4, *value),
                Kind::Bytes(size) => {
                    text += &(0..size).map(|i| integer(at + i, 1, member.byte(i).into())).collect::<String>();
                }
                Kind::Operation(level) => {
                    let name = self.operation_name(level, *value);
                    text +=
                        &format!("    {{ at = {at}, type = \"ptr\", symbol = \"{name}\", offset = 0 }},\n");
                }
                Kind::Place => {
                    let (store, offset) = self.place(*value);
                    let symbol = format!("store{store}");
                    text += &format!(
                        "    {{ at = {at}, type = \"ptr\", symbol = \"{symbol}\", offset = {offset} }},\n"
                    );
                }
            }
        }
        text
    }
}

/// Whether something is known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Known {
    Yes,
    No,
}

impl Member {
    /// A byte of an array of bytes.
    pub fn byte(&self, at: usize) -> u8 {
        (self.value.rotate_right(at as u32 * 11) & 0xFF) as u8
    }
}

impl Table {
    fn elements(&self) -> String {
        let bits = self.width as u32 * 8;
        let element = |i: usize| (i as u64 + 3).wrapping_mul(self.factor).rotate_left(9) >> (64 - bits);
        (0..self.length).map(|i| format!("{}ul", element(i))).collect::<Vec<_>>().join(", ")
    }
}

/// Members of a structure, at least so many, and its size.
fn members(random: &mut Random, levels: &[Level], least: usize, stem: &str) -> (Vec<Member>, usize) {
    let mut end = 0usize;
    let mut align = 1;
    let mut members = Vec::new();
    for number in 0..least + random.below(6) {
        let kind = match random.below(10) {
            0..4 => Kind::Integer(*random.pick(&[1, 2, 4, 4, 8])),
            4 | 5 => Kind::Bytes(2 + random.below(7)),
            6 => Kind::Flags,
            7 | 8 => Kind::Operation(random.below(levels.len())),
            _ => Kind::Place,
        };
        let (size, its_align) = kind.size_and_align();
        let at = end.next_multiple_of(its_align);
        end = at + size;
        align = align.max(its_align);
        let value = if random.one_in(2) { random.bits() % 20 } else { random.bits() };
        members.push(Member { name: format!("{stem}{number}"), kind, at, known: !random.one_in(3), value });
    }
    (members, end.next_multiple_of(align))
}

fn structure(name: &str, members: &[Member]) -> String {
    let mut text = format!("struct {name} {{\n");
    for Member { name, kind, .. } in members {
        text += &match kind {
            Kind::Integer(size) => format!("u{} {name};\n", size * 8),
            Kind::Bytes(size) => format!("u8 {name}[{size}];\n"),
            Kind::Flags => format!("u32 : 0;\nu32 {name}_a : 3;\nu32 {name}_b : 9;\nu32 {name}_c : 20;\n"),
            Kind::Operation(level) => format!("operation{level} *{name};\n"),
            Kind::Place => format!("u8 *{name};\n"),
        };
    }
    text + "};\n"
}

/// Expressions for the words in a member, if it holds any.
fn word(name: &str, kind: Kind) -> Option<Vec<String>> {
    match kind {
        Kind::Integer(8) => Some(vec![format!("(u32)({name} >> 13)"), format!("(u32){name}")]),
        Kind::Integer(_) => Some(vec![format!("(u32){name}")]),
        Kind::Bytes(size) => Some((0..size).step_by(3).map(|at| format!("(u32){name}[{at}]")).collect()),
        Kind::Flags => {
            Some(vec![format!("(u32){name}_a"), format!("(u32){name}_b"), format!("(u32){name}_c")])
        }
        Kind::Operation(_) | Kind::Place => None,
    }
}

/// A known integer in the context.
fn integer(at: usize, size: usize, value: u64) -> String {
    let unused = 64 - size as u32 * 8;
    let value = (value << unused) as i64 >> unused;
    format!("    {{ at = {at}, type = \"i{}\", value = {value} }},\n", size * 8)
}
