//! Places where components are made, on Linux and on a machine without an operating system. A program does the same in
//! all of them.

use std::path::Path;
use std::process::{Command, Output};

use crate::{complaint, folder_with, pc, printed, status};

/// A place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Its text behind AT.
    pub name: &'static str,
    platform: &'static str,
}

const fn place(platform: &'static str, name: &'static str) -> Place {
    Place { name, platform }
}

const PLACES: [Place; 5] = [
    place("linux", "process:store"),
    place("linux", "user:store"),
    place("linux", "worker:1"),
    place("pc", "user:store"),
    place("pc", "worker:1"),
];

/// All places that are available here.
pub fn places() -> impl Iterator<Item = Place> {
    PLACES.into_iter().filter(|place| !place.is_bare() || pc::is_there())
}

/// A program has this output on each platform, with the components of these variables made in each place.
#[track_caller]
pub fn writes_everywhere(text: &str, apart: &[&[&str]], expected: &str) {
    let near = platforms().map(|platform| (platform, text.to_string()));
    let apart = apart.iter().flat_map(|apart| places().map(|place| (place, made_apart(text, apart))));
    for (place, text) in near.chain(apart) {
        let output = place.run_text(&text);
        let said = (printed(&output), status(&output));
        assert_eq!(said, (expected.into(), 0), "{place:?}: {}\n{text}", complaint(&output));
    }
}

/// The program with the components of these variables made at a place.
fn made_apart(text: &str, variables: &[&str]) -> String {
    variables.iter().fold(text.to_string(), |text, variable| {
        let made = format!("NEW({variable})");
        assert!(text.contains(&made), "{variable} is made");
        text.replace(&made, &format!("{made} AT \"PLACE\""))
    })
}

/// One place for each platform that is available here.
pub fn platforms() -> impl Iterator<Item = Place> {
    places().filter(|place| place.name == "user:store")
}

impl Place {
    /// Whether it is on a machine without an operating system.
    pub fn is_bare(self) -> bool {
        self.platform == "pc"
    }

    /// Whether it is an address space of its own.
    pub fn is_apart(self) -> bool {
        !self.name.starts_with("worker")
    }

    /// The factory that joins what is made there.
    pub fn factory(self) -> &'static str {
        if self.is_apart() { "Lrpc" } else { "Worker" }
    }

    /// Runs a program of a folder on that platform.
    pub fn run(self, folder: &Path, program: &str, arguments: &[&str]) -> Output {
        let mut command = self.command(folder, program);
        command.arg("--").args(arguments);
        pc::output(command)
    }

    /// The same, with a text in which `PLACE` stands for the place.
    pub fn run_text(self, text: &str) -> Output {
        self.run(folder_with(&text.replace("PLACE", self.name)).path(), "program.dry", &[])
    }

    fn command(self, folder: &Path, program: &str) -> Command {
        pc::run(folder, &["--platform", self.platform], program)
    }
}
