//! Generates blocks with everything that can be shipped. Their server answers the same way each time.

use std::fmt::Write;

/// The rest of every program; BLOCK and NAMES stand for what differs.
const PROGRAM: &str = "RECORD Nothing; END Nothing;
RECORD Inner; b: BOOLEAN; no: Nothing; r: REAL; sizes: SEQUENCE OF SEQUENCE OF INTEGER END Inner;
RECORD Pair; n: INTEGER; in: Inner; t: TEXT; c: CHARACTER END Pair;
PROCEDURE Shown(p: Pair): TEXT;
BEGIN
  RETURN TEXT(p.n) + \" \" + TEXT(p.in.b) + TEXT(p.in.r) + \" <\" + p.t + \"> \" + TEXT(INTEGER(p.c)) +
    TEXT(COUNT(p.in.sizes))
END Shown;
PROCEDURE All(s: SEQUENCE OF Pair): TEXT;
VARIABLE t: TEXT; i: INTEGER;
BEGIN
  FOR i := 0 TO COUNT(s) - 1 DO t := t + \";\" + Shown(s[i]) END;
  RETURN t
END All;
COMPONENT Main;
INTERFACE Echo;
  { IN Say(n: INTEGER; t: TEXT; r: REAL; b: BOOLEAN; c: CHARACTER)
      ( OUT Both(n: INTEGER; t: TEXT; r: REAL; b: BOOLEAN; c: CHARACTER) | OUT Number(n: INTEGER) )
  | IN Note(n: INTEGER) | IN Sum OUT Number(n: INTEGER)
  | IN Put(p: Pair; s: SEQUENCE OF Pair) OUT Got(s: SEQUENCE OF Pair; p: Pair) }
