//! Processes that don't wait for ever: for an answer that takes its (virtual) time, and for the end of the other side.

use super::{Generator, Step, fold};

impl Generator {
    /// A client that asks again and again whether the answer has come. No answer comes at the very end of a wait.
    pub fn waits(&mut self) -> Step {
        let [interface, server, s, n, i] = ["Slow", "Server", "s", "n", "i"].map(|stem| self.name(stem));
        let pause = 2 * self.random.below(20) + 1;
        let limit = 2 * (1 + self.random.below(6));
        let patience = *self.random.pick(&["1000000000", "MAX(INTEGER)", "n * 0 + 1000"]);
        let idle = *self.random.pick(&["INPUT(FINISH)", "INPUT(FINISH, 0)", "INPUT(FINISH, -1)"]);
        let (functions, answer) = self.component(|own| own.number(&["n"], 2));
        let rounds = 1 + self.random.below(3);
        let mut step = Step::declaring(format!(
            "INTERFACE {interface}; {{ IN Ask(n: INTEGER) OUT Answer(n: INTEGER) }} END {interface};
COMPONENT {server} OFFERS {interface};
{functions}IMPLEMENTATION {interface};
VARIABLE n: INTEGER;
BEGIN
WHILE INPUT(Ask, {patience}) DO
?Ask(n);
IF {idle} THEN n := -1 END;
PASSIVATE({pause}); !Answer({answer})
END
END {interface};
END {server};
"
        ));
        step.variables = vec![format!("{s}: {server}"), format!("{n}, {i}: INTEGER")];
        step.statements = format!(
            "NEW({s});
FOR {i} := 1 TO {rounds} DO
{s}!Ask(acc MOD 1000); {n} := 0;
WHILE ~INPUT({s}, Answer, {limit}) DO INC({n}) END;
{}IF ~INPUT({s}, FINISH, 10) THEN {s}?Answer({n}) END;
{}END;
DELETE({s});
",
            fold(&n),
            fold(&n)
        );
        step
    }
}
