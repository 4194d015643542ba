//! A definition is used only where the program can't run with another definition of the same name: each linkage of
//! LLVM, for variables, functions and aliases, in one module and in several.

use crate::toolchain::Compiler;
use crate::{residual, toolchain};
use drystone_specialise::{Context, link, parse, print, specialise};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Linkages, and whether what is defined with them is what every program runs with.
const LINKAGES: &[(&str, bool)] = &[
    ("", true),
    ("dso_local", true),
    ("internal", true),
    ("private", true),
    ("weak", false),
    ("weak dso_local", false),
    ("weak hidden", false),
    ("weak_odr", true),
    ("linkonce", false),
    ("linkonce_odr", true),
];

/// What remains of `entry` as LLVM IR.
fn residual_of(modules: &[&str], said: &str) -> String {
    let read = |(at, text): (usize, &&str)| {
        parse::read(text, &format!("{at}.ll")).unwrap_or_else(|error| panic!("{error}\n{text}"))
    };
    let program = link::link(modules.iter().enumerate().map(read).collect()).expect("they make a program");
    let context = Context::read(&format!("entry = \"entry\"\n{said}")).expect("a context");
    let residual = specialise(&program, &context).unwrap_or_else(|error| panic!("{error}\n{modules:?}"));
    print::print(&residual.module)
}

#[track_caller]
fn check(modules: &[&str], said: &str, known: bool, constant: &str, name: &str) {
    let residual = residual_of(modules, said);
    let (folded, mentioned) = (residual.contains(constant), residual.contains(name));
    assert_eq!((folded, mentioned), (known, !known), "{modules:#?}\n{residual}");
}

#[test]
fn variables_are_known_if_nobody_may_replace_them() {
    const READER: &str = "define i32 @entry() { %x = load i32, ptr @it ret i32 %x }";
    let with = |what: &str| format!("@it = {what}\n{}", lines(READER));
    for (linkage, known) in LINKAGES.iter().chain(&[("available_externally", true)]) {
        check(&[&with(&format!("{linkage} constant i32 3"))], "", *known, "ret i32 3", "@it");
        // Of a table only some bytes are read.
        let table = format!(
            "@table = {linkage} constant [2 x i32] [i32 1, i32 3]\n{}",
            lines(
                "define i32 @entry() { %x = load i32, ptr getelementptr (i8, ptr @table, i64 4) ret i32 %x }"
            )
        );
        check(&[&table], "", *known, "ret i32 3", "@table");
    }
    for declared in ["external constant i32", "extern_weak constant i32", "common global i32 0"] {
        check(&[&with(declared)], "", false, "ret i32 0", "@it");
    }
    // Who says so knows the program.
    let weak = with("weak constant i32 3");
    check(&[&weak], "[global.it]\nconstant = true", true, "ret i32 3", "@it");
}

#[test]
fn initialisers_see_only_what_nobody_may_replace() {
    const REST: &str = "@copy = global i32 0
        define void @init() { %x = load i32, ptr @it store i32 %x, ptr @copy ret void }
        define i32 @entry() { %x = load i32, ptr @copy ret i32 %x }";
    let said = "initialisers = [\"init\"]\n[global.copy]\nconstant = true";
    for (linkage, known) in LINKAGES {
        for kind in ["constant", "global"] {
            let text = format!("@it = {linkage} {kind} i32 3\n{}", lines(REST));
            check(&[&text], said, *known, "ret i32 3", "@copy");
        }
    }
    check(&[&format!("@it = common global i32 0\n{}", lines(REST))], said, false, "ret i32 0", "@copy");
    // What an initialiser calls and nobody sees the code of may write to what it can reach.
    let kept = |linkage: &str, passed: &str| {
        format!(
            "@copy = {linkage} i32 0\ndeclare void @outside(ptr)\n{}",
            lines(&format!(
                "define void @init() {{ call void @outside(ptr {passed}) ret void }}
                 define i32 @entry() {{ %x = load i32, ptr @copy ret i32 %x }}"
            ))
        )
    };
    check(&[&kept("global", "null")], said, false, "ret i32 0", "@copy");
    check(&[&kept("internal global", "null")], said, true, "ret i32 0", "@copy");
    let passed = parse::read(&kept("internal global", "@copy"), "passed.ll").expect("it can be read");
    let context = Context::read(&format!("entry = \"entry\"\n{said}")).expect("a context");
    let error = specialise(&passed, &context).expect_err("nobody knows what is in it").to_string();
    assert!(error.contains("the residual program needs copy"), "{error}");
    let weak = lines("define weak void @init() { ret void } define i32 @entry() { ret i32 0 }");
    let program = parse::read(&weak, "weak.ll").expect("it can be read");
    let context = Context::read("entry = \"entry\"\ninitialisers = [\"init\"]").expect("a context");
    let error = specialise(&program, &context).expect_err("nobody knows what it does").to_string();
    assert!(error.contains("another module may define it"), "{error}");
}

