//! How a program ends: mostly normally, sometimes by HALT or an intended run-time error.

use super::{Generator, Step};

impl Generator {
    /// The last statements of the entry component.
    pub fn ending(&mut self) -> Step {
        let mut step = Step::default();
        if !self.random.one_in(4) {
            return step;
        }
        let fault = match self.random.below(11) {
            0 => "acc := 1 DIV (acc - acc)".to_string(),
            1 => "acc := 9223372036854775807 - acc + acc + 1".into(),
            2 => "ASSERT(acc < 0)".into(),
            3 => {
                step.variables.push("missing[i: INTEGER]: INTEGER".into());
                "acc := missing[acc]".into()
            }
            4 => {
                step.variables.push("bounded[i: INTEGER]: INTEGER {ARRAY}".into());
                "NEW(bounded, 3); FOR acc := 0 TO 5 DO bounded[acc] := acc END".into()
            }
            5 => {
                step.templates += "COMPONENT Thing; END Thing;\n";
                step.variables.push("thing: Thing".into());
                self.random.pick(&["DELETE(thing)", "NEW(thing); NEW(thing)"]).to_string()
            }
            6 => "WRITE(SLICE(TEXT(acc), 1, 100))".into(),
            7 => {
                step.templates += "INTERFACE Never;\nIN Never\nEND Never;\nCOMPONENT Deaf OFFERS Never;
VARIABLE open: BOOLEAN;
IMPLEMENTATION Never;
BEGIN {EXCLUSIVE}
AWAIT(open); ?Never; open := FALSE
END Never;
END Deaf;
";
                step.variables.push("deaf: Deaf".into());
                "NEW(deaf); deaf!Never; DELETE(deaf)".into()
            }
            8 => {
                step.templates += "INTERFACE Break;\nIN Break(n: INTEGER) OUT Done(n: INTEGER)\nEND Break;
COMPONENT Fragile OFFERS Break;
IMPLEMENTATION Break;
VARIABLE n: INTEGER;
BEGIN
?Break(n); n := 100 MOD n; !Done(n)
END Break;
END Fragile;
";
                step.variables.push("fragile[t: TEXT]: Fragile".into());
                "NEW(fragile[\"x\"]); fragile[\"x\"]!Break(acc + 1); fragile[\"x\"]?Done(acc);
fragile[\"x\"]!Break(0); fragile[\"x\"]?Done(acc)"
                    .into()
            }
            9 => "CASE acc OF -5..-1: acc := 1 END".into(),
            _ => format!("HALT({})", self.random.below(100)),
        };
        step.statements = format!("{fault};\nWRITE(\"not reached\");\n");
        step
    }
}
