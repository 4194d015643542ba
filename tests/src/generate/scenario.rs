//! Components that run steps: the entry component, and components that run theirs at the request of their holder.

use super::computations::LOOPS;
use super::{Generator, Step, declarations, fold};

impl Generator {
    /// The whole program.
    pub fn entry(&mut self) -> String {
        let functions = self.new_functions();
        let own = self.functions.clone();
        let mut all = Step::default();
        all.statements += &format!("acc := {};\n", self.random.below(1000));
        for mut step in self.steps(0) {
            self.functions.clone_from(&own);
            let report = self.report();
            step.statements += &report;
            all.append(step);
        }
        self.functions.clone_from(&own);
        let ending = self.ending();
        let where_to = self.random.below(3);
        all.variables.extend(["acc: INTEGER".into(), LOOPS.into()]);
        let (begin, activity) = match where_to {
            0 => (String::new(), all.statements + &ending.statements),
            1 => (all.statements, ending.statements),
            _ => (all.statements + &ending.statements, String::new()),
        };
        let finally = if self.random.one_in(2) { "WRITE(\"end \"); WRITE(acc); WRITELINE\n" } else { "" };
        let outside = self.random.one_in(2);
        let templates = all.templates + &ending.templates;
        let (before, inside) = if outside { (templates, String::new()) } else { (String::new(), templates) };
        all.variables.extend(ending.variables);
        format!(
            "{before}COMPONENT {{VIRTUAL}} Main;\n{inside}{}{functions}{}{}BEGIN\n{begin}ACTIVITY\n\
             {activity}FINALLY\n{finally}END Main;\n",
            declarations(&all.variables),
            all.procedures,
            ending.procedures,
        )
    }

    /// A component whose service runs steps. Some of its instances run at the same time.
    pub fn scenario(&mut self, depth: usize) -> Step {
        let around = std::mem::take(&mut self.functions);
        self.repeated += 1;
        let (interface, component, variable) = (self.name("Run"), self.name("Scenario"), self.name("s"));
        let functions = self.new_functions();
        let own = self.functions.clone();
        let mut inside = Step::default();
        for step in self.steps(depth) {
            self.functions.clone_from(&own);
            inside.append(step);
        }
        self.functions = around;
        self.repeated -= 1;
        inside.variables.push("acc: INTEGER".into());
        let nested = self.random.one_in(2);
        let (outer, inner) =
            if nested { (inside.procedures, String::new()) } else { (String::new(), inside.procedures) };
        let mut step = Step::declaring(format!(
            "INTERFACE {interface};\nIN Run(n: INTEGER) OUT Result(n: INTEGER)\nEND {interface};
COMPONENT {component} OFFERS {interface};
{}{functions}{outer}IMPLEMENTATION {interface};
{}{inner}BEGIN
?Run(acc);
{}!Result(acc)
END {interface};
END {component};
",
            inside.templates,
            declarations(&inside.variables),
            inside.statements,
        ));
        let (i, x) = (self.name("i"), self.name("x"));
        let count = 1 + self.random.below(4);
        step.variables = vec![format!("{variable}[i: INTEGER]: {component}"), format!("{i}, {x}: INTEGER")];
        step.statements = format!(
            "FOR {i} := 1 TO {count} DO NEW({variable}[{i}]); {variable}[{i}]!Run({i} * 17 + acc MOD 100) END;
FOREACH {i} OF {variable} DO {variable}[{i}]?Result({x}); {}{}END;
",
            fold(&x),
            if self.random.one_in(2) { format!("DELETE({variable}[{i}])\n") } else { String::new() },
        );
        step
    }

    /// Writes what has been computed so far.
    fn report(&mut self) -> String {
        match self.random.below(5) {
            0 => "WRITEHEX(acc); WRITELINE;\n".into(),
            1 => format!("WRITE({}); WRITE(\" \"); WRITE(acc); WRITELINE;\n", self.text(&["acc"], 1)),
            2 => format!("WRITE({}); WRITE(\" \"); WRITE(acc); WRITELINE;\n", self.condition(&["acc"], 1)),
            3 => "WRITE(acc / 8.0); WRITELINE;\n".into(),
            _ => "WRITE(acc); WRITELINE;\n".into(),
        }
    }
}

impl Step {
    /// Adds another step after this one.
    pub fn append(&mut self, other: Step) {
        self.templates += &other.templates;
        self.procedures += &other.procedures;
        self.variables.extend(other.variables);
        self.statements += &other.statements;
    }
}
