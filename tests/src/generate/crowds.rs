//! Components by the thousand, for which the runtime must split its work into parts: chains of relays connected from
//! either end; trees that are deleted, or ended by an error, while others wait for components in them; and processes
//! that await one condition that takes long to test.

use super::{Generator, Step, fold, run_once};

impl Generator {
    /// A component with one of these patterns, which answers with the outcome.
    pub fn crowds(&mut self) -> Step {
        let (run, crowd, c, x) = (self.name("Run"), self.name("Crowd"), self.name("c"), self.name("x"));
        let (templates, own, deeds) = match self.random.below(3) {
            0 => self.long_chain(),
            1 => self.wide_tree(),
            _ => self.slow_condition(),
        };
        let mut step = Step::declaring(format!(
            "INTERFACE {run};\n{{ IN Run(n: INTEGER) OUT Result(n: INTEGER) }}\nEND {run};
{templates}COMPONENT {{ISOLATED}} {crowd} OFFERS {run};
{own}IMPLEMENTATION {run};
VARIABLE acc, n, i: INTEGER;
BEGIN {{EXCLUSIVE}}
?Run(acc);
{deeds}!Result(acc)
END {run};
END {crowd};
"
        ));
        step.variables = vec![format!("{c}: {crowd}"), format!("{x}: INTEGER")];
        step.statements = run_once(&c, &x);
        step
    }

    /// Relays in one chain with a server at its end. Gives templates, variables and statements.
    fn long_chain(&mut self) -> (String, String, String) {
        let (ask, relay, server) = (self.name("Ask"), self.name("Relay"), self.name("Server"));
        let count = 2 + self.random.below(400);
        let templates = format!(
            "INTERFACE {ask};\n{{ IN Ask(n: INTEGER) OUT Answer(n: INTEGER) }}\nEND {ask};
COMPONENT {relay} OFFERS {ask} REQUIRES {ask};\nBEGIN CONNECT({ask}, {ask})\nEND {relay};
COMPONENT {server} OFFERS {ask};
IMPLEMENTATION {ask};
VARIABLE n: INTEGER;
BEGIN WHILE ?Ask DO ?Ask(n); !Answer((n * 3 + 1) MOD 1009) END
END {ask};
END {server};
"
        );
        let own = format!("VARIABLE r[i: INTEGER]: {relay};\nVARIABLE s: {server};\n");
        let connect = format!("CONNECT({ask}(r[i]), r[i - 1])");
        let ways = [
            format!("FOR i := 2 TO {count} DO {connect} END;\n"),
            format!("FOR i := {count} TO 2 BY -1 DO {connect} END;\n"),
            format!(
                "FOR i := 2 TO {count} BY 2 DO {connect} END; FOR i := 3 TO {count} BY 2 DO {connect} END;\n"
            ),
        ];
        let end = format!("CONNECT({ask}(r[1]), s);\n");
        let question = format!("r[{count}]!Ask(acc); r[{count}]?Answer(n); {}", fold("n"));
        let undo = [
            format!("FOR i := {count} TO 2 BY -1 DO DISCONNECT({ask}(r[i])) END;\n"),
            format!("FOR i := 2 TO {count} DO DISCONNECT({ask}(r[i])) END;\n"),
            format!("DELETE(r[{}]);\n", 1 + self.random.below(count)),
            "DELETE(r);\n".to_string(),
            "DELETE(s);\n".to_string(),
        ];
        let (first, second) = (self.random.pick(&ways).clone(), self.random.pick(&ways).clone());
        let wired = if self.random.one_in(2) { format!("{end}{first}") } else { format!("{first}{end}") };
        let after = match self.random.below(7) {
            at @ (0 | 1) => format!("{}{second}{question}", undo[at]),
            at => undo.get(at).cloned().unwrap_or_default(),
        };
        let deeds = format!(
            "NEW(s); FOR i := 1 TO {count} DO NEW(r[i]) END;\nPASSIVATE(1);\n{wired}{question}{after}"
        );
        (templates, own, deeds)
    }

