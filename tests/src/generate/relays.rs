//! Chains of relays that are connected in any order, cut and mended. Some come close to a cycle, which is an error.

use super::{Generator, Step, run_once};

impl Generator {
    /// A component that connects relays, and some of them to a server, at random. It asks through a relay whenever that
    /// leads to the server.
    pub fn relays(&mut self) -> Step {
        let (ask, run) = (self.name("Ask"), self.name("Run"));
        let (server, relay, maze) = (self.name("Server"), self.name("Relay"), self.name("Maze"));
        let (m, x) = (self.name("m"), self.name("x"));
        let count = 2 + self.random.below(5);
        let wiring = self.wiring(&ask, count);
        let (inward, inside) = match self.random.below(3) {
            0 => (format!("CONNECT({ask}, {ask})"), String::new()),
            1 => (
                format!("NEW(inner); CONNECT({ask}(inner), {ask}); CONNECT({ask}, inner)"),
                format!(
                    "COMPONENT Inner OFFERS {ask} REQUIRES {ask};\nBEGIN CONNECT({ask}, {ask})\nEND Inner;\n\
                     VARIABLE inner: Inner;\n"
                ),
            ),
            _ => (format!("PASSIVATE(0); CONNECT({ask}, {ask})"), String::new()),
        };
        let mut step = Step::declaring(format!(
            "INTERFACE {ask};\nIN Ask(n: INTEGER) OUT Answer(n: INTEGER)\nEND {ask};
INTERFACE {run};\n{{ IN Run(n: INTEGER) OUT Result(n: INTEGER) }}\nEND {run};
COMPONENT {server} OFFERS {ask};
IMPLEMENTATION {ask};
VARIABLE n: INTEGER;
BEGIN
?Ask(n); !Answer((n * 3 + 1) MOD 1009)
END {ask};
END {server};
COMPONENT {relay} OFFERS {ask} REQUIRES {ask};
{inside}BEGIN {inward}
END {relay};
COMPONENT {{ISOLATED}} {maze} OFFERS {run};
VARIABLE s: {server};
VARIABLE r[i: INTEGER]: {relay};
IMPLEMENTATION {run};
VARIABLE n, i: INTEGER;
BEGIN {{EXCLUSIVE}}
NEW(s); FOR i := 0 TO {} DO NEW(r[i]) END;
PASSIVATE(1);
?Run(n);
{wiring}!Result(n)
END {run};
END {maze};
",
            count - 1
        ));
        step.variables = vec![format!("{m}: {maze}"), format!("{x}: INTEGER")];
        step.statements = run_once(&m, &x);
        step
    }

    /// Connections between `count` relays, with questions through those that lead to the server. A cycle ends the list.
    fn wiring(&mut self, ask: &str, count: usize) -> String {
        let mut wiring = String::new();
        // The target of each relay. The server has the number `count`.
        let mut next = vec![None; count];
        for _ in 0..2 * count {
            let (from, to) = (self.random.below(count), self.random.below(count + 1));
            match self.random.below(6) {
                0 => {
                    next[from] = None;
                    wiring += &format!("DISCONNECT({ask}(r[{from}]));\n");
                }
                1 => {
                    next.iter_mut().for_each(|next| *next = next.filter(|&next| next != from));
                    next[from] = None;
                    wiring += &format!("DELETE(r[{from}]); NEW(r[{from}]); PASSIVATE(1);\n");
                }
                _ => {
                    let target = if to == count { "s".into() } else { format!("r[{to}]") };
                    let connect = format!("CONNECT({ask}(r[{from}]), {target});\n");
                    if !leads_to(&next, to, from) {
                        wiring += &connect;
                        next[from] = Some(to);
                    } else if self.random.one_in(4) {
                        return wiring + &connect;
                    }
                }
            }
            if leads_to(&next, from, count) {
                wiring += &format!("r[{from}]!Ask(n); r[{from}]?Answer(n);\n");
            }
        }
        wiring
    }
}

/// Whether the connections from one relay lead to another relay, or to the server.
fn leads_to(next: &[Option<usize>], from: usize, to: usize) -> bool {
    let mut here = Some(from);
    while let Some(at) = here.filter(|&at| at != to) {
        here = next.get(at).copied().flatten();
    }
    here.is_some()
}