END Echo;
INTERFACE Twice; { IN Double(n: INTEGER) OUT Is(n: INTEGER) } END Twice;
COMPONENT Host OFFERS Echo, Twice;
  IMPLEMENTATION Echo;
  VARIABLE n, sum: INTEGER; t: TEXT; r: REAL; b: BOOLEAN; c: CHARACTER; p: Pair; s: SEQUENCE OF Pair;
  BEGIN
    WHILE ?ANY DO
      IF ?Say THEN
        ?Say(n, t, r, b, c);
        IF n MOD 2 = 0 THEN !Both(n DIV 2, t + \"x\", r * 0.5, ~b, c) ELSE !Number(n DIV 3 - 1) END
      ELSIF ?Note THEN ?Note(n); sum := (sum + n) MOD 1000
      ELSIF ?Put THEN
        ?Put(p, s); APPEND(s, p); p.n := COUNT(s); p.in.b := ~p.in.b; APPEND(p.in.sizes, [p.n]); !Got(s, p)
      ELSE ?Sum; !Number(sum) END
    END
  END Echo;
  IMPLEMENTATION Twice;
  VARIABLE n: INTEGER;
  BEGIN WHILE ?Double DO ?Double(n); !Is(n MOD 100 * 2) END END Twice;
END Host;
COMPONENT Guest REQUIRES Echo, Twice[2];
BODY
END Guest;
VARIABLE host: Host; guest: Guest;
BEGIN
  NEW(guest); NEW(host);
  NAMES
END Main;
";

const VARIABLES: &str = "i0, i1, i2, k0, k1: INTEGER; t0, t1: TEXT; r0, r1: REAL; b0, b1: BOOLEAN; c0, c1: CHARACTER; \
     p0, p1: Pair; s0, s1: SEQUENCE OF Pair; d0: Inner";

const SHOW: &str = "WRITE(TEXT(i0) + \",\" + TEXT(i1) + \",\" + TEXT(i2) + \",\" + TEXT(k0) + \",\" \
     + TEXT(k1) + \" <\" + t0 + \"> <\" + t1 + \"> \" + TEXT(r0) + \" \" + TEXT(r1) + \" \" + TEXT(b0) + \
     TEXT(b1)); WRITE(\" \"); WRITEHEX(INTEGER(c0)); WRITEHEX(INTEGER(c1)); WRITELINE; \
     WRITE(Shown(p0) + Shown(p1) + All(s0) + \" \" + All(s1) + TEXT(d0.r) + TEXT(d0.b)); WRITELINE";

/// A program with ordinary blocks, and the same with blocks that are shipped by names with these prefixes, and to a
/// domain.
pub fn programs(random: &mut dyn FnMut() -> u64, prefixes: [String; 2]) -> [String; 4] {
    let mut maker = Maker { random, loops: 0, talks: false, has_two: true };
    // Not all names can be used from one block.
    maker.has_two = maker.below(3) > 0;
    // A communication that began earlier isn't shipped.
    maker.talks = maker.below(4) == 0;
    let first = maker.statements(3, 2);
    maker.talks = true;
    let block = maker.statements(5, 3);
    let again = maker.statements(3, 2);
    let blocks = format!(
        "  t0 := \"start\";\n{first}  BEGIN {{COMPOSITE}}\n    Echo!Note(3);\n\
         {block}  END;\n  {SHOW};\n  BEGIN {{COMPOSITE}}\n\
         {again}  Echo!Sum; Echo?Number(i2)\n  END;\n  {SHOW}"
    );
    let body = match maker.below(3) {
        0 => format!("VARIABLE {VARIABLES};\nACTIVITY\n{blocks}"),
        1 => format!("PROCEDURE Work;\nVARIABLE {VARIABLES};\nBEGIN\n{blocks}\nEND Work;\nACTIVITY\n  Work"),
        _ => {
            let others = VARIABLES.replace("i0, i1, ", "").replace("t0, ", "");
            format!(
                "VARIABLE n: INTEGER;\nPROCEDURE Work(VARIABLE i0: INTEGER; i1: INTEGER; t0: TEXT);\n\
                 VARIABLE {others};\nBEGIN\n{blocks}\nEND Work;\n\
                 ACTIVITY\n  n := 7; Work(n, 3, \"given\"); WRITE(n); WRITELINE"
            )
        }
    };
    let program = PROGRAM.replace("BODY", &body);
    let near = "CONNECT(Echo(guest), host); CONNECT(Twice[1](guest), host); CONNECT(Twice[2](guest), host)";
    // Behind a factory, programs arrive like other clients.
    let by = maker.one(&["", " BY Monitored", " BY Restricted(messages: \"Say, Note, Sum, Put\")"]);
    let [there, over_nats] = prefixes.map(|prefix| {
        let (echo, twice) = (format!("\"{prefix}echo\""), format!("\"{prefix}twice\""));
        let far = format!(
            "EXPORT(Echo(host), {echo}){by}; EXPORT(Twice(host), {twice}); CONNECT(Echo(guest), {echo}); \
             CONNECT(Twice[1](guest), {twice}); CONNECT(Twice[2](guest), {twice})"
        );
        program.replace("NAMES", &far)
    });
    let place = maker.one(&["process:host", "worker:1"]);
    let apart = program.replace("NEW(host);", &format!("NEW(host) AT \"{place}\";"));
    [program.replace("NAMES", near), there, over_nats, apart.replace("NAMES", near)]
}

struct Maker<'a> {
    random: &'a mut dyn FnMut() -> u64,
    /// The loops around the present statement.
    loops: usize,
    /// Whether statements may communicate.
    talks: bool,
    /// Whether they may use both interfaces.
    has_two: bool,
}

