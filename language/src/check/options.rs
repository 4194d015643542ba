//! Options of a check.

use crate::imports::Packages;

/// What a program is checked for: by default, that it can be run with nothing but the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// The component that the program starts with.
    pub start: Start<'a>,
    /// The program is built together with crates. They may offer what the system doesn't, and bring schemes of names
    /// and binding factories; whether they do shows when it runs.
    pub beside_crates: bool,
    /// The packages of its files.
    pub packages: &'a Packages,
}

/// Which component a program starts with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start<'a> {
    /// The one with `{ENTRYPOINT}`, else the last one at the top level of the first file that has any.
    #[default]
    Marked,
    /// Likewise, if the system can give it what it requires; else none. A file that is only imported need not be a
    /// program.
    Optional,
    /// The one of this name at the top level.
    Named(&'a str),
}

impl<'a> Options<'a> {
    /// The program starts with the component of this name, if one is given.
    pub fn entry(self, name: Option<&'a str>) -> Self {
        Options { start: name.map_or(self.start, Start::Named), ..self }
    }

    /// The files need not have a component to start with.
    pub fn part(self) -> Self {
        Options { start: Start::Optional, ..self }
    }

    /// The program is built together with crates.
    pub fn beside_crates(self) -> Self {
        Options { beside_crates: true, ..self }
    }

    /// The program's files are of these packages.
    pub fn packages(self, packages: &'a Packages) -> Self {
        Options { packages, ..self }
    }
}
