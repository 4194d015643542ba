//! Processes of one component wake each other in a ring. Each awaits its own signal, and then gives the next process
//! its signal, in varying ways. If a wake-up is lost, all stop.

use super::{Generator, Step, fold};

/// How one process in the ring signals to the next. In the texts, `next` is the receiver and `r` the round for which
/// the receiver waits; in its condition, the receiver calls them `me` and `round`.
struct Signal {
    /// Variables of the component; `begin` initialises them.
    variables: String,
    begin: String,
    procedures: String,
    condition: String,
    /// Statements that give the signal together. The lock may be released between them.
    parts: Vec<String>,
}

impl Generator {
    /// A ring of processes that await conditions on elements, on variables, and on functions of them.
    pub fn watchers(&mut self) -> Step {
        let (join, get, start, bystand) =
            (self.name("Join"), self.name("Log"), self.name("Start"), self.name("Bystand"));
        let (board, player, bystander) = (self.name("Board"), self.name("Player"), self.name("Bystander"));
        let (b, p, s, i, x) =
            (self.name("b"), self.name("p"), self.name("s"), self.name("i"), self.name("x"));
        let kinds = 1 + self.random.below(3);
        let players = kinds * (1 + self.random.below(3));
        let (rounds, bystanders) = (1 + self.random.below(3), self.random.below(4));
        let steps = players * rounds;
        let (functions, change) = self.component(|own| own.number(&["log", "me", "round"], 2));
        let signals: Vec<Signal> = (0..kinds).map(|_| self.signal(players)).collect();
        let all = |part: fn(&Signal) -> &str| signals.iter().map(part).collect::<String>();
        let (variables, begin, procedures) =
            (all(|it| &it.variables), all(|it| &it.begin), all(|it| &it.procedures));
        let arms: String = (0..kinds)
            .map(|kind| {
                let following = &signals[(kind + 1) % kinds].parts;
                let glue = if self.random.one_in(2) { "" } else { "END; BEGIN {EXCLUSIVE} " };
                let word = if kind == 0 { "IF" } else { "ELSIF" };
                format!(
                    "{word} me MOD {kinds} = {kind} THEN BEGIN {{EXCLUSIVE}} AWAIT({}); log := {change}; {} \
                     INC(steps) END\n",
                    signals[kind].condition,
                    following.join(glue),
                )
            })
            .collect();
        let first = signals[0].parts.concat();
        let all_over = self.slowly_or_not(&format!("steps = {steps}"));
        let mode = if self.random.one_in(2) { "EXCLUSIVE" } else { "SHARED" };
        let mut step = Step::declaring(format!(
            "INTERFACE {join};\nIN Join(me: INTEGER) OUT Left\nEND {join};
INTERFACE {get};\nIN Get OUT Log(n: INTEGER)\nEND {get};
INTERFACE {bystand};\nIN Join(me: INTEGER) OUT Left\nEND {bystand};
COMPONENT {board} OFFERS {join}, {get}, {bystand};
VARIABLE log, steps: INTEGER; far[i: INTEGER]: INTEGER;
{variables}{functions}PROCEDURE Put(VARIABLE x: INTEGER; v: INTEGER); BEGIN x := v END Put;
PROCEDURE Slowly(b: BOOLEAN): BOOLEAN; VARIABLE i: INTEGER; BEGIN FOR i := 1 TO 20 DO b := ~b END; RETURN b END Slowly;
PROCEDURE Creep(VARIABLE x: INTEGER; v: INTEGER); BEGIN WHILE x < v DO INC(x) END; IF x > v THEN x := v END END Creep;
{procedures}IMPLEMENTATION {join};
VARIABLE me, round, next, r: INTEGER; name: TEXT;
BEGIN
?Join(me); name := TEXT(me); next := (me + 1) MOD {players};
FOR round := 1 TO {rounds} DO
r := round; IF next = 0 THEN INC(r) END;
{arms}END
END;
!Left
END {join};
IMPLEMENTATION {get};
VARIABLE next, r: INTEGER;
BEGIN
?Get; r := 1; BEGIN {{EXCLUSIVE}} {first} END;
BEGIN {{{mode}}} AWAIT({all_over}); !Log(log) END
END {get};
IMPLEMENTATION {bystand};
VARIABLE me: INTEGER;
BEGIN
?Join(me); BEGIN {{{mode}}} AWAIT((far[me] > 0) OR ({all_over})) END; !Left
END {bystand};
BEGIN
FOR log := 0 TO {bystanders} DO far[log] := 0 END; log := 0;
{begin}END {board};
INTERFACE {start};\nIN Start(me: INTEGER) OUT Over\nEND {start};
COMPONENT {player} OFFERS {start} REQUIRES {join};
IMPLEMENTATION {start};
VARIABLE me: INTEGER;
BEGIN {{EXCLUSIVE}} ?Start(me); {join}!Join(me); {join}?Left; !Over
END {start};
END {player};
COMPONENT {bystander} OFFERS {start} REQUIRES {bystand};
IMPLEMENTATION {start};
VARIABLE me: INTEGER;
BEGIN {{EXCLUSIVE}} ?Start(me); {bystand}!Join(me); {bystand}?Left; !Over
END {start};
END {bystander};
"
        ));
        step.variables = vec![
            format!("{b}: {board}"),
            format!("{p}[i: INTEGER]: {player}"),
            format!("{s}[i: INTEGER]: {bystander}"),
            format!("{i}, {x}: INTEGER"),
        ];
        let link = self.wire(&join, &format!("{p}[{i}]"), &b, Some(&i), &mut step);
        let stand = self.wire(&bystand, &format!("{s}[{i}]"), &b, Some(&i), &mut step);
        step.statements = format!(
            "NEW({b});\nFOR {i} := 0 TO {bystanders} - 1 DO\nNEW({s}[{i}]);\n{stand}{s}[{i}]!Start({i})\nEND;
FOR {i} := 0 TO {players} - 1 DO\nNEW({p}[{i}]);\n{link}{p}[{i}]!Start({players} - 1 - {i})\nEND;
{get}({b})!Get; {get}({b})?Log({x});\n\
  {}FOREACH {i} OF {p} DO {p}[{i}]?Over END; FOREACH {i} OF {s} DO {s}[{i}]?Over END;\n",
            fold(&x)
        );
        step
    }

