//! Patterns of messages between components without shared variables.

use super::computations::LOOPS;
use super::{Generator, Step, fold};

impl Generator {
    /// Requests and replies, where the server computes.
    pub fn server(&mut self) -> Step {
        let (interface, server, s, x, t, i) = (
            self.name("Ask"),
            self.name("Server"),
            self.name("s"),
            self.name("x"),
            self.name("t"),
            self.name("i"),
        );
        let looped = self.random.one_in(2);
        let (functions, (work, answer)) = self.component(|own| {
            let work = own.statements(&["x", "y"], &["a", "x", "y"], 2);
            (work, own.text(&["x", "a"], 1))
        });
        let body = format!(
            "?Ask(a, t);\n{work}BEGIN {{EXCLUSIVE}} total := (total + x) MOD 9973; y := total END;\n\
             !Answer((x + y) MOD 9973, {answer} + t);\n"
        );
        let (protocol, body) = match looped {
            true => (
                "{ IN Ask(a: INTEGER; t: TEXT) OUT Answer(x: INTEGER; t: TEXT) }",
                format!("WHILE ?Ask DO\n{body}END\n"),
            ),
            false => ("IN Ask(a: INTEGER; t: TEXT) OUT Answer(x: INTEGER; t: TEXT)", body),
        };
        let mut step = Step::declaring(format!(
            "INTERFACE {interface};\n{protocol}\nEND {interface};
COMPONENT {server} OFFERS {interface};
VARIABLE total: INTEGER;
{functions}IMPLEMENTATION {interface};
VARIABLE a, x, y: INTEGER;
VARIABLE t: TEXT;
VARIABLE {LOOPS};
BEGIN
{body}END {interface};
END {server};
"
        ));
        let server = self.hosted(&interface, server, &mut step);
        let count = 1 + self.random.below(5);
        let argument = self.number(&["acc", &i], 2);
        let text = self.text(&["acc", &i], 1);
        step.variables = vec![format!("{s}: {server}"), format!("{x}, {i}: INTEGER"), format!("{t}: TEXT")];
        let end = if self.random.one_in(2) { format!("DELETE({s});\n") } else { String::new() };
        step.statements = format!(
            "NEW({s});
FOR {i} := 1 TO {count} DO {s}!Ask({argument}, {text}); {s}?Answer({x}, {t}); {}{}END;\n{end}",
            fold(&x),
            fold(&format!("LENGTH({t})"))
        );
        step
    }

    /// A source, some stages that change or drop values, and the holder as the sink.
    pub fn pipeline(&mut self) -> Step {
        let (interface, source, stage) = (self.name("Flow"), self.name("Source"), self.name("Stage"));
        let (a, b, x, i) = (self.name("a"), self.name("b"), self.name("x"), self.name("i"));
        let (length, stages) = (self.random.below(30), 1 + self.random.below(5));
        let (source_functions, value) = self.component(|own| own.number(&["i"], 3));
        let (stage_functions, (change, passes)) =
            self.component(|own| (own.statements(&["n", "m"], &["n", "m"], 1), own.condition(&["n"], 1)));
        let mut step = Step::declaring(format!(
            "INTERFACE {interface};\n{{ OUT Item(n: INTEGER) }}\nEND {interface};
COMPONENT {source} OFFERS {interface};
{source_functions}IMPLEMENTATION {interface};
VARIABLE i: INTEGER;
BEGIN
FOR i := 1 TO {length} DO !Item({value}) END
END {interface};
END {source};
COMPONENT {stage} OFFERS {interface} REQUIRES {interface};
{stage_functions}IMPLEMENTATION {interface};
VARIABLE n, m: INTEGER;
VARIABLE {LOOPS};
BEGIN {{EXCLUSIVE}}
WHILE {interface}?Item DO
{interface}?Item(n);
{change}IF {passes} THEN !Item(n) END
END
END {interface};
END {stage};
"
        ));
        step.variables =
            vec![format!("{a}: {source}"), format!("{b}[i: INTEGER]: {stage}"), format!("{x}, {i}: INTEGER")];
        let first = format!("{b}[1]");
        let here = format!("{b}[{i}]");
        let before = format!("{b}[{i} - 1]");
        let start = self.wire(&interface, &first, &a, None, &mut step);
        let link = self.wire(&interface, &here, &before, Some(&i), &mut step);
        step.statements = format!(
            "NEW({a}); NEW({first});\n{start}FOR {i} := 2 TO {stages} DO\nNEW({here});\n{link}END;
{x} := 0;\nWHILE {b}[{stages}]?Item DO {b}[{stages}]?Item({x}); {}END;\n",
            fold(&x)
        );
        step
    }

