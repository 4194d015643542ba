//! Random protocols, with a client and a server that follow them.
//!
//! In every state only one side may send: an optional part is followed by a part that starts in the same direction, and
//! never ends a sequence. Each message name occurs once, so the first message tells which part has begun.

use super::{Generator, Step, declarations, fold};

/// The direction of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    In,
    Out,
}

enum Part {
    Message { way: Way, name: String, types: Vec<&'static str> },
    Choice(Vec<Vec<Part>>),
    Option(Vec<Part>),
    Repeated(Vec<Part>),
}

/// The side of the communication for which statements are generated.
#[derive(Clone, Copy)]
struct Side<'a> {
    sends: Way,
    /// The text before `!` and `?`.
    channel: &'a str,
    /// The number of enclosing loops.
    loops: usize,
}

/// The variables that either side declares.
const RECEIVED: [&str; 5] = [
    "acc, l0, l1, l2, l3, n0, n1, n2: INTEGER",
    "r0, r1, r2: REAL",
    "t0, t1, t2: TEXT",
    "b0, b1, b2: BOOLEAN",
    "c0, c1, c2: CHARACTER",
];

fn received() -> String {
    declarations(&RECEIVED.map(String::from))
}

impl Generator {
    /// Clients and servers of a random protocol.
    pub fn protocol(&mut self) -> Step {
        let interface = self.name("Protocol");
        let start = if self.random.one_in(4) { Way::Out } else { Way::In };
        let parts = self.sequence(start, 2);
        // A protocol that the server starts runs once in each communication. Others run in a loop, or in one
        // communication for each round.
        let looped = start == Way::In && self.random.one_in(2);
        let text = written(&parts);
        let text = if looped { format!("{{ {text} }}") } else { text };
        let mut step = Step::declaring(format!("INTERFACE {interface};\n{text}\nEND {interface};\n"));
        let server = self.server_of(&interface, &parts, looped, &mut step);
        let rounds = if start == Way::In { 1 + self.random.below(3) } else { 1 };
        if self.random.one_in(3) {
            self.own_client(&server, &parts, rounds, &mut step);
        } else {
            self.client_components(&interface, &server, &parts, rounds, &mut step);
        }
        step
    }

