//! Patterns about texts that are long enough to share their bytes, and have many holders: variables, elements, keys,
//! other components.

use super::{Generator, Step, fold};

/// The text variables of the procedure.
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

impl Generator {
    /// A procedure that cuts, joins, changes, stores and reads texts.
    pub fn cuts(&mut self) -> Step {
        let (work, keep, keeper) = (self.name("Texts"), self.name("Keep"), self.name("Keeper"));
        let (part, count) = (self.cut("x"), 1 + self.random.below(8));
        let kept = self.cut("x");
        let changes: String = (0..2 + self.random.below(8)).map(|_| self.text_change()).collect();
        let inner: String = (0..1 + self.random.below(2)).map(|_| self.simple_change(false)).collect();
        let measures: String = NAMES.iter().map(|name| measure(name)).collect();
        let templates = format!(
            "INTERFACE {keep};\n{{ IN Give(x: TEXT) OUT Taken(x: TEXT) }}\nEND {keep};
COMPONENT {keeper} OFFERS {keep};
VARIABLE last: TEXT;
IMPLEMENTATION {keep};
VARIABLE x: TEXT;
BEGIN
WHILE ?Give DO ?Give(x); BEGIN {{EXCLUSIVE}} last := {kept} END; x[0] := \"k\"; !Taken({part}) END
END {keep};
END {keeper};
"
        );
        let procedures = format!(
            "PROCEDURE {work}(acc: INTEGER): INTEGER;
VARIABLE a, b, c, d: TEXT;
VARIABLE w[k: INTEGER]: TEXT;
VARIABLE words[t: TEXT]: INTEGER;
VARIABLE i, j: INTEGER;
VARIABLE s: {keeper};
PROCEDURE Piece(n: INTEGER): TEXT;
BEGIN RETURN TEXT(n) + \"piece\"
END Piece;
PROCEDURE Meddle(n: INTEGER): TEXT;
BEGIN
{inner}RETURN TEXT(n)
END Meddle;
PROCEDURE Cut(VARIABLE x: TEXT; n: INTEGER): TEXT;
BEGIN x := {}; RETURN TEXT(n)
END Cut;
BEGIN
NEW(s);
a := \"The \" + TEXT(acc); WHILE LENGTH(a) < {} DO a := a + \"quick brown fox \" + TEXT(LENGTH(a)) END;
b := a; c := {};
FOR i := 1 TO {count} DO
{changes}END;
{measures}FOREACH b OF words DO {}END;
FOREACH i OF w DO {}END;
RETURN acc
END {work};
",
            self.cut("x"),
            self.random.pick(&[10, 100, 700, 2000]),
            self.cut("a"),
            fold("(words[b] * 7 + LENGTH(b))"),
            fold("LENGTH(w[i])"),
        );
        Step { templates, procedures, statements: format!("acc := {work}(acc);\n"), ..Step::default() }
    }

    /// A slice of a text variable.
    fn cut(&mut self, name: &str) -> String {
        let all = format!("LENGTH({name})");
        let (from, length) = match self.random.below(6) {
            0 => ("0".into(), format!("{all} - {all} DIV 5")),
            1 => (format!("{all} DIV 2"), format!("{all} - {all} DIV 2")),
            2 => (format!("{all} DIV 5"), format!("{all} DIV 2")),
            3 => (format!("MIN(1, {all})"), format!("{all} - MIN(1, {all})")),
            4 => ("0".into(), format!("{all} - MIN(1, {all})")),
            _ => (format!("{all} DIV 3"), format!("{all} DIV 8")),
        };
        format!("SLICE({name}, {from}, {length})")
    }

    /// A statement for the loop of the outer procedure, which declares all variables.
    fn text_change(&mut self) -> String {
        let (x, y, z) = (*self.random.pick(&NAMES), *self.random.pick(&NAMES), *self.random.pick(&NAMES));
        match self.random.below(16) {
            0 => format!("w[i MOD 3] := {};\n", self.cut(y)),
            1 => format!("IF EXISTS(w[i MOD 2]) THEN {x} := w[i MOD 2] END;\n"),
            2 => format!("words[{y}] := i;\n"),
            3 => format!(
                "{x} := {x} + {y} + Piece(i) + {z};\nIF LENGTH({x}) > 5000 THEN {x} := {} END;\n",
                self.cut(x)
            ),
            4 => format!("{x} := {x} + Meddle(i) + \"!\";\n"),
            5 => format!(
                "{x} := {x} + \"?\" + Cut({y}, i) + {y};\nIF LENGTH({x}) > 5000 THEN {x} := \"\" END;\n"
            ),
            6 => format!("{x} := {x} + Piece(LENGTH({x}));\n"),
            7 => "IF EXISTS(w[1]) THEN w[1] := w[1] + Piece(i); \
                  IF LENGTH(w[1]) > 5000 THEN DELETE(w[1]) END END;\n"
                .into(),
            8 => format!("IF {x} # \"\" THEN s!Give({x}); s?Taken({y}) END;\n"),
            9 => measure(x),
            10 => format!("IF {x} < {y} THEN {} ELSIF {x} = {z} THEN {} END;\n", fold("1"), fold("2")),
            _ => self.simple_change(true),
        }
    }

    /// A statement that an inner procedure can hold too. In an inner procedure a text grows by a few characters only.
    fn simple_change(&mut self, outside: bool) -> String {
        let (x, y) = (*self.random.pick(&NAMES), *self.random.pick(&NAMES));
        match self.random.below(if outside { 6 } else { 5 }) {
            0 | 1 => format!("{x} := {};\n", self.cut(y)),
            2 => format!("{x} := {y};\n"),
            3 => format!("IF {x} # \"\" THEN {x}[LENGTH({x}) DIV 2] := \"z\" END;\n"),
            4 => format!("{x} := {x} + \"more\" + TEXT(LENGTH({y}));\n"),
            _ => format!("{x} := {x} + {y};\nIF LENGTH({x}) > 5000 THEN {x} := {} END;\n", self.cut(x)),
        }
    }
}

/// Folds the length and the characters of a text into `acc`.
fn measure(name: &str) -> String {
    let character = format!("INTEGER({name}[j])");
    format!(
        "FOR j := 0 TO LENGTH({name}) - 1 DO {}END;\n{}",
        fold(&character),
        fold(&format!(
            "(FIND({name}, SLICE({name}, LENGTH({name}) DIV 2, LENGTH({name}) DIV 3), 0) + LENGTH({name}) * 3)"
        ))
    )
}