impl Maker<'_> {
    fn below(&mut self, limit: usize) -> usize {
        ((self.random)() >> 8) as usize % limit
    }

    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len())]
    }

    fn statements(&mut self, count: usize, depth: usize) -> String {
        let mut text = String::new();
        for _ in 0..1 + self.below(count) {
            let statement = self.statement(depth);
            writeln!(text, "    {statement};").expect("text");
        }
        text
    }

    fn statement(&mut self, depth: usize) -> String {
        let which = self.below(if depth == 0 { 14 } else { 19 });
        match if self.talks || !(10..14).contains(&which) { which } else { 0 } {
            0 | 1 => format!("{} := {}", self.one(&["i0", "i1", "i2"]), self.integer(3)),
            2 => format!("{} := {}", self.one(&["t0", "t1"]), self.text(3)),
            3 => format!("{} := {}", self.one(&["r0", "r1"]), self.real(3)),
            4 => format!("{} := {}", self.one(&["b0", "b1"]), self.whole()),
            5 => format!("{} := {}", self.one(&["c0", "c1"]), self.character(2)),
            6 => format!("{}({}, {})", self.one(&["INC", "DEC"]), self.one(&["i0", "i1"]), self.integer(2)),
            7 => match self.below(3) {
                0 if self.below(4) > 0 => format!("t0[0] := {}", self.character(2)),
                0 => format!("t0[{}] := {}", self.integer(1), self.character(2)),
                1 => format!("NEW(t1, {} MOD 5)", self.integer(1)),
                _ => format!("ASSERT({} OR TRUE)", self.whole()),
            },
            8 => match self.below(7) {
                0 => format!("p0.n := {}", self.integer(2)),
                1 => format!("p1.in.r := {}; p0.c := {}", self.real(2), self.character(1)),
                2 => format!("p0.in := d0; d0 := Inner(b: {})", self.boolean(1)),
                3 => "p1 := p0".into(),
                4 => format!("INC(p0.n, {}); p1.t := {}", self.integer(1), self.text(1)),
                // Each of its values depends on the old ones.
                5 => "p0 := Pair(t: p0.t + TEXT(p0.n), n: LENGTH(p0.t), in: Inner(b: ~p0.in.b))".into(),
                _ => format!("d0 := {}.in; b0 := NUMBER(t1, p1.n)", self.one(&["p0", "p1"])),
            },
            9 => self.one(&["s0 := s1", "s1 := s0", "s0 := []", "p1.in.sizes := p0.in.sizes"]).into(),
            10 if self.below(2) == 0 => {
                let (p, s) = (self.record(), self.one(&["s0", "s1", "[]"]));
                let (to, into) = (self.one(&["s0", "s1"]), self.one(&["p0", "p1"]));
                let answer = match self.below(2) {
                    0 => format!("CASE Echo? OF Got(s, p): {to} := s; {into} := p; i1 := COUNT(s) + p.n END"),
                    _ => format!("Echo?Got({to}, {into})"),
                };
                format!("Echo!Put({p}, {s}); {answer}")
            }
            10 | 11 => {
                let values =
                    [self.integer(2), self.text(2), self.real(2), self.boolean(2), self.character(1)];
                let [i, t, r, b, c] = [["i0", "i1"], ["t0", "t1"], ["r0", "r1"], ["b0", "b1"], ["c0", "c1"]]
                    .map(|both| self.one(&both));
                let values = values.join(", ");
                let answer = match self.below(3) {
                    0 => format!(
                        "CASE Echo? OF Both(n, t, r, b, c): {i} := n; {t} := t; {r} := r; {b} := b; {c} := c \
                         | Number(n): i2 := n END"
                    ),
                    1 => format!(
                        "CASE Echo? OF Number(i1): i2 := i1 - 1 ELSE Echo?Both({i}, {t}, {r}, {b}, {c}) END"
                    ),
                    _ => format!(
                        "IF Echo?Both THEN Echo?Both({i}, {t}, {r}, {b}, {c}) ELSE Echo?Number(i2) END"
                    ),
                };
                format!("Echo!Say({values}); {answer}")
            }
            13 if self.has_two => {
                let which = self.one(&["Twice[1]", "Twice[2]"]);
                format!("{which}!Double({}); {which}?Is({})", self.integer(2), self.one(&["i0", "i2"]))
            }
            12 | 13 => match self.below(2) {
                0 => format!("Echo!Note({})", self.integer(2)),
                _ => "Echo!Sum; b0 := Echo?ANY; Echo?Number(i1)".into(),
            },
            14 if self.below(2) == 0 => self.choice(depth - 1),
            14 | 15 => {
                let (condition, yes, no) =
                    (self.whole(), self.statements(3, depth - 1), self.statements(2, depth - 1));
                let between = match self.below(2) {
                    0 => String::new(),
                    _ => format!("ELSIF {} THEN\n{}", self.whole(), self.statements(2, depth - 1)),
                };
                format!("IF {condition} THEN\n{yes}    {between}ELSE\n{no}    END")
            }
            which => self.repetition(which - 16, depth),
        }
    }

    /// A choice by a value.
    fn choice(&mut self, depth: usize) -> String {
        let (value, labels): (String, &[&str]) = match self.below(4) {
            0 => (self.integer(2), &["0, 2..7", "-3", "1000..2000, 1"]),
            1 => (self.text(2), &["\"\"", "\"ab\", \"x\"", "\"1\""]),
            2 => (self.character(2), &["\"a\"..\"m\"", "0X", "\"z\", 41X..5AX"]),
            _ => (self.whole(), &["FALSE", "TRUE"]),
        };
        let mut text = format!("CASE {value} OF\n");
        for label in labels {
            write!(text, "    | {label}:\n{}", self.statements(2, depth)).expect("text");
        }
        // Most programs should end without an error.
        if self.below(12) > 0 {
            write!(text, "    ELSE\n{}", self.statements(2, depth)).expect("text");
        }
        text + "    END"
    }

    /// A loop, at most two deep: each has its own variable.
    fn repetition(&mut self, which: usize, depth: usize) -> String {
        if self.loops == 2 {
            return self.statement(0);
        }
        let k = ["k0", "k1"][self.loops];
        self.loops += 1;
        let body = self.statements(3, depth - 1);
        self.loops -= 1;
        match which {
            0 => {
                let by = self.one(&["", " BY 2", " BY -1"]);
                format!(
                    "FOR {k} := {} MOD 4 TO {} MOD 4{by} DO\n{body}    END",
                    self.integer(1),
                    self.integer(1)
                )
            }
            1 => {
                let condition = self.whole();
                format!(
                    "{k} := 0; WHILE ({condition} OR ({k} < 2)) AND ({k} < 4) DO\n    INC({k});\n{body}    END"
                )
            }
            _ => {
                let condition = self.whole();
                format!("{k} := 0; REPEAT\n    INC({k});\n{body}    UNTIL ({condition}) OR ({k} > 2)")
            }
        }
    }

    fn integer(&mut self, depth: usize) -> String {
        let leaf = depth == 0;
        match self.below(if leaf { 2 } else { 13 }) {
            0 => ["0", "1", "2", "7", "-3", "1000"][self.below(6)].into(),
            1 => self.one(&["i0", "i1", "i2", "k0", "k1", "p0.n", "COUNT(s0)", "COUNT(p1.in.sizes)"]).into(),
            2..=5 => {
                let operator = self.one(&["+", "-", "*", "+", "DIV", "MOD"]);
                let left = self.integer(depth - 1);
                // Most programs should end without an error.
                let right = match operator {
                    "DIV" | "MOD" if self.below(8) > 0 => self.one(&["7", "-3", "100"]).into(),
                    _ => self.integer(depth - 1),
                };
                format!("({left} {operator} ({right}))")
            }
            6 => format!("LENGTH({})", self.text(depth - 1)),
            7 => format!("INTEGER({})", self.character(depth - 1)),
            8 => format!("INTEGER({})", self.boolean(depth - 1)),
            9 => format!(
                "{}({}, {})",
                self.one(&["MIN", "MAX"]),
                self.integer(depth - 1),
                self.integer(depth - 1)
            ),
            10 => format!("FIND({}, {}, 0)", self.text(depth - 1), self.text(0)),
            11 => format!("BITNOT({})", self.integer(depth - 1)),
            _ => {
                const OF_TWO: [&str; 8] =
                    ["BITAND", "BITOR", "BITXOR", "SHIFT", "ROTATE", "ADDWRAP", "SUBWRAP", "MULWRAP"];
                format!("{}({}, {})", self.one(&OF_TWO), self.integer(depth - 1), self.integer(depth - 1))
            }
        }
    }

    fn real(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 2 } else { 6 }) {
            0 => self.one(&["0.5", "3.0", "1.0E3"]).into(),
            1 => self.one(&["r0", "r1", "p1.in.r", "d0.r"]).into(),
            2..=3 => {
                let operator = self.one(&["+", "-", "*", "/"]);
                format!("({} {operator} {})", self.real(depth - 1), self.real(depth - 1))
            }
            4 => format!("REAL({})", self.integer(depth - 1)),
            _ => format!("SQRT({})", self.real(depth - 1)),
        }
    }

    /// A text expression; texts grow slowly.
    fn text(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 2 } else { 6 }) {
            0 => self.one(&["\"\"", "\"ab\"", "\"x\"", "\"12\""]).into(),
            1 => self.one(&["t0", "t1", "p0.t"]).into(),
            2 => format!(
                "({} + {})",
                self.one(&["t0", "t1", "\"q\"", "\"r\""]),
                self.one(&["\"y\"", "TEXT(i0)", "TEXT(b0)", "TEXT(k0)"])
            ),
            3 => format!("TEXT({})", self.integer(depth - 1)),
            4 => format!("SLICE({} + \"_\", 0, {} MOD 2)", self.text(depth - 1), self.integer(depth - 1)),
            _ => format!("TEXT({})", self.real(depth - 1)),
        }
    }

    fn character(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 2 } else { 4 }) {
            0 => self.one(&["\"a\"", "\"z\"", "0X"]).into(),
            1 => self.one(&["c0", "c1", "p0.c"]).into(),
            2 if self.below(4) > 0 => "t0[0]".into(),
            2 => format!("t0[{}]", self.integer(depth - 1)),
            _ => format!("CHARACTER({} MOD 256)", self.integer(depth - 1)),
        }
    }

    fn boolean(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 2 } else { 8 }) {
            0 => self.one(&["TRUE", "FALSE"]).into(),
            1 => self.one(&["b0", "b1", "p0.in.b", "d0.b"]).into(),
            2 => format!("(~{})", self.boolean(depth - 1)),
            3 => {
                let operator = self.one(&["AND", "OR"]);
                format!("({} {operator} {})", self.boolean(depth - 1), self.boolean(depth - 1))
            }
            kind => {
                let operator = self.one(&["=", "#", "<", "<=", ">", ">="]);
                let mut side = || match kind {
                    4 | 5 => self.integer(depth - 1),
                    6 => self.text(depth - 1),
                    _ => self.real(depth - 1),
                };
                format!("({} {operator} {})", side(), side())
            }
        }
    }

    fn record(&mut self) -> String {
        match self.below(4) {
            0 => "p0".into(),
            1 => "p1".into(),
            2 => "Pair()".into(),
            _ => format!("Pair(n: {}, in: d0, c: {})", self.integer(2), self.character(1)),
        }
    }

    /// A condition, in which NUMBER may be evaluated first.
    fn whole(&mut self) -> String {
        let number = || "NUMBER(t1, i1)".to_string();
        match self.below(6) {
            0 => number(),
            1 => format!("~{}", number()),
            2 => format!("{} {} {}", number(), ["AND", "OR"][self.below(2)], self.boolean(1)),
            _ => self.boolean(3),
        }
    }
}