    /// A component that requires one interface several times.
    pub fn fan(&mut self) -> Step {
        let (ask, run) = (self.name("Ask"), self.name("Run"));
        let (server, fan) = (self.name("Server"), self.name("Fan"));
        let (s, f, i, x) = (self.name("s"), self.name("f"), self.name("i"), self.name("x"));
        let width = 1 + self.random.below(6);
        let bound = if self.random.one_in(2) { width.to_string() } else { "*".into() };
        let (functions, answer) = self.component(|own| own.number(&["n", "base"], 2));
        let mut step = Step::declaring(format!(
            "INTERFACE {ask};\nIN Ask(n: INTEGER) OUT Answer(n: INTEGER)\nEND {ask};
INTERFACE {run};\nIN Run(n: INTEGER) OUT Sum(n: INTEGER)\nEND {run};
COMPONENT {server} OFFERS {ask};
VARIABLE base: INTEGER;
{functions}IMPLEMENTATION {ask};
VARIABLE n: INTEGER;
BEGIN
?Ask(n); !Answer({answer})
END {ask};
BEGIN base := 77
END {server};
COMPONENT {fan} OFFERS {run} REQUIRES {ask}[1..{bound}];
IMPLEMENTATION {run};
VARIABLE i, n, acc: INTEGER;
BEGIN {{EXCLUSIVE}}
?Run(n);
FOR i := 1 TO COUNT({ask}) DO {ask}[i]!Ask(n + i) END;
FOR i := COUNT({ask}) TO 1 BY -1 DO {ask}[i]?Answer(n); {}END;
!Sum(acc)
END {run};
END {fan};
",
            fold("n")
        ));
        step.variables =
            vec![format!("{s}[i: INTEGER]: {server}"), format!("{f}: {fan}"), format!("{i}, {x}: INTEGER")];
        let server = format!("{s}[{i} DIV 2]");
        step.statements = format!(
            "NEW({f});
FOR {i} := 1 TO {width} DO
IF ~EXISTS({server}) THEN NEW({server}) END;
CONNECT({ask}[{i}]({f}), {server})
END;
{f}!Run(acc MOD 1000); {f}?Sum({x});\n{}",
            fold(&x)
        );
        step
    }