#[test]
fn functions_are_entered_if_nobody_may_replace_them() {
    for (linkage, known) in LINKAGES.iter().chain(&[("available_externally", true)]) {
        let text = format!("define {linkage} i32 @it() {{ ret i32 3 }} define i32 @entry() {{ {CALL} }}");
        check(&[&lines(&text)], "", *known, "ret i32 3", "@it");
    }
    for linkage in ["weak", "linkonce"] {
        let text = lines(&format!("define {linkage} i32 @entry() {{ ret i32 3 }}"));
        check(&[&text], "", false, "ret i32 3", "call i32 @entry()");
    }
}

const CALL: &str = "%x = call i32 @it() ret i32 %x";

#[test]
fn aliases_are_followed_if_nobody_may_replace_them() {
    for (linkage, known) in LINKAGES {
        let text = format!(
            "@it = {linkage} alias i32 (), ptr @own\n{}",
            lines(&format!("define internal i32 @own() {{ ret i32 3 }} define i32 @entry() {{ {CALL} }}"))
        );
        check(&[&text], "", *known, "ret i32 3", "@it");
        let text = format!(
            "@own = internal constant [2 x i32] [i32 1, i32 3]
             @it = {linkage} alias i32, getelementptr (i8, ptr @own, i64 4)\n{}",
            lines("define i32 @entry() { %x = load i32, ptr @it ret i32 %x }")
        );
        check(&[&text], "", *known, "ret i32 3", "@it");
    }
    // The assembler makes it a name of what stands here, though `own` may come to be another function.
    let text = format!(
        "@it = alias i32 (), ptr @own\n{}",
        lines(&format!("define weak i32 @own() {{ ret i32 3 }} define i32 @entry() {{ {CALL} }}"))
    );
    check(&[&text], "", false, "ret i32 3", "call i32 @entry()");
}

#[test]
fn shared_objects_may_replace_what_is_not_local() {
    const FLAG: &str = "!llvm.module.flags = !{!0}\n!0 = !{i32 1, !\"SemanticInterposition\", i32 1}\n";
    for (linkage, known) in [
        ("", false),
        ("dso_local", true),
        ("hidden", true),
        ("protected", true),
        ("internal", true),
        ("weak", false),
    ] {
        let variable = format!(
            "@it = {linkage} constant i32 3\n{}{FLAG}",
            lines("define dso_local i32 @entry() { %x = load i32, ptr @it ret i32 %x }")
        );
        check(&[&variable], "", known, "ret i32 3", "@it");
        let function = lines(&format!(
            "define {linkage} i32 @it() {{ ret i32 3 }} define dso_local i32 @entry() {{ {CALL} }}"
        ));
        check(&[&(function + FLAG)], "", known, "ret i32 3", "@it");
        let alias = format!(
            "@it = {linkage} alias i32 (), ptr @own\n{}{FLAG}",
            lines(&format!(
                "define internal i32 @own() {{ ret i32 3 }} define dso_local i32 @entry() {{ {CALL} }}"
            ))
        );
        check(&[&alias], "", known, "ret i32 3", "@it");
    }
}