    /// A condition, perhaps passed through the function `Slowly`, which does not change it.
    pub(super) fn slowly_or_not(&mut self, condition: &str) -> String {
        if self.random.one_in(3) { format!("Slowly({condition})") } else { condition.to_string() }
    }

    fn signal(&mut self, players: usize) -> Signal {
        let (v, w) = (self.name("v"), self.name("w"));
        let mut signal = Signal {
            variables: format!("VARIABLE {v}[i: INTEGER], {w}[i: INTEGER]: INTEGER;\n"),
            begin: format!("FOR steps := 0 TO 20 DO {v}[steps] := 0; {w}[steps] := 0 END; steps := 0;\n"),
            procedures: String::new(),
            condition: format!("{v}[me] = round"),
            parts: Vec::new(),
        };
        let element = format!("{v}[next]");
        match self.random.below(10) {
            0 => {
                signal.variables = format!("VARIABLE {v}, {w}: INTEGER;\n");
                signal.begin = format!("{v} := -1;\n");
                signal.condition = format!("({v} = me) AND ({w} = round)");
                // One of them alone could be taken for the signal.
                signal.parts = vec![self.write(&v, "next") + &self.write(&w, "r")];
            }
            1 => {
                signal.variables = format!("VARIABLE {v}[t: TEXT]: INTEGER;\n");
                signal.begin = format!("FOR steps := 0 TO 20 DO {v}[TEXT(steps)] := 0 END; steps := 0;\n");
                signal.condition = format!("{v}[name] = round");
                signal.parts = vec![self.write(&format!("{v}[TEXT(next)]"), "r")];
            }
            2 => {
                signal.variables = format!("VARIABLE {v}[i: INTEGER]: INTEGER {{ARRAY}};\n");
                signal.begin = format!("NEW({v}, {players});\n");
                signal.parts = vec![self.write(&element, "r")];
            }
            3 => {
                signal.begin = String::new();
                signal.condition = format!("EXISTS({v}[me]) AND ({v}[me] = round)");
                signal.parts = vec![format!("NEW({element}); "), self.write(&element, "r")];
                if self.random.one_in(2) {
                    signal.parts.insert(0, format!("IF EXISTS({element}) THEN DELETE({element}) END; "));
                } else {
                    signal.parts.insert(0, format!("DELETE({v}); "));
                }
            }
            4 => {
                signal.condition = format!("({v}[me] = round) AND ({w}[me + 1] = round)");
                signal.parts = vec![self.write(&element, "r"), self.write(&format!("{w}[next + 1]"), "r")];
                if self.random.one_in(2) {
                    signal.parts.reverse();
                }
            }
            5 => {
                signal.condition = format!("{v}[{w}[me]] = round");
                signal.parts = vec![
                    self.write(&format!("{v}[next + 7]"), "r"),
                    self.write(&format!("{w}[next]"), "next + 7"),
                ];
                if self.random.one_in(2) {
                    signal.parts.reverse();
                }
            }
            6 => {
                let test = self.name("Test");
                signal.procedures = format!(
                    "PROCEDURE {test}(me, round: INTEGER): BOOLEAN; BEGIN RETURN {v}[me] = round END {test};\n"
                );
                signal.condition = format!("{test}(me, round)");
                signal.parts = vec![self.write(&element, "r")];
            }
            7 => {
                signal.variables = format!("VARIABLE {v}: TEXT;\n");
                signal.begin = format!("NEW({v}, {players});\n");
                signal.condition = format!("INTEGER({v}[me]) = round");
                signal.parts = vec![format!("{v}[next] := CHARACTER(r); ")];
            }
            8 => {
                // Three elements: the runtime watches fewer for one condition.
                signal.condition = format!("({v}[me] = round) AND ({w}[me] = round) AND ({v}[me + 10] >= 0)");
                signal.parts = vec![self.write(&element, "r"), self.write(&format!("{w}[next]"), "r")];
            }
            _ => {
                let set = self.name("Set");
                let how = self.write(&format!("{v}[i]"), "r");
                signal.procedures = format!("PROCEDURE {set}(i, r: INTEGER); BEGIN {how} END {set};\n");
                signal.parts = vec![format!("{set}(next, r); ")];
            }
        }
        if self.random.one_in(3) {
            self.test_slowly(&mut signal);
        }
        signal
    }