    fn sequence(&mut self, first: Way, depth: usize) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut way = first;
        for _ in 0..self.random.below(4) {
            match self.random.below(if depth == 0 { 2 } else { 6 }) {
                0..3 => parts.push(self.message(way)),
                3 => parts.push(self.choice(way, depth)),
                4 => {
                    parts.push(Part::Option(self.sequence(way, depth - 1)));
                    continue;
                }
                _ => {
                    parts.push(Part::Repeated(self.sequence(way, depth - 1)));
                    continue;
                }
            }
            way = *self.random.pick(&[Way::In, Way::Out]);
        }
        let last =
            if depth > 0 && self.random.one_in(4) { self.choice(way, depth) } else { self.message(way) };
        parts.push(last);
        parts
    }

    fn message(&mut self, way: Way) -> Part {
        let types = ["INTEGER", "INTEGER", "REAL", "TEXT", "BOOLEAN", "CHARACTER"];
        let types = (0..self.random.below(4)).map(|_| *self.random.pick(&types)).collect();
        Part::Message { way, name: self.name("M"), types }
    }

    fn choice(&mut self, way: Way, depth: usize) -> Part {
        Part::Choice((0..2 + self.random.below(2)).map(|_| self.sequence(way, depth - 1)).collect())
    }

    /// A server, perhaps inside another component. The result is the template's name.
    fn server_of(&mut self, interface: &str, parts: &[Part], looped: bool, step: &mut Step) -> String {
        let component = self.name("Server");
        let side = Side { sends: Way::Out, channel: "", loops: 0 };
        let (functions, body) = self.component(|own| own.walk(parts, side));
        let body = if looped {
            let test = tests(&first(parts), "");
            format!("WHILE {test} DO\n{body}END;\n")
        } else {
            body
        };
        step.templates += &format!(
            "COMPONENT {component} OFFERS {interface};\n{functions}IMPLEMENTATION {interface};\n{}BEGIN\n\
             {body}END {interface};\nEND {component};\n",
            received()
        );
        self.hosted(interface, component, step)
    }

    /// The holder itself is the client.
    fn own_client(&mut self, server: &str, parts: &[Part], rounds: usize, step: &mut Step) {
        let name = self.name("Talk");
        let side = Side { sends: Way::In, channel: "server", loops: 0 };
        let body = self.walk(parts, side);
        step.procedures += &format!(
            "PROCEDURE {name}(start: INTEGER): INTEGER;\nVARIABLE server: {server};\n\
             VARIABLE round: INTEGER;\n{}BEGIN\nacc := start;\nNEW(server);\nFOR round := 1 TO {rounds} DO\n\
             {body}END;\nRETURN acc\nEND {name};\n",
            received()
        );
        step.statements = format!("acc := {name}(acc);\n");
    }

    /// Several components are clients of one server at the same time.
    fn client_components(
        &mut self,
        interface: &str,
        server: &str,
        parts: &[Part],
        rounds: usize,
        step: &mut Step,
    ) {
        let (run, client) = (self.name("Run"), self.name("Client"));
        let (s, c, i, x) = (self.name("s"), self.name("c"), self.name("i"), self.name("x"));
        let side = Side { sends: Way::In, channel: interface, loops: 0 };
        let (functions, body) = self.component(|own| own.walk(parts, side));
        step.templates += &format!(
            "INTERFACE {run};\nIN Run(n: INTEGER) OUT Result(n: INTEGER)\nEND {run};
COMPONENT {client} OFFERS {run} REQUIRES {interface};
{functions}IMPLEMENTATION {run};
VARIABLE round: INTEGER;
{}BEGIN {{EXCLUSIVE}}
?Run(acc);
FOR round := 1 TO {rounds} DO
{body}END;
!Result(acc)
END {run};
END {client};
",
            received()
        );
        let count = 1 + self.random.below(5);
        step.variables = vec![
            format!("{s}: {server}"),
            format!("{c}[i: INTEGER]: {client}"),
            format!("{i}, {x}: INTEGER"),
        ];
        let client_i = format!("{c}[{i}]");
        let wiring = self.wire(interface, &client_i, &s, Some(&i), step);
        step.statements = format!(
            "NEW({s});
FOR {i} := 1 TO {count} DO NEW({client_i}); {client_i}!Run({i} + acc MOD 50);\n{wiring}END;
FOR {i} := 1 TO {count} DO {client_i}?Result({x}); {}END;
",
            fold(&x)
        );
    }

    /// The statements of one side.
    fn walk(&mut self, parts: &[Part], side: Side) -> String {
        parts.iter().map(|part| self.part(part, side)).collect()
    }

    fn part(&mut self, part: &Part, side: Side) -> String {
        let channel = side.channel;
        match part {
            Part::Message { way, name, types } if *way == side.sends => {
                let arguments: Vec<_> = types.iter().map(|ty| self.argument(ty)).collect();
                let advance = fold(&self.random.below(100).to_string());
                format!("{channel}!{name}{};\n{advance}", parenthesised(&arguments))
            }
            Part::Message { name, types, .. } => {
                let (targets, folds) = brought(types, "");
                format!("{channel}?{name}{};\n{folds}", parenthesised(&targets))
            }
            Part::Choice(alternatives)
                if alternatives.iter().all(|one| begins_with_message(one, side)) && self.random.one_in(2) =>
            {
                let last = alternatives.len() - usize::from(self.random.one_in(4));
                let selects = last == alternatives.len() && self.random.one_in(2);
                let before = if selects { format!("{channel}?") } else { String::new() };
                let branches: String =
                    alternatives[..last].iter().map(|one| self.branch(one, side, &before)).collect();
                if selects {
                    return format!("SELECT\n{branches}END;\n");
                }
                let rest = alternatives[last..].iter().map(|one| format!("ELSE\n{}", self.walk(one, side)));
                let rest: String = rest.collect();
                format!("CASE {channel}? OF\n{branches}{rest}END;\n")
            }
            Part::Choice(alternatives) => {
                let mut text = String::new();
                for (at, alternative) in alternatives.iter().enumerate() {
                    let body = self.walk(alternative, side);
                    let condition = self.decision(&first(alternative), side);
                    text += &match at {
                        0 => format!("IF {condition} THEN\n{body}"),
                        _ if at + 1 == alternatives.len() => format!("ELSE\n{body}END;\n"),
                        _ => format!("ELSIF {condition} THEN\n{body}"),
                    };
                }
                text
            }
            Part::Option(inner) if begins_with_message(inner, side) && self.random.one_in(2) => {
                format!("CASE {channel}? OF\n{}ELSE\nEND;\n", self.branch(inner, side, ""))
            }
            Part::Option(inner) => {
                let condition = self.decision(&first(inner), side);
                format!("IF {condition} THEN\n{}END;\n", self.walk(inner, side))
            }
            Part::Repeated(inner) if begins_with_message(inner, side) && self.random.one_in(2) => {
                let branch = self.branch(inner, Side { loops: side.loops + 1, ..side }, "");
                format!("WHILE TRUE DO\nCASE {channel}? OF\n{branch}ELSE EXIT\nEND\nEND;\n")
            }
            Part::Repeated(inner) => {
                let firsts = first(inner);
                let body = self.walk(inner, Side { loops: side.loops + 1, ..side });
                if firsts[0].0 == side.sends {
                    format!("FOR l{} := 1 TO acc MOD 4 DO\n{body}END;\n", side.loops)
                } else {
                    format!("WHILE {} DO\n{body}END;\n", tests(&firsts, channel))
                }
            }
        }
    }

    /// A branch of CASE, or SELECT, for a sequence that begins with a message, and what stands before that. Its
    /// variables may hide others of their names.
    fn branch(&mut self, parts: &[Part], side: Side, before: &str) -> String {
        let [Part::Message { name, types, .. }, rest @ ..] = parts else {
            unreachable!("it begins with a message");
        };
        let (variables, folds) = brought(types, if self.random.one_in(2) { "" } else { "x" });
        format!("| {before}{name}{}:\n{folds}{}", parenthesised(&variables), self.walk(rest, side))
    }

    /// The condition for taking an alternative: the sender decides freely, the receiver tests what has come.
    fn decision(&mut self, firsts: &[(Way, String)], side: Side) -> String {
        if firsts[0].0 == side.sends { self.condition(&["acc"], 1) } else { tests(firsts, side.channel) }
    }

    fn argument(&mut self, ty: &str) -> String {
        match ty {
            "INTEGER" => self.number(&["acc"], 2),
            "REAL" => self.real(&["acc"], 1),
            "TEXT" => self.text(&["acc"], 1),
            "BOOLEAN" => self.condition(&["acc"], 1),
            _ => format!("CHARACTER({} MOD 256)", self.number(&["acc"], 1)),
        }
    }
}

