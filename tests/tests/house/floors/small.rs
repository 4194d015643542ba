//! Crates of a few lines, in which it is known what uses what.

use std::path::Path;

use super::circles::circles;
use super::uses::of_crate;

/// The pairs of files of which the first uses the second, without the ending `.rs`.
fn uses(files: &[(&str, &str)]) -> Vec<String> {
    let read = |path: &Path| {
        let found = files.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, text)| (*text).to_owned())
    };
    let short = |file: &str| file.replace(".rs", "");
    of_crate(files[0].0, &read).keys().map(|(from, to)| format!("{} {}", short(from), short(to))).collect()
}

/// The same for a crate of a root with these lines beside its three modules, and these.
fn of_modules(root: &str, one: &str, two: &str, child: &str) -> Vec<String> {
    let root = format!("mod one; mod two; {root}");
    let one = format!("mod child; {one} pub struct One; impl One {{ pub fn new() -> One {{ One }} }}");
    let two = format!("{two} pub struct Two; pub fn second() {{}}");
    let child = format!("{child} pub struct Child; pub mod inner {{ pub struct Inner; }}");
    uses(&[("lib.rs", &root), ("one.rs", &one), ("two.rs", &two), ("one/child.rs", &child)])
}

#[test]
fn a_path_uses_the_file_that_declares_what_it_leads_to() {
    for one in [
        "use crate::two::Two;",
        "use super::two::{self, second as other};",
        "fn f() { crate::two::second() }",
        "fn f() { use crate::two; two::second() }",
        "use crate::*; fn f(_: two::Two) {}",
        "fn f() { println!(\"{}\", crate::two::second()) }",
        "fn f(_: &dyn Fn(crate::two::Two)) {}",
        "macro_rules! m { () => { $crate::two::second() } }",
        "use crate::two::*;",
        "use crate::two::Made;",
        "mod inline { use super::super::two::Two; }",
    ] {
        let mut found = of_modules("", one, "", "");
        found.retain(|pair| pair != "one lib");
        assert_eq!(found, ["one two"], "{one}");
    }
}

#[test]
fn parents_and_children_use_each_other_as_others_do() {
    assert_eq!(of_modules("use one::One;", "", "", ""), ["lib one"]);
    assert_eq!(of_modules("", "fn f() { child::inner::Inner; }", "", ""), ["one one/child"]);
    assert_eq!(
        of_modules("struct Root;", "", "", "use super::One; use crate::Root;"),
        ["one/child lib", "one/child one"]
    );
}

#[test]
fn a_re_export_is_no_use_and_hides_none() {
    assert_eq!(of_modules("pub use one::One; fn f() -> One {}", "", "", ""), ["lib one"]);
    assert!(
        of_modules("pub use one::One; pub(crate) use two::*;", "pub use child::Child as Son;", "", "")
            .is_empty()
    );
    assert_eq!(
        of_modules("pub use one::Son;", "pub use child::Child as Son;", "use crate::Son;", ""),
        ["two one/child"]
    );
    assert_eq!(
        of_modules("pub use one::*;", "pub use child::*;", "use crate::inner::Inner;", ""),
        ["two one/child"]
    );
}

#[test]
fn what_is_declared_and_imported_only_is_not_used() {
    for one in [
        "",
        "use crate::two;",
        "use child;",
        "pub(in crate::two) struct Other;",
        "#[cfg(test)] use crate::two::Two;",
        "#[cfg(test)] mod tests { use crate::two::Two; }",
        "#[cfg(all(test, unix))] fn f() { crate::two::second() }",
        "#[test] fn f() { crate::two::second() }",
        "impl One { #[cfg(test)] fn f() { crate::two::second() } }",
        "use std::two::Two; fn f(two: u8) -> u8 { two }",
        "use elsewhere::two; fn f() { two::second() }",
        "// crate::two::second()",
    ] {
        assert!(of_modules("", one, "", "").is_empty(), "{one}");
    }
}

#[test]
fn modules_are_found_where_they_lie() {
    let found = uses(&[
        (
            "src/lib.rs",
            "#[path = \"deep/deep.rs\"] mod deep; mod flat; mod inline { mod inner; } fn f() { deep::beside::F }",
        ),
        ("src/deep/deep.rs", "pub mod beside;"),
        ("src/deep/beside.rs", "pub const F: () = crate::flat::F;"),
        ("src/flat/mod.rs", "pub const F: () = ();"),
        ("src/inline/inner.rs", "use crate::flat::F;"),
    ]);
    assert_eq!(
        found,
        ["src/deep/beside src/flat/mod", "src/inline/inner src/flat/mod", "src/lib src/deep/beside"]
    );
}

#[test]
fn circles_of_any_length_are_found() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c; mod d; use a::A;"),
        ("a.rs", "pub struct A; fn f() {\n    crate::b::f()\n}"),
        ("b.rs", "pub fn f() -> crate::c::C {}"),
        ("c.rs", "pub struct C(crate::A);"),
        ("d.rs", "use crate::a::A;"),
    ];
    let read = |path: &Path| {
        files.iter().find(|(name, _)| Path::new(name) == path).map(|(_, text)| (*text).to_owned())
    };
    let found = circles(&of_crate("lib.rs", &read));
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].to_string(),
        "a circle of 3 files:\n  a.rs\n  b.rs\n  c.rs\na.rs uses b.rs:\n  2: crate::b::f()\n\
         b.rs uses c.rs:\n  1: pub fn f() -> crate::c::C {}\nc.rs uses a.rs:\n  1: pub struct C(crate::A);\n"
    );
}