    /// A tree that is deleted or fails while a process waits in it.
    fn wide_tree(&mut self) -> (String, String, String) {
        let (leaf, branch, root, grow) =
            (self.name("Leaf"), self.name("Branch"), self.name("Root"), self.name("Grow"));
        let (branches, leaves) = (1 + self.random.below(40), 1 + self.random.below(60));
        let body =
            *self.random.pick(&["x := 1", "t := TEXT(x) + \"abc\"", "AWAIT(x > 0)", "PASSIVATE(100000)"]);
        let body =
            if body.starts_with("AWAIT") { format!("BEGIN {{EXCLUSIVE}} {body} END") } else { body.into() };
        let waits = body.contains("AWAIT") || body.contains("PASSIVATE");
        // A tree that never ends by itself must be ended by an error.
        let goes = match self.random.below(if waits { 2 } else { 4 }) {
            0 => "ASSERT(n < 0)",
            1 => "n := n DIV (n - n)",
            2 => "FOREACH i OF branch DO DELETE(branch[i]) END; n := n + 1",
            _ => "DELETE(branch); n := n + 1",
        };
        let templates = format!(
            "INTERFACE {grow};\n{{ IN Grow(n: INTEGER) OUT Grown(n: INTEGER) }}\nEND {grow};
COMPONENT {leaf};\nVARIABLE x: INTEGER; t: TEXT;\nBEGIN {body}\nEND {leaf};
COMPONENT {branch};\nVARIABLE leaf[i: INTEGER]: {leaf}; i: INTEGER;
BEGIN FOR i := 1 TO {leaves} DO NEW(leaf[i]) END\nEND {branch};
COMPONENT {{ISOLATED}} {root} OFFERS {grow};
VARIABLE branch[i: INTEGER]: {branch};
IMPLEMENTATION {grow};
VARIABLE n, i: INTEGER;
BEGIN {{EXCLUSIVE}}
?Grow(n); FOR i := 1 TO {branches} DO NEW(branch[i]) END; !Grown(n); ?Grow(n); {goes}; !Grown(n)
END {grow};
END {root};
"
        );
        let own = format!("VARIABLE root[i: INTEGER]: {root};\n");
        let roots = 1 + self.random.below(3);
        let deeds = format!(
            "FOR i := 1 TO {roots} DO NEW(root[i]); root[i]!Grow(i); root[i]?Grown(n) END;
FOR i := 1 TO {roots} DO root[i]!Grow(i) END;
FOR i := 1 TO {roots} DO {}IF root[i]?Grown THEN root[i]?Grown(n); {}END; {}END;
",
            fold("INTEGER(root[i]?Grown)"),
            fold("n"),
            fold("INTEGER(EXISTS(root[i]))"),
        );
        (templates, own, deeds)
    }

    /// Processes that await conditions that take long to test, and that come true one after the other.
    fn slow_condition(&mut self) -> (String, String, String) {
        let (wait, join, set) = (self.name("Wait"), self.name("Join"), self.name("Set"));
        let (room, waiter) = (self.name("Room"), self.name("Waiter"));
        let (waiters, rounds) = (1 + self.random.below(5), 1 + self.random.below(40_000));
        let test = *self.random.pick(&[
            "Slow(level) >= me",
            "(level >= me) AND (Slow(me) >= 0)",
            "words[long] >= me",
        ]);
        let how = *self.random.pick(&["INC(level)", "level := level + 1; PASSIVATE(0)"]);
        let templates = format!(
            "INTERFACE {wait};\nIN Wait(me: INTEGER) OUT Ready OUT Over(n: INTEGER)\nEND {wait};
INTERFACE {join};\nIN Join(me: INTEGER) OUT Left(n: INTEGER)\nEND {join};
INTERFACE {set};\n{{ IN Set OUT Done }}\nEND {set};
COMPONENT {room} OFFERS {join}, {set};
VARIABLE level: INTEGER; long: TEXT; words[t: TEXT]: INTEGER;
PROCEDURE Slow(n: INTEGER): INTEGER;
VARIABLE i, x: INTEGER;
BEGIN
FOR i := 1 TO {rounds} DO x := (x * 3 + i) MOD 10007 END;
IF x < 0 THEN RETURN x END;
RETURN n
END Slow;
IMPLEMENTATION {join};
VARIABLE me: INTEGER;
BEGIN
?Join(me); BEGIN {{EXCLUSIVE}} AWAIT({test}); me := me * 100 + level END; !Left(me)
END {join};
IMPLEMENTATION {set};
BEGIN
WHILE ?Set DO ?Set; BEGIN {{EXCLUSIVE}} {how}; words[long] := level END; !Done END
END {set};
BEGIN
NEW(long, {rounds}); words[long] := 0
END {room};
COMPONENT {waiter} OFFERS {wait} REQUIRES {join};
IMPLEMENTATION {wait};
VARIABLE n: INTEGER;
BEGIN {{EXCLUSIVE}}
?Wait(n); {join}!Join(n); !Ready; {join}?Left(n); !Over(n)
END {wait};
END {waiter};
"
        );
        let own = format!("VARIABLE room: {room};\nVARIABLE w[i: INTEGER]: {waiter};\n");
        let deeds = format!(
            "NEW(room); PASSIVATE(1);
FOR i := 1 TO {waiters} DO NEW(w[i]); CONNECT({join}(w[i]), room); w[i]!Wait(i); w[i]?Ready END;
FOR i := 1 TO {waiters} DO {set}(room)!Set; {set}(room)?Done; w[i]?Over(n); {}END;
",
            fold("n"),
        );
        (templates, own, deeds)
    }
}
