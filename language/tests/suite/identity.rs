//! The identity of an interface is the same in every program, and no other interface has it.

use std::collections::HashSet;

use drystone_language::check::{Options, check, system};
use drystone_language::program::{InterfaceId, Program};
use drystone_language::source::SourceFile;

fn checked(text: &str) -> Program {
    let text = format!("{text} COMPONENT Main; END Main;");
    check(&[SourceFile { path: "test.dry".into(), text }], Options::default())
        .unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// Of the interface with that name, the one that is declared last.
fn identity(program: &Program, name: &str) -> String {
    let index = program.interfaces.iter().rposition(|interface| interface.name == name).expect("is declared");
    program.identity(InterfaceId(index as u32))
}

#[test]
fn what_makes_no_difference_is_not_part_of_it() {
    let plain = "INTERFACE I; { IN A(x, y: INTEGER) OUT B(z: ANY(J, K)) } END I;
        INTERFACE J; IN A(x: ANY(I)) END J; INTERFACE K; IN B END K;";
    // Names of parameters, the order of declarations, how the protocol is written, who else is there.
    let other = "INTERFACE K; ( IN B ) END K; INTERFACE L; IN A(x: ANY(K)) END L;
        INTERFACE I; [ { IN A(a: INTEGER; b: INTEGER) OUT B(c: ANY(K, J)) } ] END I;
        INTERFACE J; IN A(y: ANY(I)) END J;";
    for name in ["I", "J", "K"] {
        assert_eq!(identity(&checked(plain), name), identity(&checked(other), name));
    }
}

#[test]
fn an_earlier_text_of_an_interface_of_the_system_means_the_present_one() {
    let earlier = "INTERFACE Output;
        { IN Write(text: TEXT) | IN Finish | IN Update ( OUT Done | OUT Failed(reason: TEXT) ) } [ IN Close ]
        END Output;";
    let used = "COMPONENT A REQUIRES Network; VARIABLE c: ANY(Input, Output);
        BEGIN Network!Dial(\"\"); IF Network?Connected THEN Network?Connected(c); Output(c)!Write(\"\") END END A;";
    let (system, _) = system();
    assert_eq!(identity(&checked(&format!("{earlier} {used}")), "Output"), identity(&system, "Output"));
    // One that only has its name is another.
    let other = earlier.replace("[ IN Close ]", "");
    assert_ne!(identity(&checked(&other), "Output"), identity(&system, "Output"));
}

#[test]
fn everything_else_is() {
    let mut seen = HashSet::new();
    for text in [
        "INTERFACE I; IN A END I;",
        "INTERFACE J; IN A END J;",
        "INTERFACE I; OUT A END I;",
        "INTERFACE I; IN B END I;",
        "INTERFACE I; { IN A } END I;",
        "INTERFACE I; [ IN A ] END I;",
        "INTERFACE I; IN A IN A END I;",
        "INTERFACE I; IN A IN B END I;",
        "INTERFACE I; IN A | IN B END I;",
        "INTERFACE I; IN B | IN A END I;",
        "INTERFACE I; IN A(x: BOOLEAN) END I;",
        "INTERFACE I; IN A(x: CHARACTER) END I;",
        "INTERFACE I; IN A(x: INTEGER) END I;",
        "INTERFACE I; IN A(x: REAL) END I;",
        "INTERFACE I; IN A(x: TEXT) END I;",
        "INTERFACE I; IN A(x, y: TEXT) END I;",
        "INTERFACE I; IN A(x: TEXT; y: INTEGER) END I;",
        "INTERFACE I; IN A(x: INTEGER; y: TEXT) END I;",
        "INTERFACE I; IN A(x: ANY) END I;",
        "INTERFACE I; IN A(x: ANY()) END I;",
        "INTERFACE I; IN A(x: ANY(I)) END I;",
        "INTERFACE I; IN A(x: ANY( | I)) END I;",
        "INTERFACE I; IN A(x: ANY( | I[2])) END I;",
        "INTERFACE I; IN A(x: ANY( | I[1..*])) END I;",
        "INTERFACE I; IN A(x: ANY(J)) END I; INTERFACE J; IN A END J;",
        "INTERFACE I; IN A(x: ANY(J)) END I; INTERFACE J; IN A(x: TEXT) END J;",
        "INTERFACE I; IN A(x: ANY(K)) END I; INTERFACE K; IN A END K;",
        "INTERFACE I; IN A(x: C) END I; COMPONENT C; END C;",
        "INTERFACE I; IN A(x: D) END I; COMPONENT D; END D;",
        "INTERFACE I; IN A(x: C) END I; COMPONENT C REQUIRES I; END C;",
    ] {
        let name = if text.starts_with("INTERFACE J") { "J" } else { "I" };
        assert!(seen.insert(identity(&checked(text), name)), "{text}");
    }
}

#[test]
fn the_system_s_are_the_same_in_every_program() {
    let (system, _) = system();
    let program = checked(
        "INTERFACE Mine; IN A(f: ANY(Files)) END Mine;
        INTERFACE Console; { IN ReadLine ( OUT Line(line: TEXT) | OUT End ) } END Console;",
    );
    for interface in &system.interfaces {
        assert_eq!(identity(&system, &interface.name), identity(&program, &interface.name));
    }
}
