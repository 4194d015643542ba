//! Functions and types that all functions of a program share: structures by value, recursion with and without something
//! after the call, digests.

use super::Generator;
use super::scope::Scope;
use std::fmt::Write;

/// What doesn't depend on the program.
const FIXED: &str = "\
struct node { struct node *next; u32 length; u8 bytes[8]; };
struct message { u32 kind; u16 xid; u16 length; u8 payload[16]; };
struct pair { u32 first; u32 second; };
extern u8 *cursor;
union pun { u8 bytes[8]; u16 halves[4]; u32 words[2]; };
struct writer { u8 *to; u32 left; u32 mode; u32 sum; };
struct bits { u32 version : 4; u32 length : 13; i32 offset : 7; u32 mode : 6; };
static u32 digest(const u8 *bytes, u32 length) {
u32 sum = 5381u;
for (u32 i = 0; i < length; i++) sum = sum * 33u ^ bytes[i];
return sum;
}
static u32 drain(struct writer *writer, u32 *words, u32 count, u32 step) {
u32 done = 0u;
for (u32 i = 0u; i < count; i++) {
if (writer->left < step) return 0u;
writer->left -= step;
words[i & 7u] ^= writer->to[i & 3u] * 3u + i;
done++;
}
return done;
}
static u32 put(struct writer *writer, u32 value) {
if (writer->left == 0u) return 0u;
writer->left--;
*writer->to++ = (u8)value;
writer->sum = writer->sum * 3u + value;
return 1u;
}
";

/// What `follow` does when the call of itself has given `below`: the first do nothing that a caller could tell from
/// giving it back, the others do something.
const AFTER: [&str; 12] = [
    "return below;",
    "return below != 0u;",
    "if (!below) return 0u;\nreturn writer->mode == 9u ? 0u : 1u;",
    "return below == 1u ? 1u : below;",
    "if (writer->mode == 2u) writer->sum++;\nreturn below;",
    "return below + 1u;",
    "writer->left ^= 1u;\nreturn below;",
    "bytes[a & 3u] += (u8)below;\nreturn below;",
    "return below == 7u ? b : below;",
    "return b > 200u ? 0u : below;",
    "return b;",
    "writer->sum = b;\nreturn below;",
];

/// What `walk` does when the call of itself has given `below`.
const WALKED: [&str; 9] = [
    "return first ? own : below;",
    "return own == 8u ? 8u : below;",
    "return below;",
    "return below ? below : own;",
    "return own;",
    "return first ? below : own;",
    "return below + own;",
    "return node->length;",
    "if (own > 3u) return below;\nreturn 5u;",
];

