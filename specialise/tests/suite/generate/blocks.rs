//! Compound statements: branches and loops, with known and unknown conditions and bounds.

use super::Generator;
use super::scope::Scope;

impl Generator {
    /// A statement with blocks whose statements have blocks no deeper than that.
    pub fn compound(&mut self, scope: &mut Scope, depth: usize) -> String {
        match self.random.below(11) {
            0..3 => self.branch(scope, depth),
            3 => self.sides(scope),
            4 => self.switch(scope, depth),
            5 if scope.may_return => self.leaving(scope, depth),
            6 => self.lending(scope, depth),
            _ if scope.loops < 2 => self.repetition(scope, depth),
            _ => self.branch(scope, depth),
        }
    }

    fn branch(&mut self, scope: &Scope, depth: usize) -> String {
        let mut text = format!("if ({}) {{\n{}", self.condition(scope, 2), self.block(scope, depth));
        if self.random.one_in(2) {
            text += &format!("}} else if ({}) {{\n{}", self.condition(scope, 1), self.block(scope, depth));
        }
        if self.random.one_in(2) {
            text += &format!("}} else {{\n{}", self.block(scope, depth));
        }
        text + "}\n"
    }

    /// Two sides that write the same or different buffers, as the paper's Figure 3 does.
    fn sides(&mut self, scope: &Scope) -> String {
        let to = [self.part(scope, 1, true), self.part(scope, 1, true)];
        let from = [self.part(scope, 1, false), self.part(scope, 1, false)];
        let condition = self.word(scope, 1);
        format!(
            "if ({condition} & 1u) {{\n{}}} else {{\n{}}}\n",
            self.copy(scope, &to[0], &from[0]),
            self.copy(scope, &to[1], &from[1])
        )
    }

    fn switch(&mut self, scope: &Scope, depth: usize) -> String {
        let subject = if self.random.one_in(2) { self.word(scope, 1) } else { self.known_word(scope, 1) };
        let mut text = format!("switch ({subject} % 7u) {{\n");
        for case in 0..2 + self.random.below(4) {
            let ending = if self.random.one_in(4) { "/* falls through */" } else { "break;" };
            text += &format!("case {case}u: {{\n{}}}\n{ending}\n", self.block(scope, depth));
        }
        if self.random.one_in(2) {
            text += &format!("default: {{\n{}}}\n", self.block(scope, depth));
        }
        text + "}\n"
    }

    fn leaving(&mut self, scope: &Scope, depth: usize) -> String {
        let condition = self.condition(scope, 2);
        format!("if ({condition}) {{\n{}return {};\n}}\n", self.block(scope, depth), self.word(scope, 1))
    }

    fn repetition(&mut self, scope: &Scope, depth: usize) -> String {
        let name = self.name("k");
        let mut inner = scope.clone();
        inner.loops += 1;
        let most = 1 + self.random.below(if scope.loops == 0 { 8 } else { 4 });
        let bound = self.below(scope, most + 1);
        let leaving = self.condition(scope, 1);
        let exits = if self.random.one_in(3) {
            format!("if ({leaving}) {};\n", self.random.pick(&["break", "continue"]))
        } else {
            String::new()
        };
        match self.random.below(6) {
            kind @ 0..4 => {
                inner.known.push(name.clone());
                let heading = match kind {
                    0 => format!("for (u32 {name} = 0; {name} < {most}u; {name}++)"),
                    1 => format!("for (u32 {name} = 0; {name} < {bound}; {name}++)"),
                    2 => format!("for (u32 {name} = {bound}; {name}-- > 0u;)"),
                    _ => format!("for (u32 {name} = {bound}; {name} < {}u; {name} += 2u)", most + 2),
                };
                // A bound that the body could change is evaluated once, or the loop might go on for ever.
                let (limit, heading) = match kind {
                    1 => (
                        format!("u32 {name}m = {bound};\n"),
                        format!("for (u32 {name} = 0; {name} < {name}m; {name}++)"),
                    ),
                    _ => (String::new(), heading),
                };
                format!("{limit}{heading} {{\n{exits}{}}}\n", self.block(&inner, depth))
            }
            4 => {
                let condition = self.condition(scope, 1);
                let body = self.block(&inner, depth);
                format!("u32 {name} = {bound};\nwhile ({name}-- > 0u && {condition}) {{\n{exits}{body}}}\n")
            }
            _ => {
                inner.known.push(name.clone());
                let body = self.block(&inner, depth);
                let condition = self.condition(scope, 1);
                format!(
                    "u32 {name} = 0;\ndo {{\n{exits}{body}}} while (++{name} < {most}u && {condition});\n"
                )
            }
        }
    }
}