#[test]
fn what_takes_the_place_of_a_weak_definition_is_known() {
    let user = lines(
        "define i32 @entry() { %x = load i32, ptr @it %y = call i32 @f() %z = add i32 %x, %y ret i32 %z }",
    );
    let own =
        "@own = internal constant i32 3\n@it = weak alias i32, ptr @own\n@f = weak alias i32 (), ptr @g\n";
    let aliases = format!("{own}{}", lines("define internal i32 @g() { ret i32 3 }")) + &user;
    let replaced = [
        "@it = weak constant i32 3\n".to_owned() + &lines("define weak i32 @f() { ret i32 3 }") + &user,
        "@it = linkonce constant i32 3\n".to_owned()
            + &lines("define linkonce i32 @f() { ret i32 3 }")
            + &user,
        "@it = extern_weak constant i32\ndeclare extern_weak i32 @f()\n".to_owned() + &user,
        aliases,
    ];
    let definitions = "@it = constant i32 20\n".to_owned() + &lines("define i32 @f() { ret i32 400 }");
    let strong_aliases = format!(
        "@other = internal constant i32 20\n@it = alias i32, ptr @other\n@f = alias i32 (), ptr @h\n{}",
        lines("define internal i32 @h() { ret i32 400 }")
    );
    for weak in &replaced {
        for strong in [&definitions, &strong_aliases] {
            for modules in [[&**weak, &**strong], [&**strong, &**weak]] {
                let residual = residual_of(&modules, "");
                assert!(residual.contains("ret i32 420"), "{modules:#?}\n{residual}");
            }
        }
        // Two that both give way: a third may still come.
        for modules in [[&**weak, &*replaced[0]], [&**weak, &*replaced[3]]] {
            let second = modules[1].replace("@entry", "@another").replace("i32 3", "i32 5");
            let residual = residual_of(&[modules[0], &second], "");
            assert!(
                residual.contains("@it") && residual.contains("call i32 @f()"),
                "{modules:#?}\n{residual}"
            );
        }
    }
}

#[test]
fn addresses_are_compared_as_far_as_they_are_settled() {
    let compared = |a: &str, b: &str, rest: &str| {
        let entry = format!("define i1 @entry() {{ %x = icmp eq ptr {a}, {b} ret i1 %x }}");
        residual_of(&[&(rest.to_owned() + "\n" + &lines(&entry))], "")
    };
    let functions = "define LINKAGE void @f() {\n ret void\n}\ndefine void @g() {\n ret void\n}";
    let variables = "@f = LINKAGE global i32 0\n@g = global i32 0";
    for both in [functions, variables] {
        for (linkage, known) in [("", true), ("weak_odr", true), ("weak", false), ("linkonce", false)] {
            let residual = compared("@f", "@g", &both.replace("LINKAGE", linkage));
            assert_eq!(residual.contains("ret i1 false"), known, "{linkage}\n{residual}");
            // Whoever defines it, it is defined.
            let residual = compared("@f", "null", &both.replace("LINKAGE", linkage));
            assert!(residual.contains("ret i1 false"), "{linkage}\n{residual}");
        }
    }
    for declared in ["declare extern_weak void @f()", "@f = extern_weak global i32"] {
        let residual = compared("@f", "null", declared);
        assert!(residual.contains("extern_weak") && residual.contains("icmp eq ptr @f, null"), "{residual}");
    }
}

/// The same through compilers and a linker.
#[test]
fn programs_do_the_same_whoever_defines_their_names() {
    let Some(clang) = Compiler::clang() else { return };
    let source = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/linkage").join(name);
    let work = tempfile::tempdir().expect("there is room for files");
    let [part, others] = ["part", "others"].map(|name| {
        let ir = work.path().join(name).with_extension("ll");
        clang.to_ir(&source(name).with_extension("c"), &ir).unwrap_or_else(|error| panic!("{error}"));
        ir
    });
    for known in [vec![part.clone()], vec![part.clone(), others.clone()]] {
        let forms = residual::write(&known, "entry = \"entry\"", work.path()).unwrap();
        let knows_all = known.len() > 1;
        for form in forms {
            let linked: &[&[&PathBuf]] = if knows_all { &[&[&others]] } else { &[&[], &[&others]] };
            for more in linked {
                let program = work.path().join("program");
                let mut inputs = vec![part.clone(), form.file.clone(), source("main.c")];
                inputs.extend(more.iter().map(|file| (*file).clone()));
                let renamed = format!("-Dentry_special={}", form.name);
                clang.link(&["-O1", &renamed], &inputs, &program).unwrap_or_else(|error| panic!("{error}"));
                let outcome = toolchain::run(Command::new(&program)).unwrap();
                let text = std::fs::read_to_string(&form.file).unwrap();
                assert!(outcome.success, "{inputs:?}\n{}\n{text}", outcome.text);
            }
        }
    }
}

/// Definitions of functions, each on a line of its own.
fn lines(text: &str) -> String {
    text.replace("} define", "}\ndefine") + "\n"
}
