//! Components that run on other workers, with all that is in them.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::{complaint, drystone, folder_with, printed, status};

/// How often components were lent.
fn lent(output: &Output) -> u32 {
    let said = complaint(output);
    let lent = said.split("components elsewhere ").nth(1).and_then(|rest| rest.split(',').next());
    lent.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{said}"))
}

fn run(text: &str, cores: &str) -> Output {
    let folder = folder_with(text);
    drystone(folder.path(), &["run", "--cores", cores, "--stats", "program.dry"])
}

#[test]
fn what_has_nothing_to_do_with_each_other_spreads_over_the_processors() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/programs/rings.dry");
    let text = fs::read_to_string(path).expect("it is there").replace("K = 125;", "K = 2000;");
    for (cores, spreads) in [("1", false), ("2", true), ("3", true)] {
        let output = run(&text, cores);
        assert_eq!((printed(&output).as_str(), status(&output)), ("16008000 hops\n", 0), "{cores}");
        assert_eq!(lent(&output) > 0, spreads, "{cores}: {}", complaint(&output));
    }
}

/// Parts that look independent for a while, again and again: in turns, they talk among themselves and with the outside.
const HOSTILE: &str = "
COMPONENT Main;
INTERFACE Play; { IN Ball OUT Back } END Play;
INTERFACE Report; { IN Round OUT Go } END Report;
INTERFACE Work; IN Begin OUT Done END Work;
COMPONENT Wall OFFERS Play; IMPLEMENTATION Play; BEGIN WHILE ?Ball DO ?Ball; !Back END END Play; END Wall;
COMPONENT Player OFFERS Work REQUIRES Report;
  IMPLEMENTATION Work;
  VARIABLE wall: Wall; i, j: INTEGER;
  BEGIN
    ?Begin; NEW(wall);
    FOR i := 1 TO 300 DO
      FOR j := 1 TO 3000 DO Play(wall)!Ball; Play(wall)?Back END;
      BEGIN {EXCLUSIVE} Report!Round; Report?Go END
    END;
    !Done
  END Work;
END Player;
COMPONENT Clerk OFFERS Report;
  VARIABLE rounds: INTEGER;
  IMPLEMENTATION Report; BEGIN WHILE ?Round DO {EXCLUSIVE} ?Round; INC(rounds); !Go END END Report;
END Clerk;
VARIABLE clerk: Clerk; player[i: INTEGER]: Player; i: INTEGER;
BEGIN
  NEW(clerk);
  FOR i := 1 TO 8 DO NEW(player[i]); CONNECT(Report(player[i]), clerk); Work(player[i])!Begin END;
  FOR i := 1 TO 8 DO Work(player[i])?Done END;
  WRITE(\"done\")
END Main;
";

#[test]
fn what_talks_with_others_soon_stays_with_them() {
    let output = run(HOSTILE, "2");
    assert_eq!((printed(&output).as_str(), status(&output)), ("done", 0), "{}", complaint(&output));
    // Without a memory of what doesn't pay, each of the 2400 rounds would do.
    assert!(lent(&output) < 240, "{}", complaint(&output));
}

/// Independent parts that talk among themselves for long; one of them ends as `end` says.
fn parts(isolated: &str, end: &str) -> String {
    format!(
        "
COMPONENT Main;
INTERFACE Play; {{ IN Ball OUT Back }} END Play;
INTERFACE Work; IN Begin(number: INTEGER) OUT Done END Work;
COMPONENT Wall OFFERS Play; IMPLEMENTATION Play; BEGIN WHILE ?Ball DO ?Ball; !Back END END Play; END Wall;
COMPONENT {isolated} Part OFFERS Work;
  IMPLEMENTATION Work;
  VARIABLE wall: Wall; i, number: INTEGER;
  BEGIN
    ?Begin(number); NEW(wall);
    FOR i := 1 TO 3000000 DO Play(wall)!Ball; Play(wall)?Back END;
    IF number = 8 THEN {end} END;
    !Done
  END Work;
END Part;
VARIABLE part[i: INTEGER]: Part; i: INTEGER;
BEGIN
  FOR i := 1 TO 8 DO NEW(part[i]); Work(part[i])!Begin(i) END;
  FOR i := 1 TO 8 DO
    IF Work(part[i])?Done THEN Work(part[i])?Done; WRITE(\"done \") ELSE WRITE(\"lost \") END
  END
END Main;
"
    )
}

#[test]
fn an_error_in_a_component_that_runs_elsewhere_ends_what_it_ends_at_home() {
    for cores in ["1", "2", "3"] {
        let output = run(&parts("{ISOLATED}", "ASSERT(FALSE)"), cores);
        let wanted = "done ".repeat(7) + "lost ";
        assert_eq!((printed(&output), status(&output)), (wanted, 0), "{cores}: {}", complaint(&output));
        assert!(complaint(&output).contains("in Main.part[8]"), "{cores}: {}", complaint(&output));
        assert_eq!(lent(&output) > 0, cores != "1", "{}", complaint(&output));
        let output = run(&parts("", "HALT(7)"), cores);
        assert_eq!(status(&output), 7, "{cores}: {}", complaint(&output));
    }
}
