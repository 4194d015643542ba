//! Two interfaces with the same name in different scopes. Mostly they differ in the name or the parameters of a
//! message. A component that is given the wrong one must be refused.

use super::{Generator, Step, fold};

/// Types of parameters, with an example value of each.
const TYPES: &[(&str, &str)] = &[
    ("INTEGER", "n"),
    ("REAL", "REAL(n)"),
    ("BOOLEAN", "n > 3"),
    ("CHARACTER", "CHARACTER(n + 65)"),
    ("TEXT", "TEXT(n)"),
];

/// The shape of one of the two interfaces: a question, and the types of the parameters of the question and the answer.
#[derive(Clone, Copy)]
struct Shape {
    message: &'static str,
    question: (&'static str, &'static str),
    answer: (&'static str, &'static str),
}

impl Generator {
    /// A component that tests the components in its variables of type `ANY`, and uses them by the interface of its own
    /// scope.
    pub fn namesakes(&mut self) -> Step {
        let (twin, go, run) = (self.name("Twin"), self.name("Go"), self.name("Run"));
        let (server, client, shop) = (self.name("Server"), self.name("Client"), self.name("Shop"));
        let (s, x) = (self.name("s"), self.name("x"));
        let outside = self.shape();
        let inside = self.another(outside);
        let outer = outside.declarations(&twin, &go, &server, &client);
        let inner = inside.declarations(&twin, &go, "Server", "Client");
        let Shape { message, question: (_, value), answer: (answer, _) } = inside;
        let ways = [
            format!("a(ANY({twin}))!{message}({value}); a(ANY({twin}))?Answer(y)"),
            format!("NEW(c); CONNECT({twin}(c), a); c!Go(n); c?Gone(n)"),
            format!(
                "NEW(i); CONNECT({twin}(b), i); b(ANY({go} | {twin}))!Go(n); b(ANY({go} | {twin}))?Gone(n)"
            ),
        ];
        let way = self.random.pick(&ways);
        let mut step = Step::declaring(format!(
            "INTERFACE {go};\nIN Go(n: INTEGER) OUT Gone(n: INTEGER)\nEND {go};
INTERFACE {run};\n{{ IN Look(n: INTEGER) OUT Seen(n: INTEGER) | IN Run(n: INTEGER) OUT Result(n: INTEGER) }}\nEND {run};
{outer}COMPONENT {{ISOLATED}} {shop} OFFERS {run};
{inner}IMPLEMENTATION {run};
VARIABLE n: INTEGER;
PROCEDURE Try(n: INTEGER; looks: BOOLEAN);
VARIABLE a, b: ANY;
VARIABLE i: Server;
VARIABLE c: Client;
VARIABLE y: {answer};
BEGIN
IF n MOD 2 = 0 THEN NEW(a, {server}); NEW(b, {client}) ELSE NEW(a, Server); NEW(b, Client) END;
IF looks THEN
!Seen(INTEGER(a IS ANY({twin})) + 2 * INTEGER(b IS ANY({go} | {twin})) + 4 * INTEGER(b REQUIRES {twin}))
ELSE
{way};
!Result(n)
END
END Try;
BEGIN
WHILE ?ANY DO IF ?Look THEN ?Look(n); Try(n, TRUE) ELSE ?Run(n); Try(n, FALSE) END END
END {run};
END {shop};
"
        ));
        step.variables = vec![format!("{s}: {shop}"), format!("{x}: INTEGER")];
        let fold_x = fold(&x);
        // An error could end the component between a receive test and its receive. So only the last request is followed
        // by tests.
        step.statements = format!(
            "NEW({s}); {s}!Look(7); {s}?Seen({x}); {fold_x}{s}!Look(4); {s}?Seen({x}); \
{fold_x}{s}!Run(7); {s}?Result({x}); {fold_x}{s}!Run(4);
{}IF {s}?Result THEN {s}?Result({x}); {fold_x}END;
{}IF EXISTS({s}) THEN DELETE({s}) END;
",
            fold(&format!("INTEGER({s}?Result)")),
            fold(&format!("INTEGER(EXISTS({s}))")),
        );
        step
    }

    fn shape(&mut self) -> Shape {
        Shape {
            message: self.random.pick::<&str>(&["Ask", "Tell"]),
            question: *self.random.pick(TYPES),
            answer: *self.random.pick(TYPES),
        }
    }

    /// A random shape, or one with at most one difference.
    fn another(&mut self, shape: Shape) -> Shape {
        let other = self.shape();
        match self.random.below(4) {
            0 => shape,
            1 => Shape { answer: other.answer, ..shape },
            2 => Shape { message: other.message, ..shape },
            _ => other,
        }
    }
}

impl Shape {
    /// The interface, a component that offers it, and a client that asks whenever it is told to.
    fn declarations(self, twin: &str, go: &str, server: &str, client: &str) -> String {
        let Shape { message, question: (question, asked), answer: (answer, answered) } = self;
        format!(
            "INTERFACE {twin};\nIN {message}(x: {question}) OUT Answer(x: {answer})\nEND {twin};
COMPONENT {server} OFFERS {twin};
IMPLEMENTATION {twin};
VARIABLE x: {question};
VARIABLE n: INTEGER;
BEGIN
n := 5; ?{message}(x); !Answer({answered})
END {twin};
END {server};
COMPONENT {client} OFFERS {go} REQUIRES {twin};
IMPLEMENTATION {go};
VARIABLE n: INTEGER;
VARIABLE x: {answer};
BEGIN {{EXCLUSIVE}}
?Go(n); {twin}!{message}({asked}); {twin}?Answer(x); !Gone(n + 1)
END {go};
END {client};
"
        )
    }
}