/// Variables for what a message brings, whose names end so, and statements that fold their values.
fn brought(types: &[&'static str], end: &str) -> (Vec<String>, String) {
    let mut targets = Vec::new();
    let mut folds = String::new();
    for (place, ty) in types.iter().enumerate() {
        let of = |stem: &str| format!("{stem}{place}{end}");
        let (target, value) = match *ty {
            "INTEGER" => (of("n"), of("n")),
            "REAL" => (of("r"), format!("INTEGER({} * 4) MOD 9973", of("r"))),
            "TEXT" => (of("t"), format!("LENGTH({0}) * 7 + INTEGER({0} < \"5\")", of("t"))),
            "BOOLEAN" => (of("b"), format!("INTEGER({})", of("b"))),
            _ => (of("c"), format!("INTEGER({})", of("c"))),
        };
        targets.push(target);
        folds += &fold(&value);
    }
    (targets, folds)
}

/// Whether a sequence begins with one message, which this side receives.
fn begins_with_message(parts: &[Part], side: Side) -> bool {
    matches!(parts.first(), Some(Part::Message { way, .. }) if *way != side.sends)
}

/// The messages with which a sequence can start.
fn first(parts: &[Part]) -> Vec<(Way, String)> {
    let mut found = Vec::new();
    for part in parts {
        match part {
            Part::Message { way, name, .. } => found.push((*way, name.clone())),
            Part::Choice(alternatives) => found.extend(alternatives.iter().flat_map(|one| first(one))),
            Part::Option(inner) | Part::Repeated(inner) => {
                found.extend(first(inner));
                continue;
            }
        }
        break;
    }
    found
}

fn tests(firsts: &[(Way, String)], channel: &str) -> String {
    let tests: Vec<_> = firsts.iter().map(|(_, name)| format!("({channel}?{name})")).collect();
    format!("({})", tests.join(" OR "))
}

fn parenthesised(items: &[String]) -> String {
    if items.is_empty() { String::new() } else { format!("({})", items.join(", ")) }
}

/// The text of the parts in the interface.
fn written(parts: &[Part]) -> String {
    let parts: Vec<_> = parts
        .iter()
        .map(|part| match part {
            Part::Message { way, name, types } => {
                let way = if *way == Way::In { "IN" } else { "OUT" };
                let types: Vec<_> = types.iter().enumerate().map(|(at, ty)| format!("p{at}: {ty}")).collect();
                match types.len() {
                    0 => format!("{way} {name}"),
                    _ => format!("{way} {name}({})", types.join("; ")),
                }
            }
            Part::Choice(alternatives) => {
                let alternatives: Vec<_> = alternatives.iter().map(|one| written(one)).collect();
                format!("( {} )", alternatives.join(" | "))
            }
            Part::Option(inner) => format!("[ {} ]", written(inner)),
            Part::Repeated(inner) => format!("{{ {} }}", written(inner)),
        })
        .collect();
    parts.join(" ")
}