    /// A tree sent as messages: procedures on both sides are recursive and wait at every depth.
    pub fn tree(&mut self) -> Step {
        let (interface, server, walk) = (self.name("Tree"), self.name("Folder"), self.name("Walk"));
        let depth = 1 + self.random.below(5);
        let (functions, leaf) = self.component(|own| own.number(&["n", "sum"], 2));
        let split = self.number(&["depth", "n"], 1);
        let child = self.number(&["depth", "n"], 1);
        let mut step = Step::declaring(format!(
            "INTERFACE {interface};\n\
             {{ IN Leaf(n: INTEGER) | IN Open | IN Close OUT Sum(n: INTEGER) }}\nEND {interface};
COMPONENT {server} OFFERS {interface};
{functions}IMPLEMENTATION {interface};
VARIABLE last: INTEGER;
PROCEDURE Level(): INTEGER;
VARIABLE n, sum: INTEGER;
BEGIN
WHILE (?Leaf) OR (?Open) DO
IF ?Leaf THEN ?Leaf(n); sum := (sum + {leaf}) MOD 1000003 ELSE ?Open; sum := (sum * 3 + Level()) MOD 1000003 END
END;
?Close; !Sum(sum);
RETURN sum
END Level;
BEGIN
WHILE ?ANY DO last := Level() END
END {interface};
END {server};
"
        ));
        step.procedures = format!(
            "PROCEDURE {walk}(start: INTEGER): INTEGER;
VARIABLE server: {server};
VARIABLE acc: INTEGER;
PROCEDURE Send(depth, n: INTEGER);
VARIABLE sum: INTEGER;
BEGIN
server!Leaf(n);
IF (depth > 0) AND ({split} MOD 4 # 0) THEN
server!Open; Send(depth - 1, {child});
IF n MOD 2 = 0 THEN server!Open; Send(depth - 1, n + 1) END
END;
server!Close; server?Sum(sum); {}END Send;
BEGIN
acc := start;
NEW(server); Send({depth}, acc MOD 100); Send(1, 7);
RETURN acc
END {walk};
",
            fold("sum")
        );
        step.statements = format!("acc := {walk}(acc);\n");
        step
    }

    /// A client inside another component is connected to one server after the other.
    pub fn rewiring(&mut self) -> Step {
        let (ask, run) = (self.name("Ask"), self.name("Run"));
        let (one, two, inner, outer) =
            (self.name("One"), self.name("Two"), self.name("Inner"), self.name("Outer"));
        let (s, c, i, x) = (self.name("s"), self.name("c"), self.name("i"), self.name("x"));
        let (servers, rounds) = (1 + self.random.below(4), 1 + self.random.below(8));
        let (functions, answer) = self.component(|own| own.number(&["n", "asked"], 2));
        let (other_functions, other_answer) = self.component(|own| own.number(&["n"], 2));
        let mut step = Step::declaring(format!(
            "INTERFACE {ask};\n{{ IN Ask(n: INTEGER) OUT Answer(n: INTEGER) }}\nEND {ask};
INTERFACE {run};\n{{ IN Run(n: INTEGER) OUT Result(n: INTEGER) }}\nEND {run};
COMPONENT {one} OFFERS {ask};
{functions}IMPLEMENTATION {ask};
VARIABLE n, asked: INTEGER;
BEGIN
WHILE ?Ask DO ?Ask(n); INC(asked); !Answer({answer}) END
END {ask};
END {one};
COMPONENT {two} OFFERS {ask};
{other_functions}IMPLEMENTATION {ask};
VARIABLE n: INTEGER;
BEGIN
REPEAT ?Ask(n); !Answer({other_answer}) UNTIL ?FINISH
END {ask};
END {two};
COMPONENT {inner} OFFERS {run} REQUIRES {ask};
IMPLEMENTATION {run};
VARIABLE n: INTEGER;
BEGIN
WHILE ?Run DO {{EXCLUSIVE}} ?Run(n); {ask}!Ask(n); {ask}?Answer(n); !Result(n) END
END {run};
END {inner};
COMPONENT {outer} OFFERS {run} REQUIRES {ask};
VARIABLE inner: {inner};
BEGIN NEW(inner); CONNECT({ask}(inner), {ask}); CONNECT({run}, inner)
END {outer};
"
        ));
        let client = if self.random.one_in(2) { outer } else { inner };
        step.variables = vec![
            format!("{s}[i: INTEGER]: ANY({ask})"),
            format!("{c}: {client}"),
            format!("{i}, {x}: INTEGER"),
        ];
        let repeat = 1 + self.random.below(3);
        let talk = format!("{c}!Run({i} + acc MOD 100); {c}?Result({x});\n{}", fold(&x)).repeat(repeat);
        let polled = self.random.one_in(2);
        let talk = if polled {
            talk.replace(&format!("{c}?Result"), &format!("WHILE ~INPUT({c}, Result) DO END; {c}?Result"))
        } else {
            talk
        };
        let server = format!("{s}[{i} MOD {servers}]");
        step.statements = format!(
            "FOR {i} := 0 TO {servers} - 1 DO \
             IF {i} MOD 2 = 0 THEN NEW({s}[{i}], {one}) ELSE NEW({s}[{i}], {two}) END END;
NEW({c});
FOR {i} := 1 TO {rounds} DO
CONNECT({ask}({c}), {server});
{talk}DISCONNECT({ask}({c}));
{}END;
",
            fold(&format!("INTEGER({server} IS {one})"))
        );
        step
    }
}
