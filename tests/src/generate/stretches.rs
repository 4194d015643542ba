//! Operations that take long, during which other processes run: lookups by long texts that may agree in all the bytes
//! that are hashed, conversions of long numbers, and procedures that call each other so often that they may not run on
//! the processor's stack.

use super::{Generator, Step, fold};

/// A length that is more than the runtime handles without a break.
const LONG: usize = 300_000;

impl Generator {
    /// A procedure with such operations, which computes a result from them.
    pub fn stretches(&mut self) -> Step {
        let (work, chain) = (self.name("Stretch"), self.name("Chain"));
        let mut procedures = String::new();
        let depth = 2 + self.random.below(13);
        for level in 0..=depth {
            let body = match level {
                0 => "x := (x * 31 + 7) MOD 1009".to_string(),
                _ => format!("IF x >= 0 THEN {chain}x{0}(x); {chain}x{0}(x) END", level - 1),
            };
            procedures += &format!(
                "PROCEDURE {chain}x{level}(VARIABLE x: INTEGER);\nBEGIN {body} END {chain}x{level};\n"
            );
        }
        let (keys, length) = (1 + self.random.below(14), LONG + self.random.below(3) * 50_001);
        let place = *self.random.pick(&["0", "LENGTH(t) - 1", "LENGTH(t) DIV 2 + 3", "i * 17 + 5000"]);
        let declared = *self.random.pick(&["words[t: TEXT]", "words[t: TEXT; k: INTEGER]"]);
        let key = |text: &str| if declared.contains("k:") { format!("{text}, 1") } else { text.to_string() };
        let (over, rest) = if declared.contains("k:") { ("u, j", "+ j") } else { ("u", "") };
        let step = 1 + self.random.below(3);
        let digits = *self.random.pick(&["7", "-12", "9223372036854775808", "0FFH", "1.5", "x", "25.0E-1"]);
        let word = self.number(&["acc"], 1);
        procedures += &format!(
            "PROCEDURE {work}(acc: INTEGER): INTEGER;
VARIABLE {declared}: INTEGER;
VARIABLE t, u: TEXT;
VARIABLE i, j: INTEGER;
VARIABLE x: REAL;
VARIABLE b: BOOLEAN;
BEGIN
i := acc; {chain}x{depth}(i);
{}NEW(t, {length});
FOR i := 1 TO {keys} DO t[{place}] := CHARACTER(i); words[{}] := {word} + i END;
FOR i := 1 TO {keys} BY {step} DO t[{place}] := CHARACTER(i); \
  IF EXISTS(words[{}]) THEN INC(words[{}], i); DELETE(words[{}]) END END;
FOREACH {over} OF words DO {}END;
t := \"0\"; WHILE LENGTH(t) < {length} DO t := t + t END;
t := t + \"{digits}\";
i := 0; b := NUMBER(t, i); acc := (acc * 7 + INTEGER(b)) MOD 1000003; {}b := NUMBER(t, x);
IF b AND (x < 1000.0) THEN {}END;
RETURN acc
END {work};
",
            fold("i"),
            key("t"),
            key("t"),
            key("t"),
            key("t"),
            fold(&format!("words[{over}] MOD 9973 + LENGTH(u) {rest}")),
            fold("i MOD 9973"),
            fold("INTEGER(x * 8.0)"),
        );
        Step { procedures, statements: format!("acc := {work}(acc);\n"), ..Step::default() }
    }
}
