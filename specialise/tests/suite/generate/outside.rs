//! Calls to functions that only the harness defines, which read, change or remember the buffers they are given.

use super::Generator;
use super::scope::Scope;

impl Generator {
    /// A call that is over when it returns.
    pub fn outside(&mut self, scope: &mut Scope) -> String {
        let bytes = self.part(scope, 1, true);
        let length = self.below(scope, bytes.size + 1);
        match self.random.below(3) {
            0 => format!("outside_see({}, {length});\n", bytes.name),
            1 => format!("sum ^= outside_poll({});\n", self.word(scope, 1)),
            _ => format!("outside_change({}, {}, {length});\n", self.word(scope, 1), bytes.name),
        }
    }

    /// A block during which a buffer is remembered outside, where any call may change it.
    pub fn lending(&mut self, scope: &Scope, depth: usize) -> String {
        let bytes = self.part(scope, 1, true);
        let mut inner = scope.clone();
        inner.may_return = false;
        let poll = format!("sum += outside_poll({});\n", self.word(scope, 1));
        let body = self.block(&inner, depth);
        let after = if self.random.one_in(2) { poll.clone() } else { String::new() };
        let name = &bytes.name;
        format!("outside_keep({name}, {}u);\n{{\n{poll}{body}{after}}}\noutside_forget();\n", bytes.size)
    }
}
