//! Statements with pointers, unions and bit fields.

use super::Generator;
use super::scope::{Buffer, Object, Scope};

impl Generator {
    /// A second pointer into a buffer, or one into either of two, and something written through it.
    pub fn alias(&mut self, scope: &mut Scope) -> String {
        let first = self.part(scope, 4, true);
        let second = self.part(scope, 4, true);
        let name = self.name("alias");
        let (target, size, object) = match self.random.below(3) {
            0 => {
                let at = self.random.below(first.size - 1);
                (format!("{} + {at}", first.name), first.size - at, first.object)
            }
            1 => {
                let most = first.size / 2;
                (format!("{} + {}", first.name, self.below(scope, most + 1)), first.size - most, first.object)
            }
            _ => {
                let condition = self.condition(scope, 1);
                let size = first.size.min(second.size);
                (format!("{condition} ? {} : {}", first.name, second.name), size, Object::Anything)
            }
        };
        let at = self.below(scope, size);
        let written = format!("{name}[{at}] = (u8){};\n", self.word(scope, 2));
        scope.buffers.push(Buffer { name: name.clone(), size, object, writable: true });
        format!("u8 *{name} = {target};\n{written}")
    }

    /// Moves the global pointer, or writes through it.
    pub fn cursor(&mut self, scope: &mut Scope) -> String {
        let store = self.random.below(self.state.stores.len());
        let at = self.below(scope, self.state.stores[store] - 7);
        match self.random.below(3) {
            0 => format!("cursor = store{store} + {at};\n"),
            1 => format!("cursor = {} ? store{store} : cursor;\n", self.condition(scope, 1)),
            _ => format!("cursor[{}] = (u8){};\n", self.below(scope, 8), self.word(scope, 1)),
        }
    }

    /// The same bytes as another type.
    pub fn pun(&mut self, scope: &mut Scope) -> String {
        let from = self.part(scope, 8, false);
        let name = self.name("pun");
        let at = self.below(scope, from.size - 7);
        let source = format!("{} + {at}", from.name);
        let text = match self.random.below(4) {
            0 => format!(
                "union pun {name}u;\nmemcpy({name}u.bytes, {source}, 8u);\n\
                 u32 {name} = {name}u.words[1] ^ {name}u.halves[0];\n"
            ),
            1 => {
                format!("u64 {name}d;\nmemcpy(&{name}d, {source}, 8u);\nu32 {name} = (u32)({name}d >> 11);\n")
            }
            2 => {
                let value = self.word(scope, 1);
                format!(
                    "float {name}f = (float)({value} & 4095u) * 0.25f;\nu32 {name};\nmemcpy(&{name}, &{name}f, 4u);\n"
                )
            }
            _ => {
                let value = self.word(scope, 1);
                let store = self.part(scope, 8, true);
                format!(
                    "double {name}f = (double){value} / 3.0;\nmemcpy({}, &{name}f, 8u);\nu32 {name};\n\
                     memcpy(&{name}, {}, 4u);\n",
                    store.name, store.name
                )
            }
        };
        scope.declare(&name);
        text
    }

    /// Bit fields of a local structure.
    pub fn bits(&mut self, scope: &mut Scope) -> String {
        let name = self.name("bits");
        let (known, any) = (self.known_word(scope, 1), self.word(scope, 1));
        let (mode, offset) = (self.word(scope, 1), self.random.range(-5, 5));
        scope.words.push(format!("(u32){name}.length"));
        scope.words.push(format!("(u32){name}.offset"));
        scope.words.push(format!("(u32){name}.mode"));
        format!(
            "struct bits {name} = {{ {known} & 15u, {any} & 8191u, {offset}, 0 }};\n\
             if ({name}.version & 1u) {name}.mode = {mode} & 63u;\n{name}.offset = -{name}.offset;\n"
        )
    }
}
