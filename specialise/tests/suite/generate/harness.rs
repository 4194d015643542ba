//! The text of the harness: it defines the functions outside, sets the state before each run, and observes it after.

use super::Generator;
use super::arguments::PARAMETERS;
use super::state::{Kind, Member};

/// What does not depend on the program, at the start: random numbers, observation, and the functions outside.
const START: &str = r#"
int printf(const char *, ...);
typedef u32 entry_function(PARAMETERS);
struct variant { const char *name; entry_function *run; };
static u64 random_state;
static u32 next(void) {
random_state = random_state * 6364136223846793005ul + 1442695040888963407ul;
return (u32)(random_state >> 33);
}
static u64 next64(void) {
u64 high = next();
return high << 40 ^ (u64)next() << 17 ^ next();
}
static void scatter(u8 *bytes, u32 length) {
for (u32 i = 0; i < length; i++) bytes[i] = (u8)next();
}
static u64 fold(u64 sum, const u8 *bytes, u32 length) {
for (u32 i = 0; i < length; i++) sum = (sum ^ bytes[i]) * 1099511628211ul;
return sum;
}
struct observation { const char *what; u64 value; };
struct observations { u32 count; struct observation all[100]; };
static void note(struct observations *to, const char *what, u64 value) {
to->all[to->count].what = what;
to->all[to->count++].value = value;
}
static void note_bytes(struct observations *to, const char *what, const void *bytes, u32 length) {
note(to, what, fold(7, bytes, length));
}
static u64 events;
static u32 event_count;
static u32 kept_count;
static struct { u8 *bytes; u32 length; } kept[64];
static void happen(u32 what, const u8 *bytes, u32 length) {
u32 seen[3] = { what, ticks, store0[3] };
events = fold(fold(events, (const u8 *)seen, sizeof seen), bytes, length);
event_count++;
}
void outside_change(u32 tag, u8 *bytes, u32 length) {
happen(tag, bytes, length);
for (u32 i = 0; i < length; i += 3) bytes[i] = (u8)(bytes[i] * 5 + tag + event_count);
store0[event_count % 16u] ^= (u8)tag;
}
void outside_see(const u8 *bytes, u32 length) {
happen(1000003u, bytes, length);
}
void outside_keep(u8 *bytes, u32 length) {
happen(length, bytes, 0);
kept[kept_count].bytes = bytes;
kept[kept_count++].length = length;
}
u32 outside_poll(u32 tag) {
u32 sum = tag;
for (u32 i = 0; i < kept_count; i++) {
happen(tag, kept[i].bytes, kept[i].length);
sum = sum * 31u + kept[i].bytes[tag % kept[i].length];
kept[i].bytes[(tag + i) % kept[i].length] += 77;
}
happen(tag, 0, 0);
return sum;
}
void outside_forget(void) {
happen(2u, 0, 0);
kept_count--;
}
static struct config config;
static u8 arena[256] __attribute__((aligned(16)));
static u32 in_at, out_at, in_length;
static u32 place_of(const u8 *place) {
"#;

/// What does not depend on the program, at the end.
pub const MAIN: &str = r#"
static void observe(entry_function *run, u32 round, struct observations *to) {
to->count = 0;
reset(round);
note(to, "the result", run(&config, arena + in_at, in_length, arena + out_at));
note(to, "the calls to functions outside", events);
note(to, "what functions outside keep", kept_count);
observe_state(to);
}
int main(void) {
int failed = 0;
init();
for (u32 round = 0; round < 12u; round++) {
static struct observations wanted, found;
observe(run, round, &wanted);
u64 sum = 0;
for (u32 i = 0; i < wanted.count; i++) sum = sum * 31 + wanted.all[i].value;
printf("round %u: %016lx, %u calls outside\n", round, sum, event_count);
for (const struct variant *variant = variants; variant->name; variant++) {
observe(variant->run, round, &found);
for (u32 i = 0; i < wanted.count; i++) {
if (wanted.all[i].value == found.all[i].value) continue;
printf("round %u: %s differs in %s: %lx, but should be %lx\n", round, variant->name,
wanted.all[i].what, found.all[i].value, wanted.all[i].value);
failed = 1;
}
}
}
return failed;
}
"#;

impl Generator {
    /// The harness, up to where the specialised forms are listed.
    pub fn harness_text(&self) -> String {
        let mut text = START.replace("PARAMETERS", PARAMETERS);
        for (number, size) in self.state.stores.iter().enumerate() {
            let known = format!("place >= store{number} && place < store{number} + {size}");
            text += &format!("if ({known}) return {number}000u + (u32)(place - store{number});\n");
        }
        text + "return 99u;\n}\n" + &self.reset() + &self.observation()
    }

    fn reset(&self) -> String {
        let mut text =
            "static void reset(u32 round) {\nrandom_state = round * 977u + 5u;\nnext();\n".to_string();
        text += "events = 1;\nevent_count = 0;\nkept_count = 0;\nticks = next();\nscatter(arena, sizeof arena);\n";
        for (number, size) in self.state.stores.iter().enumerate() {
            text += &format!("scatter(store{number}, {size}u);\n");
        }
        for (number, size) in self.state.counters.iter().enumerate() {
            text += &format!("counter{number} = (u{})next64();\n", size * 8);
        }
        text += &self.random_place("cursor");
        for member in &self.state.config {
            text += &match member.known {
                true => self.state.assignment("config.", member),
                false => self.random_member(member),
            };
        }
        format!("{text}{}}}\n", self.reset_arguments())
    }

    fn reset_arguments(&self) -> String {
        let align = self.arguments.align;
        let step = self.arguments.in_size.div_ceil(align);
        let positions = if self.arguments.unaliased {
            format!("in_at = {align}u;\nout_at = {align}u * {}u;\n", 1 + step)
        } else {
            format!(
                "in_at = {align}u * (next() % {}u);\nout_at = {align}u * (next() % {}u);\n",
                step + 1,
                step + 1
            )
        };
        format!("{positions}in_length = {};\n", self.arguments.length())
    }

    fn random_member(&self, member: &Member) -> String {
        let name = format!("config.{}", member.name);
        match member.kind {
            Kind::Integer(size) => {
                format!("{name} = (u{})(next() % 3u ? next64() : next() % 16u);\n", size * 8)
            }
            Kind::Bytes(size) => format!("scatter({name}, {size}u);\n"),
            Kind::Flags => {
                format!("{name}_a = next() & 7u;\n{name}_b = next() & 511u;\n{name}_c = next() & 1048575u;\n")
            }
            Kind::Operation(level) => {
                format!("{name} = operations{level}[next() % {}u];\n", self.levels[level].names.len())
            }
            Kind::Place => self.random_place(&name),
        }
    }

    fn random_place(&self, name: &str) -> String {
        let last = self.state.stores.len() - 1;
        let size = |store: usize| self.state.stores[store] - 7;
        let one = |store: usize| format!("store{store} + next() % {}u", size(store));
        format!("if (next() & 1u) {name} = {};\nelse {name} = {};\n", one(0), one(last))
    }

    fn observation(&self) -> String {
        let mut text = "static void observe_state(struct observations *to) {\n".to_string();
        let bytes = |name: &str| format!("note_bytes(to, \"{name}\", {name}, sizeof {name});\n");
        let value = |name: &str| format!("note(to, \"{name}\", {name});\n");
        text += &bytes("arena");
        text +=
            &(0..self.state.stores.len()).map(|number| bytes(&format!("store{number}"))).collect::<String>();
        text += &(0..self.state.counters.len())
            .map(|number| value(&format!("counter{number}")))
            .collect::<String>();
        text += &self.state.tables.iter().map(|table| bytes(&table.name)).collect::<String>();
        text += &value("ticks");
        text += "note(to, \"cursor\", place_of(cursor));\n";
        let config = self.state.config.iter().map(|member| ("config.", member));
        for (prefix, member) in config.chain(self.state.session.iter().map(|member| ("session.", member))) {
            let name = format!("{prefix}{}", member.name);
            text += &match member.kind {
                Kind::Integer(_) => value(&name),
                Kind::Bytes(_) => bytes(&name),
                Kind::Flags => ["a", "b", "c"].map(|bits| value(&format!("{name}_{bits}"))).concat(),
                Kind::Operation(level) => (0..self.levels[level].names.len())
                    .map(|at| format!("note(to, \"{name}\", {name} == operations{level}[{at}]);\n"))
                    .collect(),
                Kind::Place => format!("note(to, \"{name}\", place_of({name}));\n"),
            };
        }
        text + "}\n"
    }
}