impl Generator {
    /// The functions, which every file has its own copies of.
    pub fn helpers(&mut self) -> String {
        let mut scope = Scope::of_level(0);
        scope.words = ["a", "b"].map(String::from).to_vec();
        let buffer = |name: &str| super::scope::Buffer {
            name: name.to_string(),
            size: 4,
            object: super::scope::Object::Given,
            writable: true,
        };
        scope.buffers = vec![buffer("bytes")];
        let noinline = ["", "__attribute__((noinline)) "];
        let [mix, answer, descend, follow, walk] = [(); 5].map(|()| *self.random.pick(&noinline));
        let first = self.word(&scope, 2);
        let second = self.word(&scope, 2);
        let change = self.word(&scope, 2);
        let written = self.word(&scope, 2);
        let after = *self.random.pick(&AFTER);
        let end = self.random.pick(&["1u", "7u", "writer->left != 3u", "b"]).to_string();
        let walked = *self.random.pick(&WALKED);
        let own = *self.random.pick(&["length", "bytes[0]", "bytes[0] & 1u"]);
        let (kept, released) = match self.random.one_in(3) {
            true => {
                ("u32 *kept = malloc(4u);\nif (kept) *kept = own;\n", "if (kept) own = *kept;\nfree(kept);\n")
            }
            false => ("", ""),
        };
        // That `walk` looks at `cursor`, which is never null, is for clang 16: it takes recursion that only reads
        // through its parameters for one that reads nothing but what the first arguments point to, and leaves out
        // stores.
        let down = *self.random.pick(&["bytes", "bytes", "own"]);
        let at = self.random.below(16);
        let taken = self.random.range(1, 2);
        format!(
            "{FIXED}static {mix}struct pair mix(struct config *config, const u8 *bytes, u32 a, u32 b) {{\n\
             struct pair result = {{ {first}, {second} }};\nreturn result;\n}}\n\
             static {answer}struct message answer(struct message question, u32 a) {{\n\
             question.kind += a;\nquestion.payload[{at}] ^= (u8)a;\nquestion.xid = (u16)(question.xid * 3u);\n\
             return question;\n}}\n\
             static {descend}u32 descend(struct config *config, u8 *bytes, u32 a) {{\n\
             u8 own[4];\nu32 b = a * 77u;\nif (a == 0u) return bytes[0] + 1u;\nmemcpy(own, bytes, 4u);\n\
             own[a & 3u] = (u8)({change});\nu32 below = descend(config, own, a > {taken}u ? a - {taken}u : 0u);\n\
             bytes[(a + 1u) & 3u] = own[1];\nreturn below * 5u + b;\n}}\n\
             static {follow}u32 follow(struct config *config, struct writer *writer, u8 *bytes, u32 a) {{\n\
             u8 own[4];\nu32 b = bytes[a & 3u];\nmemcpy(own, bytes, 4u);\nown[a & 3u] ^= (u8)5u;\n\
             if (!put(writer, {written})) return 0u;\nif (a == 0u) return {end};\n\
             u32 below = follow(config, writer, {down}, a - 1u);\n{after}\n}}\n\
             static {walk}u32 walk(const struct node *node, u32 first) {{\n\
             u32 own = node->{own}, below = 0u;\n{kept}if (node->next && cursor) below = walk(node->next, 0u);\n\
             {released}{walked}\n}}\n"
        )
    }

    /// A call of one of them.
    pub fn call_of_helper(&mut self, scope: &mut Scope) -> String {
        let name = self.name("y");
        let bytes = self.part(scope, 4, true);
        let mut text = match self.random.below(4) {
            0 => {
                let (a, b) = (self.word(scope, 1), self.known_word(scope, 1));
                scope.words.push(format!("{name}.first"));
                scope.words.push(format!("{name}.second"));
                return format!("struct pair {name} = mix(config, {}, {a}, {b});\n", bytes.name);
            }
            1 => format!("u32 {name} = descend(config, {}, {});\n", bytes.name, self.below(scope, 6)),
            2 => {
                let (left, step) = (self.word(scope, 1), self.random.range(1, 5));
                let count = self.below(scope, 12);
                scope.words.extend([format!("{name}a[3]"), format!("{name}w.left")]);
                format!(
                    "u32 {name}a[8] = {{ 0 }};\nstruct writer {name}w = {{ {}, {left} & 63u, 0u, 0u }};\n\
                     u32 {name} = drain(&{name}w, {name}a, {count}, {step}u);\n",
                    bytes.name
                )
            }
            _ => {
                let (left, mode) = (self.random.range(1, 8), self.random.below(4));
                let depth = self.below(scope, 9);
                self.declare_buffer(scope, format!("{name}b"), 8);
                scope.words.push(format!("{name}w.sum"));
                format!(
                    "u8 {name}b[8] = {{ 0 }};\nstruct writer {name}w = {{ {name}b, {left}u, {mode}u, 0u }};\n\
                     u32 {name} = follow(config, &{name}w, {}, {depth});\n",
                    bytes.name
                )
            }
        };
        // Else the program may not need to know.
        if self.random.one_in(2) {
            writeln!(text, "sum ^= {name};").expect("a string");
        }
        scope.declare(&name);
        text
    }
}
