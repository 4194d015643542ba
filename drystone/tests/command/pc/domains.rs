//! `AT "user:store"` on a machine, besides the tests of all places (`places`): a component in its own address space
//! that misbehaves harms only itself.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{boot, build, is_there, said, same};
use crate::domains::{one_after_the_other, with_server};
use crate::with::alone;
use crate::{DRYSTONE, complaint, folder_with, printed, status};

/// The image has a second copy of the program only for domains.
#[test]
fn who_makes_no_domains_carries_nothing_for_them() {
    let size = |statements: &str| {
        let folder = folder_with(&with_server(&format!("{statements}; WRITE(x + d); WRITE(i + k)")));
        fs::metadata(build(folder.path(), &[])).expect("it was built").len()
    };
    let (with, without) = (size("NEW(s) AT \"user:store\""), size("NEW(s)"));
    assert!(without < with * 2 / 3, "{with} and {without} bytes");
}

/// One counts for ever, one for a while, and so does the program itself: all make progress.
#[test]
fn who_computes_keeps_nobody_from_running() {
    if !is_there() {
        return;
    }
    let text = "COMPONENT Main;
         INTERFACE Ask; { IN Go(n: INTEGER) OUT Done(x: INTEGER) } END Ask;
         COMPONENT Busy OFFERS Ask;
           IMPLEMENTATION Ask; VARIABLE n, i, s: INTEGER;
           BEGIN
             WHILE ?Go DO
               ?Go(n); s := 0; i := 0;
               WHILE i # n DO s := (s * 31 + i) MOD 1000003; INC(i) END;
               !Done(s)
             END
           END Ask;
         END Busy;
         VARIABLE a, b, c: Busy; x, i, begin: INTEGER;
         BEGIN
           NEW(a) AT \"user:a\"; NEW(b) AT \"user:b\"; NEW(c) AT \"user:c\";
           a!Go(-1); b!Go(2000000);
           FOR i := 1 TO 5 DO PASSIVATE(10); c!Go(i); c?Done(x); WRITE(x); WRITE(\" \") END;
           begin := TIME; REPEAT INC(i) UNTIL TIME - begin > 100;
           b?Done(x); WRITE(x); HALT(7)
         END Main;";
    let (printed, complaint, status) = same(text, &[], |_| ());
    assert_eq!((printed.as_str(), complaint.as_str(), status), ("0 1 33 1026 31810 235197", "", 7));
}

#[test]
fn a_domain_that_ends_takes_nothing_else_with_it() {
    if !is_there() {
        return;
    }
    let text = "COMPONENT Main;
         INTERFACE Ask; { IN Go(n: INTEGER) OUT Done(x: INTEGER) } END Ask;
         COMPONENT Server OFFERS Ask;
           IMPLEMENTATION Ask; VARIABLE n, i: INTEGER; x: TEXT;
           BEGIN
             WHILE ?Go DO
               ?Go(n);
               IF n = 1 THEN HALT(3) ELSIF n = 2 THEN i := 1 DIV (n - 2)
               ELSE x := \"0123456789\"; FOR i := 4 TO n DO x := x + x END END;
               !Done(LENGTH(x))
             END
           END Ask;
         END Server;
         VARIABLE server[i: INTEGER]: Server; i, x: INTEGER;
         BEGIN
           FOR i := 1 TO 4 DO NEW(server[i]) AT \"user:\" + TEXT(i) BY Lrpc(memory: 3000000) END;
           FOR i := 1 TO 3 DO
             IF i = 3 THEN server[i]!Go(40) ELSE server[i]!Go(i) END;
             IF ~server[i]?Done THEN WRITE(\"lost \") END;
             server[4]!Go(3 + i); server[4]?Done(x); WRITE(x); WRITE(\" \")
           END
         END Main;";
    let (printed, complaint, status) = same(text, &[], |_| ());
    assert_eq!((printed.as_str(), status), ("lost 20 lost 40 lost 80 ", 0), "{complaint}");
    assert!(complaint.contains("division by zero") && complaint.contains("out of memory"), "{complaint}");
}

/// The machine has memory for some of them.
#[test]
fn hundreds_of_domains_one_after_the_other_leave_nothing_behind() {
    if !is_there() {
        return;
    }
    let folder = folder_with(&one_after_the_other("user:store", 300));
    let output = boot(&build(folder.path(), &[]), &["-M", "microvm", "-cpu", "max", "-m", "32M"]);
    assert_eq!((printed(&output).as_str(), status(&output)), ("<300>0", 1), "{}", complaint(&output));
}

/// Until there is no memory for one more, which is reported for that one.
#[test]
fn as_many_domains_are_there_as_there_is_memory_for() {
    if !is_there() {
        return;
    }
    let text = "COMPONENT Main;
         INTERFACE Echo; { IN Say(n: INTEGER) OUT Heard(n: INTEGER) } END Echo;
         COMPONENT Host OFFERS Echo;
           IMPLEMENTATION Echo; VARIABLE n: INTEGER;
           BEGIN WHILE ?Say DO ?Say(n); !Heard(n + 1) END END Echo;
         END Host;
         COMPONENT {ISOLATED} Box;
           VARIABLE host[i: INTEGER]: Host; i, n: INTEGER;
         BEGIN
           FOR i := 1 TO 1000 DO NEW(host[i]) AT \"user:x\"; host[i]!Say(i); host[i]?Heard(n); WRITE(n); WRITELINE END
         END Box;
         VARIABLE box: Box; i: INTEGER;
         BEGIN FOR i := 1 TO 3 DO NEW(box); DELETE(box); WRITE(\"end\"); WRITELINE END END Main;";
    let image = folder_with(text);
    let image = (build(image.path(), &[]), image);
    for memory in ["32M", "33500K", "34M"] {
        let output = boot(&image.0, &["-M", "microvm", "-cpu", "max", "-m", memory]);
        let (printed, complaint, _) = said(&output);
        let rounds: Vec<Vec<&str>> = printed.split("end\n").map(|round| round.lines().collect()).collect();
        let counts: Vec<usize> = rounds.iter().map(Vec::len).collect();
        let expected = |count: usize| Vec::from_iter((1..=count).map(|number| (number + 1).to_string()));
        let [first, again, once_more, 0] = counts[..] else { panic!("{memory}: {counts:?}\n{complaint}") };
        assert!(
            rounds.iter().zip(&counts).all(|(round, &count)| *round == expected(count)),
            "{memory}: {printed}"
        );
        // As many again, once these are gone. The kernel keeps what it took for the first ones, which may cost one.
        assert!(first > 50 && [first, first - 1].contains(&again), "{memory}: {counts:?}");
        assert_eq!(again, once_more, "{memory}: something was left behind");
        assert_eq!(complaint.matches("user:x: there is no memory for a domain").count(), 3, "{complaint}");
        assert!(!complaint.contains("has ended"), "{memory}: {complaint}");
    }
}

/// A crate of a compiled program can do what the program never does. A domain that violates a rule is ended; one that
/// takes the processor or all memory, or writes nonsense into the channel, keeps no other from going on.
#[test]
fn who_does_what_it_must_not_ends_alone() {
    if !is_there() {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in a folder");
    let folder = folder_with(include_str!("wild.dry"));
    let crate_folder = folder.path().join("wild");
    fs::create_dir_all(crate_folder.join("src")).expect("a temporary folder can be written");
    let dependencies = ["component", "kortex", "runtime"]
        .map(|name| format!("drystone-{name} = {{ path = {:?} }}\n", root.join(name)));
    let manifest = format!(
        "[package]\nname = \"wild\"\nedition = \"2024\"\n\n[dependencies]\n{}\n[workspace]\n",
        dependencies.concat()
    );
    fs::write(crate_folder.join("Cargo.toml"), manifest).expect("likewise");
    fs::write(crate_folder.join("src/lib.rs"), include_str!("wild.rs")).expect("likewise");
    fs::copy(root.join("Cargo.lock"), crate_folder.join("Cargo.lock")).expect("likewise");
    let _alone = alone();
    // Its dependencies have been compiled there.
    let target = Path::new(DRYSTONE).ancestors().nth(2).expect("the command lies so deep");
    let settings = format!("[build]\ntarget-dir = {:?}\n\n[net]\noffline = true\n", target);
    fs::create_dir(folder.path().join(".cargo")).expect("likewise");
    fs::write(folder.path().join(".cargo/config.toml"), settings).expect("likewise");
    let mut command = Command::new(DRYSTONE);
    command.args(["build", "--platform", "pc", "--with", "wild", "program.dry", "-o", "image"]);
    command.current_dir(folder.path());
    let built = super::output(command);
    assert_eq!(status(&built), 0, "{}", complaint(&built));
    let output = boot(&folder.path().join("image"), &["-M", "microvm", "-cpu", "max"]);
    let (printed, complaint, status) = said(&output);
    assert!(printed.ends_with("survived") && status == 1, "{status} {printed}\n{complaint}");
    assert!(!printed.contains("WRONG"), "{printed}\n{complaint}");
    let ended = |how: &str| complaint.matches(how).count();
    assert_eq!(ended("which isn't its memory"), 6, "{complaint}");
    assert_eq!(ended("only a kernel may"), 7, "{complaint}");
    assert_eq!(ended("it was ended at"), 6 + 7 + 3, "{complaint}");
    assert_eq!(ended("has written nonsense"), 1, "{complaint}");
    assert_eq!(ended("memory allocation of 4096 bytes failed"), 1, "{complaint}");
}
