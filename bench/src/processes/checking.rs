//! Measures how long one waits for the checker: the whole command, on a program of ten thousand lines.

use std::fmt::Write as _;
use std::process::Command;
use std::{env, fs};

use super::bench::Bench;
use crate::execute::execute;
use crate::places;
use crate::row::{Row, Tell};
use crate::statistics::Figure;

/// Components of 25 lines each.
const COMPONENTS: usize = 400;

impl Bench {
    /// `drystone check`, from its start to its end.
    pub(super) fn checking(&self, tell: Tell) -> Result<(), String> {
        let command = places::drystone()?;
        let path = env::temp_dir().join("drystone-bench-check.dry");
        fs::write(&path, text(COMPONENTS)).map_err(|error| format!("{}: {error}", path.display()))?;
        let check = || -> Result<f64, String> {
            let mut check = Command::new(&command);
            check.arg("check").arg(&path);
            Ok(execute(&mut check, 1, self.effort.limit)?.time.as_secs_f64() * 1000.0)
        };
        let ms = (0..self.effort.rounds).map(|_| check()).collect::<Result<Vec<_>, _>>()?;
        tell(Row { drystone: Figure::of(&ms), ..Row::new("check 10 000 lines".into(), "ms") })
    }
}

/// A program of so many accounts, each a component with an interface, a record and a monitor, and one that uses all.
fn text(components: usize) -> String {
    let mut text = String::new();
    for i in 1..components {
        // Writing to a String doesn't fail.
        let _ = writeln!(text, "{}", ACCOUNT.replace('#', &i.to_string()));
    }
    let variables: String = (1..components).map(|i| format!("  a{i}: Account{i};\n")).collect();
    let news: String = (1..components).map(|i| format!("  NEW(a{i});\n")).collect();
    text + &format!("COMPONENT Main;\nVARIABLE\n{variables}BEGIN\n{news}  WRITELINE\nEND Main;\n")
}

const ACCOUNT: &str = "\
RECORD Entry#; amount: INTEGER; what: TEXT END Entry#;
INTERFACE Book#;
  { IN Enter(entry: Entry#) | IN Sum OUT Sum(amount: INTEGER; entries: SEQUENCE OF Entry#) | IN Find(what: TEXT)
    ( OUT Found(at: INTEGER) | OUT Unknown ) }
END Book#;
COMPONENT Account# OFFERS Book#;
VARIABLE entries: SEQUENCE OF Entry#; sum: INTEGER;
  PROCEDURE Place(what: TEXT): INTEGER;
  VARIABLE i: INTEGER; entry: Entry#;
  BEGIN
    FOREACH i, entry OF entries DO IF entry.what = what THEN RETURN i END END;
    RETURN -1
  END Place;
  IMPLEMENTATION Book#;
  VARIABLE isOver: BOOLEAN; at: INTEGER;
  BEGIN {EXCLUSIVE}
    WHILE ~isOver DO
      CASE ? OF
        Enter(entry): entries[COUNT(entries)] := entry; INC(sum, entry.amount)
      | Sum: !Sum(sum, entries)
      | Find(what): at := Place(what); IF at >= 0 THEN !Found(at) ELSE !Unknown END
      | FINISH: isOver := TRUE
      END
    END
  END Book#;
END Account#;";

#[cfg(test)]
mod tests {
    use drystone_language::check::{Options, check};
    use drystone_language::source::SourceFile;

    use super::*;

    #[test]
    fn the_text_has_ten_thousand_lines_and_no_errors() {
        let text = text(COMPONENTS);
        assert!((10_000..12_000).contains(&text.lines().count()), "{} lines", text.lines().count());
        let files = [SourceFile { path: "long.dry".into(), text }];
        assert!(check(&files, Options::default()).is_ok());
    }
}
