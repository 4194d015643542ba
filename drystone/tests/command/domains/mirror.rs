//! Programs that send messages of all kinds to a component, which returns them.

use std::fmt::Write;

/// Texts that are empty, contain terminators, or fit into no buffer.
const TEXTS: [&str; 5] = ["\"\"", "\"x\"", "\"a\\x00b\\xFF\"", "long", "longer"];

/// A value as a program writes it, and its type.
type Written = (&'static str, String);

fn value(random: &mut dyn FnMut() -> u64) -> Written {
    let number = random();
    match random() % 5 {
        0 => (
            "INTEGER",
            ["0", "-1", "MIN", "9223372036854775807"][number as usize % 4].replace("MIN", "least"),
        ),
        1 => ("REAL", ["0.0", "0.1", "-5.0E-324", "1.7976931348623157E308"][number as usize % 4].into()),
        2 => ("BOOLEAN", ["TRUE", "FALSE"][number as usize % 2].into()),
        3 => ("CHARACTER", format!("CHARACTER({})", number % 256)),
        _ => ("TEXT", TEXTS[number as usize % TEXTS.len()].into()),
    }
}

fn list(of: impl Iterator<Item = String>, between: &str) -> String {
    let of = Vec::from_iter(of);
    if of.is_empty() { String::new() } else { format!("({})", of.join(between)) }
}

/// A program with so many messages of up to a dozen values each, to a component at `PLACE`. It prints `done` when all
/// have come back unchanged.
pub fn program(random: &mut dyn FnMut() -> u64, messages: usize) -> String {
    let (mut declared, mut served, mut said) = (String::new(), String::new(), String::new());
    let (mut variables, mut taken) = (String::new(), String::new());
    for number in 0..messages {
        let values = Vec::from_iter((0..random() % 13).map(|_| value(random)));
        let names = || (0..values.len()).map(|at| format!("v{number}x{at}"));
        let types = || values.iter().map(|(ty, _)| *ty);
        let parameters = list(types().enumerate().map(|(at, ty)| format!("p{at}: {ty}")), "; ");
        let (bar, or) = if number == 0 { ("{", "IF") } else { ("|", "ELSIF") };
        writeln!(declared, "{bar} IN Say{number}{parameters} OUT Said{number}{parameters}").expect("text");
        let own = list(names(), ", ");
        writeln!(served, "{or} ?Say{number} THEN ?Say{number}{own}; !Said{number}{own}").expect("text");
        names().zip(types()).for_each(|(name, ty)| write!(variables, "{name}: {ty}; ").expect("text"));
        let given = list(values.iter().map(|(_, value)| value.clone()), ", ");
        writeln!(said, "m!Say{number}{given}; m?Said{number}{own};").expect("text");
        for (name, (_, value)) in names().zip(&values) {
            writeln!(taken, "IF {name} # {value} THEN WRITE(\"{name} \") END;").expect("text");
        }
    }
    format!(
        "COMPONENT Main;
INTERFACE Mirror;
{declared} }}
END Mirror;
COMPONENT Wall OFFERS Mirror;
  IMPLEMENTATION Mirror;
  VARIABLE {variables} goes: BOOLEAN;
  BEGIN
    goes := TRUE;
    WHILE goes DO
{served} ELSE goes := FALSE END
    END
  END Mirror;
END Wall;
VARIABLE {variables} m: Wall; least: INTEGER; long, longer: TEXT;
BEGIN
  least := -9223372036854775807 - 1; long := \"0123456789abcde\"; WHILE LENGTH(long) < 5000 DO long := long + long END;
  longer := long; WHILE LENGTH(longer) < 200000 DO longer := longer + longer END;
  NEW(m) AT \"PLACE\";
{said}{taken}  WRITE(\"done\")
END Main;
"
    )
}
