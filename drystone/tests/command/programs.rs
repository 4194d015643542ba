//! Runs the repository's programs. Beside `X.dry` are its expected output `X.expected`, its arguments `X.args`, one a
//! line, and its input `X.in`. A program without `X.expected` runs for ever, and is only compiled.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::{DRYSTONE, all_programs, complaint, drystone, printed, status};

#[test]
fn all_programs_write_what_they_must_on_one_core() {
    run_all("1");
}

#[test]
fn all_programs_write_what_they_must_on_two_cores() {
    run_all("2");
}

fn run_all(cores: &str) {
    for program in all_programs() {
        let Ok(expected) = fs::read_to_string(program.with_extension("expected")) else {
            let output = drystone(Path::new("/"), &["check", program.to_str().expect("a plain path")]);
            assert_eq!(status(&output), 0, "{}", complaint(&output));
            continue;
        };
        let arguments = fs::read_to_string(program.with_extension("args")).unwrap_or_default();
        let input = File::open(program.with_extension("in")).map_or_else(|_| Stdio::null(), Stdio::from);
        let mut command = Command::new(DRYSTONE);
        command.args(["run", "--cores", cores]).arg(&program).arg("--").args(arguments.lines()).stdin(input);
        command.current_dir(program.parent().expect("a program is in a folder"));
        let output = command.output().expect("the command runs");
        let told = (printed(&output), status(&output));
        assert_eq!(told, (expected, 0), "{}: {}", program.display(), complaint(&output));
    }
}