    /// Makes the condition one that a compiler must expect to take long.
    fn test_slowly(&mut self, signal: &mut Signal) {
        let (slow, condition) = (self.name("Slow"), &signal.condition);
        let parameters = "me, round: INTEGER; name: TEXT";
        let procedure = match self.random.below(4) {
            0 => {
                signal.condition = format!("({condition}) AND (TEXT(me) + \"\" = name)");
                return;
            }
            1 => format!("BEGIN IF n > 0 THEN RETURN {slow}(n - 1, me, round, name) END; RETURN {condition}"),
            2 => format!("VARIABLE i: INTEGER; BEGIN FOR i := 1 TO 30 DO INC(n, i) END; RETURN {condition}"),
            _ => format!("BEGIN WHILE n > 0 DO DEC(n) END; RETURN (n = 0) AND ({condition})"),
        };
        signal.condition = format!("{slow}({}, me, round, name)", self.random.below(20));
        signal.procedures +=
            &format!("PROCEDURE {slow}(n: INTEGER; {parameters}): BOOLEAN; {procedure} END {slow};\n");
    }

    /// A statement that stores a value in a variable or element.
    fn write(&mut self, target: &str, value: &str) -> String {
        match self.random.below(7) {
            0 => format!("Put({target}, {value}); "),
            1 => format!("Creep({target}, {value}); "),
            2 => format!("FOR {target} := {value} - 1 TO {value} DO log := log END; "),
            3 => format!("IF NUMBER(TEXT({value}), {target}) THEN log := log END; "),
            4 => format!("{target} := {value} - 1; INC({target}); "),
            _ => format!("{target} := {value}; "),
        }
    }
}
