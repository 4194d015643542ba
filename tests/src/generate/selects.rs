//! Processes that wait for the first of several things. Which of those that are there comes first is not known, so what
//! they bring is added up.

use super::{Generator, Step, fold};

impl Generator {
    /// A client of several sources, each with a number of items, perhaps an end that is noticed, and pauses.
    pub fn selects(&mut self) -> Step {
        let [interface, source, s, sum, left, late] =
            ["Flow", "Source", "s", "sum", "left", "late"].map(|stem| self.name(stem));
        let sources = 2 + self.random.below(4);
        let (functions, value) = self.component(|own| own.number(&["i", "n"], 2));
        let pause = *self.random.pick(&["", "PASSIVATE(1); ", "PASSIVATE(i MOD 3); "]);
        let is_open = self.random.one_in(2);
        let mut step = Step::declaring(format!(
            "INTERFACE {interface}; IN Begin(n: INTEGER) {{ OUT Item(n: INTEGER; t: TEXT) }}
{end}END {interface};
COMPONENT {source} OFFERS {interface};
{functions}IMPLEMENTATION {interface};
VARIABLE i, n: INTEGER;
BEGIN
?Begin(n);
FOR i := 1 TO n DO {pause}!Item(({value}) MOD 1000, TEXT(i)) END{last}
END {interface};
END {source};
",
            end = if is_open { "" } else { "OUT Last\n" },
            last = if is_open { "" } else { "; !Last" },
        ));
        let patience = *self.random.pick(&["0", "1", "2", "1000", "MAX(INTEGER)"]);
        let counts: Vec<_> = (0..sources).map(|_| self.random.below(12)).collect();
        // By elements of a collection, or by variables.
        let indexed = self.random.one_in(2);
        let designator = |index: usize| if indexed { format!("{s}[{index}]") } else { format!("{s}{index}") };
        let variables: Vec<_> = match indexed {
            true => vec![format!("{s}[i: INTEGER]: {source}")],
            false => (0..sources).map(|index| format!("{}: {source}", designator(index))).collect(),
        };
        step.variables = variables;
        step.variables.push(format!("{sum}, {left}, {late}: INTEGER"));
        let (mut begin, mut branches, mut end) = (String::new(), String::new(), String::new());
        for (index, count) in counts.iter().enumerate() {
            let channel = designator(index);
            begin += &format!("NEW({channel}); {channel}!Begin({count});\n");
            branches +=
                &format!("| {channel}?Item(n, t): {sum} := ({sum} + n + LENGTH(t)) MOD 9973; DEC({left})\n");
            if !is_open {
                branches += &format!("| {channel}?Last: {sum} := ({sum} + 100) MOD 9973; DEC({left})\n");
            }
            end += &format!("DELETE({channel});\n");
        }
        let total = counts.iter().sum::<usize>() + if is_open { 0 } else { sources };
        let time = match self.random.one_in(2) {
            true => format!("| AFTER {patience}: INC({late}); PASSIVATE({late} MOD 2)\n"),
            false => String::new(),
        };
        step.statements = format!(
            "{sum} := 0; {left} := {total}; {late} := 0;
{begin}WHILE {left} > 0 DO
SELECT
{branches}{time}END
END;
{}{end}",
            fold(&sum)
        );
        step
    }

    /// A component that waits for messages, for what others have put into it, and for the end of both.
    pub fn selects_with_conditions(&mut self) -> Step {
        let [put, flow, run, shelf, source, x, y, r] =
            ["Put", "Flow", "Run", "Shelf", "Source", "x", "y", "r"].map(|stem| self.name(stem));
        let (puts, items) = (self.random.below(8), self.random.below(8));
        let pause = *self.random.pick(&["", "PASSIVATE(1); ", "PASSIVATE(3); "]);
        let time = *self.random.pick(&["", "| AFTER 2: INC(late)\n"]);
        // One with a loop may be tested elsewhere.
        let condition = *self.random.pick(&["full", "IsFull()"]);
        let (functions, value) = self.component(|own| own.number(&["n"], 2));
        let mut step = Step::declaring(format!(
            "INTERFACE {put}; {{ IN Put(n: INTEGER) }} END {put};
INTERFACE {flow}; {{ OUT Item(n: INTEGER) }} END {flow};
INTERFACE {run}; OUT Sum(n: INTEGER) END {run};
COMPONENT {source} OFFERS {flow};
IMPLEMENTATION {flow};
VARIABLE i: INTEGER;
BEGIN FOR i := 1 TO {items} DO {pause}!Item(i) END
END {flow};
END {source};
COMPONENT {shelf} OFFERS {put}, {run} REQUIRES {flow};
VARIABLE n, sum, taken, late, ended: INTEGER; full: BOOLEAN;
{functions}PROCEDURE IsFull(): BOOLEAN;
VARIABLE i, s: INTEGER;
BEGIN FOR i := 1 TO 200 DO s := s + i MOD 3 END; RETURN full AND (s > 0)
END IsFull;
IMPLEMENTATION {put};
BEGIN
WHILE ?Put DO BEGIN {{EXCLUSIVE}} AWAIT(~full); ?Put(n); full := TRUE END END
END {put};
IMPLEMENTATION {run};
BEGIN
BEGIN {{EXCLUSIVE}} AWAIT((taken = {puts}) AND (ended > 0)); !Sum(sum) END
END {run};
ACTIVITY
WHILE {{SHARED}} (taken < {puts}) OR (ended = 0) DO
BEGIN {{EXCLUSIVE}}
SELECT
| AWAIT({condition}): INC(taken); sum := (sum + ({value}) MOD 1000) MOD 9973; full := FALSE
| {flow}?Item(k): sum := (sum + k) MOD 9973
| AWAIT((ended = 0) AND (taken < 0)): sum := -1
| {flow}?FINISH: INC(ended); AWAIT(full OR (taken = {puts}))
{time}END
END
END
END {shelf};
"
        ));
        step.variables = vec![format!("{x}: {source}"), format!("{y}: {shelf}"), format!("{r}: INTEGER")];
        step.statements = format!(
            "NEW({x}); NEW({y}); CONNECT({flow}({y}), {flow}({x}));
FOR {r} := 1 TO {puts} DO {put}({y})!Put({r}) END;
{run}({y})?Sum({r}); {}DELETE({y}); DELETE({x});
",
            fold(&r)
        );
        step
    }
}
