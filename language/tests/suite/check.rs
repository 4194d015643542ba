//! The checker: valid programs are accepted and resolved as the language says, and no text makes it panic.

use std::fs;
use std::path::{Path, PathBuf};

use drystone_language::check::{Options, check, factories, system};
use drystone_language::program::{Builtin, ExpressionKind, Program, StatementKind, Type, VariableId};
use drystone_language::render::{Colour, render};
use drystone_language::source::SourceFile;
use proptest::prelude::*;

#[test]
fn valid_programs_are_accepted() {
    for path in dry_files("tests/valid") {
        let files = [SourceFile { path: path.display().to_string(), text: read(&path) }];
        if let Err(errors) = check(&files, Options::default()) {
            panic!("{}", render(&files, &errors, Colour::Plain));
        }
    }
}

#[test]
fn the_last_top_level_component_is_the_entry_unless_one_is_marked_or_named() {
    let first = "COMPONENT First; COMPONENT Inner; END Inner; END First;";
    let last = "COMPONENT Last; END Last;";
    let marked = "COMPONENT {ENTRYPOINT} Marked; END Marked;";
    assert_eq!(entry(&[&format!("{first}{last}")], None), "Last");
    assert_eq!(entry(&[first, last], None), "First");
    assert_eq!(entry(&["INTERFACE I; END I;", last, first], None), "Last");
    assert_eq!(entry(&[marked, first, last], None), "Marked");
    assert_eq!(entry(&[marked, first, last], Some("First")), "First");
    assert_eq!(codes_with_entry(&[first, last], Some("Inner")), ["no-entry"]);
    assert_eq!(codes_with_entry(&[], None), ["no-entry"]);
}

#[test]
fn the_interfaces_of_the_system_have_protocols() {
    let (program, offered) = system();
    assert!(program.interfaces.iter().all(|interface| interface.states.len() > 1));
    let names: Vec<_> = offered.iter().map(|id| program.interfaces[id.index()].name.as_str()).collect();
    let wanted = [
        "SystemTime",
        "FileSystem",
        "GraphicView",
        "Console",
        "ErrorOutput",
        "Arguments",
        "Environment",
        "Signals",
        "Files",
        "Folders",
        "Processes",
        "Network",
        "Bindings",
    ];
    assert_eq!(names, wanted);
}

#[test]
fn the_reference_declares_them_so() {
    let reference = include_str!("../../../docs/src/language.md");
    let (_, section) = reference.split_once("\n## 8. System interfaces\n").expect("section 8");
    let (section, _) = section.split_once("\n## ").expect("section 9");
    let blocks: Vec<_> = section.split("\n```\n").skip(1).step_by(2).collect();
    let text = blocks.join("\n") + "\nCOMPONENT Main; END Main;";
    let files = [SourceFile { path: "language.md".into(), text }];
    let program = check(&files, Options::default()).expect("the reference's declarations are right");
    let (system, _) = system();
    let names = |program: &Program| -> Vec<_> {
        program.interfaces.iter().map(|interface| interface.name.clone()).collect()
    };
    // Had one been declared otherwise, there would be two of that name.
    assert_eq!(names(&program), names(&system));
    for interface in names(&system) {
        assert!(section.contains(&format!("\nINTERFACE {interface};")), "{interface} is missing");
    }
}

