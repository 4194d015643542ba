//! `drystone handler`, as the book's page shows it.

use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::space::Space;
use crate::{complaint, drystone, printed, status};

/// A new one, and whether there is a clang for it.
fn counter(name: &str) -> Option<tempfile::TempDir> {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let output = drystone(folder.path(), &["handler", "new", "hello"]);
    assert_eq!(status(&output), 0, "{}", complaint(&output));
    if Command::new("clang-19").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("skipped: {name}: there is no clang-19");
        return None;
    }
    Some(folder)
}

#[test]
fn a_new_handler_is_checked_and_mistakes_are_explained() {
    let Some(folder) = counter("handler-check") else { return };
    let checked = drystone(folder.path(), &["handler", "check", "hello/counter.c"]);
    assert_eq!(status(&checked), 0, "{}", complaint(&checked));
    assert!(printed(&checked).starts_with("Drystone takes counter: "), "{}", printed(&checked));
    let again = drystone(folder.path(), &["handler", "new", "hello"]);
    assert!(complaint(&again).contains("is there already"), "{}", complaint(&again));

    let text = std::fs::read_to_string(folder.path().join("hello/counter.c")).expect("it is there");
    let wild = text.replace("datagram_of(message, 8)", "begin_of(message)");
    std::fs::write(folder.path().join("wild.c"), wild).expect("there is room");
    let refused = drystone(folder.path(), &["handler", "check", "wild.c"]);
    assert_eq!(status(&refused), 1);
    assert!(printed(&refused).contains("Drystone refuses counter: instruction "), "{}", printed(&refused));
    std::fs::write(folder.path().join("no.c"), "HANDLER").expect("there is room");
    let refused = drystone(folder.path(), &["handler", "check", "no.c"]);
    assert!(complaint(&refused).contains("refuses no.c"), "{}", complaint(&refused));
    let refused = drystone(folder.path(), &["handler", "check", "none.o"]);
    assert!(complaint(&refused).contains("none.o: No such file"), "{}", complaint(&refused));
    let refused = drystone(folder.path(), &["handler", "detach", "nobody-has-this"]);
    assert!(complaint(&refused).contains("there is no handler `nobody-has-this`"), "{}", complaint(&refused));
}

#[test]
fn a_handler_answers_though_nobody_listens() {
    let Some(folder) = counter("handler-attach") else { return };
    let Some(space) = Space::new("handler-attach") else { return };
    let name = format!("test-{}", std::process::id());
    let attach = space
        .drystone()
        .args(["handler", "attach", "hello/counter.c"])
        .args(["--on", &space.far, "--mode", "generic", "--engine", "xdp", "--name", &name])
        .current_dir(folder.path())
        .output()
        .expect("there is `nsenter`");
    if !attach.status.success() {
        return println!("skipped: handler-attach: {}", complaint(&attach));
    }
    let listed = drystone(folder.path(), &["handler", "list"]);
    assert!(printed(&listed).contains(&name), "{}", printed(&listed));
    let socket = UdpSocket::bind((space.here, 0)).expect("it has that address");
    socket.set_read_timeout(Some(Duration::from_secs(5))).expect("it can be");
    for round in 1..=3u64 {
        socket.send_to(&5u64.to_be_bytes(), (space.there, 7000)).expect("it can be");
        let mut sum = [0; 8];
        socket.recv(&mut sum).expect("it answers");
        assert_eq!(u64::from_be_bytes(sum), 5 * round);
    }
    let detached = drystone(folder.path(), &["handler", "detach", &name]);
    assert_eq!(status(&detached), 0, "{}", complaint(&detached));
}