#[test]
fn crates_may_bring_schemes_of_names() {
    let text = "INTERFACE I; IN M END I; COMPONENT A REQUIRES I; END A;
        COMPONENT B; VARIABLE a: A; BEGIN NEW(a); CONNECT(I(a), \"words:x\") END B;";
    assert_eq!(codes(&[text]), ["binding-name"]);
    let files = [SourceFile { path: "program.dry".into(), text: text.into() }];
    assert!(check(&files, Options::default().beside_crates()).is_ok());
}

#[test]
fn crates_may_bring_binding_factories() {
    let text = "INTERFACE I; IN M END I; COMPONENT A REQUIRES I; END A;
        COMPONENT B; VARIABLE a: A; BEGIN NEW(a); CONNECT(I(a), \"tcp://h:7/x\") BY Limited(times: 1), OTHER END B;";
    let with = |by: &str| text.replace("OTHER", by);
    assert_eq!(codes(&[&with("Monitored")]), ["unknown-factory"]);
    for (by, expected) in [("Retired(times: 2)", &[][..]), ("Monitored(times: 2)", &["unknown-option"])] {
        let files = [SourceFile { path: "program.dry".into(), text: with(by) }];
        let errors = check(&files, Options::default().beside_crates()).err().unwrap_or_default();
        assert_eq!(errors.iter().map(|error| error.code).collect::<Vec<_>>(), expected, "{by}");
    }
}

#[test]
fn what_stands_behind_by_is_read_alone() {
    let read = |text| factories(text).map(|hints| String::from_utf8(hints).expect("it was text"));
    assert_eq!(read("Monitored").expect("it is right"), "Monitored;0;");
    let several = "Retried(attempts: 2 + 1, messages: \"Get\"), Monitored(), Odd(on: TRUE)";
    let expected = "Retried;2;attempts=1:3messages=3:GetMonitored;0;Odd;1;on=4:TRUE";
    assert_eq!(read(several).expect("it is right"), expected);
    for (wrong, code) in [
        ("", "unexpected-token"),
        ("Monitored(); HALT", "unexpected-token"),
        ("Retried(attempt: 3)", "unknown-option"),
        ("Retried(attempts: \"many\")", "type-mismatch"),
        ("Retried(attempts: x)", "unknown-name"),
        ("Retried(attempts: 3)", "missing-option"),
        ("Retried(attempts: 0, messages: \"Get\")", "option-range"),
        ("Odd(pause: 0.5 + 1)", "not-constant"),
    ] {
        let errors = read(wrong).expect_err(wrong);
        assert_eq!(errors.iter().map(|error| error.code).collect::<Vec<_>>(), [code], "{wrong}");
    }
}

#[test]
fn several_files_are_one_program() {
    let user = "COMPONENT Main; VARIABLE s: Store; BEGIN NEW(s); s!Put(Size) END Main;";
    let store = "COMPONENT Store OFFERS Shelf;
        IMPLEMENTATION Shelf; VARIABLE n: INTEGER; BEGIN WHILE ?Put DO ?Put(n) END END Shelf; END Store;";
    let shelf = "INTERFACE Shelf; { IN Put(n: INTEGER) } END Shelf;";
    assert_eq!(codes(&[shelf, user, store]), ["unknown-name"]);
    let user = user.replace("Size", "3");
    assert_eq!(entry(&[&user, shelf, store], None), "Main");
}

#[test]
fn syntax_errors_hide_only_what_depends_on_them() {
    for (text, expected) in [
        ("COMPONENT A; BEGIN lost := ; y END A;", &["unexpected-token", "unknown-name"][..]),
        ("COMPONENT A; VARIABLE n INTEGER; BEGIN n := 1; y END A;", &["unexpected-token", "unknown-name"]),
        ("COMPONENT A; CONSTANT c = ; d = c; BEGIN WRITE(c + d) END A;", &["unexpected-token"]),
        ("COMPONENT A; PROCEDURE P(n INTEGER); BEGIN n END P; BEGIN P(1) END A;", &["unexpected-token"]),
        ("COMPONENT A; PROCEDURE P(): INTEGER; BEGIN RETURN + END P; END A;", &["unexpected-token"]),
        ("COMPONENT A OFFERS I; BEGIN CONNECT(I x) END A; INTERFACE I; END I;", &["unexpected-token"]),
        (
            "COMPONENT A OFFERS I; IMPLEMENTATION I; BEGIN ?M( END I; END A; INTERFACE I; IN M END I;",
            &["unexpected-token"],
        ),
        (
            "INTERFACE I; IN M N END I; COMPONENT A REQUIRES I; BEGIN I!N; I!M; y END A;",
            &["unexpected-token", "unknown-name"],
        ),
        (
            "COMPONENT A; VARIABLE b: B; BEGIN NEW(b); b!M; y END A; COMPONENT B OFFERS; END B;",
            &["unknown-name", "unexpected-token"],
        ),
        (
            "COMPONENT A; VARIABLE b: B; x: X; END A; COMPONENT C; BEGIN END COMPONENT B; END B;",
            &["unknown-name", "unexpected-token"],
        ),
        (
            "COMPONENT A; VARIABLE t: TEXT; BEGIN t := 99999999999999999999; WRITE(1 DIV 9X9); y END A;",
            &["integer-too-large", "bad-number", "unknown-name"],
        ),
        ("COMPONENT A; BEGIN y END A; VARIABLE x: TEXT; COMPONENT B; BEGIN x END B;", &["unexpected-token"]),
    ] {
        assert_eq!(codes(&[text]), expected, "{text}");
    }
}

#[test]
fn races_and_protocols_are_checked_where_nothing_else_is_wrong() {
    const RACE: &str = "COMPONENT R OFFERS I; VARIABLE n: INTEGER;
        IMPLEMENTATION I; BEGIN ?M; INC(n) END I; END R;";
    let interface = "INTERFACE I; IN M END I;";
    let wrong = "COMPONENT A; BEGIN y; AWAIT(TRUE) END A;";
    assert_eq!(codes(&[interface, RACE, wrong]), ["race-write", "unknown-name"]);
    let in_it = RACE.replace("?M;", "?M; y;");
    assert_eq!(codes(&[interface, &in_it]), ["unknown-name"]);
    let interface = "INTERFACE I; IN M | OUT N END I;";
    assert_eq!(codes(&[interface, RACE]), ["protocol-two-senders"]);
    let client = "COMPONENT C; VARIABLE a: ANY(I); BEGIN a!M; a!M; AWAIT(TRUE) END C;";
    assert_eq!(codes(&[interface, client]), ["protocol-two-senders"]);
    let interface = "INTERFACE I; IN M END I; INTERFACE J; IN N(x: Lost) END J;";
    assert_eq!(codes(&[interface, RACE]), ["unknown-name", "race-write"]);
}

#[test]
fn declarations_with_the_same_text_are_one_interface() {
    let text = "INTERFACE Node; { IN Next(n: ANY(Node | Link)) } END Node; INTERFACE Link; IN Go END Link;";
    let outside = format!("{text} COMPONENT A; {text} COMPONENT B; {text} END B; END A;");
    assert_eq!(interfaces(&accepted(&[&outside])), 2);
    let other = text.replace("IN Go", "[ IN Go ]");
    let different = format!("{text} COMPONENT A; {other} END A;");
    assert_eq!(interfaces(&accepted(&[&different])), 4, "a different Link makes a different Node");
    let renamed = "INTERFACE Console; { IN ReadLine ( OUT Line(text: TEXT) | OUT End ) } END Console;
        COMPONENT A REQUIRES Console; END A;";
    assert_eq!(interfaces(&accepted(&[renamed])), 0, "the system's own");
}

#[test]
fn conversions_are_explicit_and_constants_folded() {
    let program = accepted(&[
        "COMPONENT A; CONSTANT c = d * 2 + 1; d = 10; VARIABLE i: INTEGER; x: REAL; t: TEXT; b: CHARACTER;
        BEGIN x := i; x := c; t := b; b := \"b\"; t := \"b\" END A;",
    ]);
    let begin = program.components[0].begin.as_ref().expect("there is a BEGIN");
    let values = begin.statements.iter().map(|statement| match &statement.kind {
        StatementKind::Assign(place, value) => {
            assert_eq!(place.ty, value.ty);
            &value.kind
        }
        other => panic!("{other:?}"),
    });
    let values = values.collect::<Vec<_>>();
    assert!(matches!(values[0], ExpressionKind::Builtin(Builtin::IntegerToReal, _)));
    assert!(matches!(values[1], ExpressionKind::Real(21.0)));
    assert!(matches!(values[2], ExpressionKind::Builtin(Builtin::CharacterToText, _)));
    assert!(matches!(values[3], ExpressionKind::Character(b'b')));
    assert!(matches!(values[4], ExpressionKind::Text(_)));
}

#[test]
fn equal_any_types_are_equal_in_any_order() {
    let program = accepted(&["INTERFACE I; END I; INTERFACE J; END J;
        COMPONENT A; VARIABLE a: ANY(I, J); b: ANY(J, I); END A;"]);
    assert_eq!(program.variables[0].ty, program.variables[1].ty);
    assert!(matches!(&program.variables[0].ty, Type::Any(any) if any.requires.as_deref() == Some(&[])));
}

#[test]
fn constants_that_need_each_other_endlessly_end() {
    let sum = " + 1".repeat(300);
    let chain: String = (0..100).map(|k| format!("c{k} = c{}{sum};\n", k + 1)).collect();
    let text = format!("COMPONENT A; CONSTANT {chain} c100 = 0; END A;");
    assert_eq!(codes(&[&text]), ["nesting-too-deep"]);
    let doubling: String = (0..100).map(|k| format!("c{} = c{k} + c{k};\n", k + 1)).collect();
    let text = format!("COMPONENT A; CONSTANT c0 = \"text\"; {doubling} END A;");
    assert_eq!(codes(&[&text]), ["constant-length"]);
}

#[test]
fn one_fault_gives_one_error() {
    let unknown_type = "COMPONENT A; VARIABLE v, w: Lost; a[i: INTEGER]: Lost; n: INTEGER;
        PROCEDURE P(VARIABLE x: Lost); BEGIN P(x); n := x END P;
        BEGIN NEW(v); v!M(n); I(w)?M(n); MOVE(v, w); n := a[1]; P(v); NEW(a[n]); DELETE(w); ASSERT(EXISTS(v))
        END A;";
    assert_eq!(codes(&[unknown_type]), ["unknown-name"; 2]);
    let unknown_interface = "COMPONENT A OFFERS Lost REQUIRES Gone; VARIABLE b: A;
        IMPLEMENTATION Lost; BEGIN ?M; !N END Lost;
        BEGIN Gone!M; Lost(b)!M; b!M; CONNECT(Gone(b), b); CONNECT(Lost, Gone) END A;";
    assert_eq!(codes(&[unknown_interface]), ["unknown-interface"; 2]);
    let unknown_constant = "COMPONENT A; CONSTANT a = lost; b = a + 1; VARIABLE n: INTEGER; t: TEXT;
        BEGIN n := b; t := a; IF a THEN n := b * a END END A;";
    assert_eq!(codes(&[unknown_constant]), ["unknown-name"]);
}

proptest! {
    /// Valid programs with parts of lines cut out or exchanged.
    #[test]
    fn no_text_makes_the_checker_fail(
        which in 0..100usize,
        changes in prop::collection::vec((0..10_000usize, 0..10_000usize), 1..6),
    ) {
        let mut paths = dry_files("tests/valid");
        paths.extend(dry_files("tests/errors"));
        let text = read(&paths[which % paths.len()]);
        let mut words: Vec<&str> = text.split_inclusive(|c: char| !c.is_alphanumeric()).collect();
        for (from, to) in changes {
            let (from, to) = (from % words.len(), to % words.len());
            if (from + to) % 3 == 0 { words[from] = "" } else { words[from] = words[to] }
        }
        let files = sources(&[&words.concat()]);
        if let Err(errors) = check(&files, Options::default()) {
            prop_assert!(!errors.is_empty());
            render(&files, &errors, Colour::Plain);
        }
    }
}

#[test]
fn a_system_begins_with_what_its_parts_require_and_has_no_others() {
    let text = r#"
        INTERFACE {NATIVE "k::A"} A; END A; INTERFACE {NATIVE "k::B"} B; END B;
        COMPONENT {NATIVE "k::Base"} Base OFFERS A; END Base;
        COMPONENT {NATIVE "k::Middle"} Middle OFFERS B REQUIRES A; END Middle;
        COMPONENT {NATIVE "k::Top"} Top OFFERS A REQUIRES B, A; END Top;
        COMPONENT System OFFERS A;
        VARIABLE spare: Middle; top: Top; middle: Middle; base, other: Base;
        BEGIN
          CONNECT(A, top); NEW(top); NEW(spare); NEW(middle); NEW(base); NEW(other);
          CONNECT(A(top), base); CONNECT(B(top), middle); CONNECT(A(middle), base); CONNECT(A(spare), other)
        END System;"#;
    let program = accepted(&[text]);
    let system = program.system.as_ref().expect("it is one");
    let expected = [("base", vec![]), ("middle", vec![0]), ("top", vec![1, 0])];
    assert_eq!(parts(&program), expected.map(|(name, bound)| (name.to_string(), bound)));
    assert_eq!(system.offers, [2]);
    let unneeded = program.warnings.iter().map(|warning| warning.message.as_str());
    let not_in = |name: &str| format!("nothing needs {name}: it is not in the system");
    assert_eq!(unneeded.collect::<Vec<_>>(), [not_in("spare"), not_in("other")]);
}

/// What is in a system, as its paths, and what each is bound to.
fn parts(program: &Program) -> Vec<(String, Vec<usize>)> {
    let name = |part: &VariableId| program.variables[part.index()].name.as_str();
    let parts = program.system.iter().flat_map(|system| &system.parts);
    parts.map(|part| (part.path.iter().map(name).collect::<Vec<_>>().join("."), part.bound.clone())).collect()
}

const NESTED: &str = r#"
    INTERFACE {NATIVE "k::A"} A; END A; INTERFACE {NATIVE "k::B"} B; END B; INTERFACE {NATIVE "k::C"} C; END C;
    COMPONENT {NATIVE "k::Base"} Base OFFERS A; END Base;
    COMPONENT {NATIVE "k::Middle"} Middle OFFERS B REQUIRES A; END Middle;
    COMPONENT {NATIVE "k::Top"} Top OFFERS C REQUIRES A, B; END Top;
    COMPONENT Pair OFFERS B, A REQUIRES A; VARIABLE middle, spare: Middle;
    BEGIN
      NEW(middle); NEW(spare); CONNECT(A(middle), A); CONNECT(A(spare), A); CONNECT(B, middle); CONNECT(A, A)
    END Pair;
    COMPONENT Whole OFFERS C REQUIRES A; VARIABLE pair: Pair; top: Top;
    BEGIN
      NEW(pair); NEW(top); CONNECT(A(pair), A); CONNECT(B(top), pair); CONNECT(A(top), pair); CONNECT(C, top)
    END Whole;
"#;

#[test]
fn systems_within_a_system_are_taken_apart() {
    let text = NESTED.to_string()
        + "COMPONENT {ENTRYPOINT} System OFFERS C, B; VARIABLE one, two: Whole; other: Pair; base, unneeded: Base;
           BEGIN
             NEW(one); NEW(two); NEW(base); NEW(other); NEW(unneeded);
             CONNECT(A(one), base); CONNECT(A(two), unneeded); CONNECT(A(other), base);
             CONNECT(C, one); CONNECT(B, other)
           END System;";
    let program = accepted(&[&text]);
    let expected =
        [("base", vec![]), ("one.pair.middle", vec![0]), ("one.top", vec![0, 1]), ("other.middle", vec![0])];
    assert_eq!(parts(&program), expected.map(|(name, bound)| (name.to_string(), bound)));
    assert_eq!(program.system.as_ref().expect("it is one").offers, [2, 3]);
    let unneeded = program.warnings.iter().map(|warning| warning.message.as_str());
    let not_in = |name: &str| format!("nothing needs {name}: it is not in the system");
    assert_eq!(unneeded.collect::<Vec<_>>(), [not_in("two"), not_in("unneeded")]);
}

#[test]
fn parts_of_systems_within_systems_that_require_one_another_are_found() {
    let text = NESTED.to_string()
        + r#"COMPONENT {NATIVE "k::Back"} Back OFFERS A REQUIRES C; END Back;
             COMPONENT {ENTRYPOINT} System OFFERS C; VARIABLE whole: Whole; back: Back;
             BEGIN
               NEW(whole); NEW(back); CONNECT(A(whole), back); CONNECT(C(back), whole); CONNECT(C, whole)
             END System;"#;
    let errors = check(&sources(&[&text]), Options::default()).expect_err("it can't begin");
    assert_eq!(errors.len(), 1);
    let said = &errors[0].message;
    assert_eq!(said, "parts of the system require one another: whole.top -> back -> whole.top");
    assert_eq!(codes(&[&text]), ["system-cycle"]);
}

#[test]
fn what_a_system_within_another_lacks_is_said() {
    let system = |body: &str| NESTED.to_string() + body;
    let unconnected = "COMPONENT {ENTRYPOINT} System OFFERS C; VARIABLE whole: Whole;
        BEGIN NEW(whole); CONNECT(C, whole) END System;";
    assert_eq!(codes(&[&system(unconnected)]), ["system-unconnected"]);
    let outermost = "COMPONENT {ENTRYPOINT} System OFFERS C REQUIRES A; VARIABLE whole: Whole;
        BEGIN NEW(whole); CONNECT(A(whole), A); CONNECT(C, whole) END System;";
    assert_eq!(codes(&[&system(outermost)]), ["entry-requires"]);
    let itself = "COMPONENT {ENTRYPOINT} System OFFERS C; VARIABLE whole: Other;
        BEGIN NEW(whole); CONNECT(C, whole) END System;
        COMPONENT Other OFFERS C; VARIABLE whole: System; BEGIN NEW(whole); CONNECT(C, whole) END Other;";
    assert_eq!(codes(&[&system(itself)]), ["system-within-itself"]);
    let ordinary = "COMPONENT {ENTRYPOINT} Main; VARIABLE whole: Whole; BEGIN NEW(whole) END Main;";
    assert!(codes(&[&system(ordinary)]).contains(&"native-held"));
}

fn sources(texts: &[&str]) -> Vec<SourceFile> {
    let named = texts.iter().enumerate();
    named.map(|(index, text)| SourceFile { path: format!("{index}.dry"), text: text.to_string() }).collect()
}

fn accepted(texts: &[&str]) -> Program {
    let files = sources(texts);
    check(&files, Options::default())
        .unwrap_or_else(|errors| panic!("{}", render(&files, &errors, Colour::Plain)))
}

fn codes(texts: &[&str]) -> Vec<&'static str> {
    codes_with_entry(texts, None)
}

fn codes_with_entry(texts: &[&str], entry: Option<&str>) -> Vec<&'static str> {
    let errors = check(&sources(texts), Options::default().entry(entry)).err().unwrap_or_default();
    errors.iter().map(|error| error.code).collect()
}

fn entry(texts: &[&str], name: Option<&str>) -> String {
    let program = check(&sources(texts), Options::default().entry(name)).expect("the program is right");
    program.components[program.entry.expect("it has an entry").index()].name.clone()
}

/// How many interfaces the program has besides the system's.
fn interfaces(program: &Program) -> usize {
    program.interfaces.iter().filter(|interface| interface.span != Default::default()).count()
}

fn dry_files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(folder).expect("the folder of programs");
    let paths = entries.map(|entry| entry.expect("an entry of the folder").path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|end| end == "dry")).collect();
    paths.sort();
    paths
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a readable file")
}
