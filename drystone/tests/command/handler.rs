//! `drystone handler`, as the book's page shows it.

use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::{complaint, drystone, printed, status};

fn ip(arguments: &str) -> bool {
    let command = Command::new("ip").args(arguments.split(' ')).stderr(Stdio::null()).status();
    command.is_ok_and(|status| status.success())
}

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
    let (mark, name) = (std::process::id() % 10_000, format!("test-{}", std::process::id()));
    let (space, near, far) = (format!("space{mark}"), format!("near{mark}"), format!("far{mark}"));
    if !ip(&format!("netns add {space}")) {
        return println!("skipped: handler-attach: no network namespaces");
    }
    let pair = ip(&format!("link add {near} type veth peer name {far} netns {space}"));
    let addresses = pair
        && ip(&format!("addr add 10.97.0.1/24 dev {near}"))
        && ip(&format!("link set {near} up"))
        && ip(&format!("-n {space} addr add 10.97.0.2/24 dev {far}"))
        && ip(&format!("-n {space} link set {far} up"));
    if addresses {
        // `ip netns exec` would have a file system for BPF of its own.
        let attach = Command::new("nsenter")
            .arg(format!("--net=/run/netns/{space}"))
            .args([crate::DRYSTONE, "handler", "attach", "hello/counter.c"])
            .args(["--on", &far, "--mode", "generic", "--engine", "xdp", "--name", &name])
            .current_dir(folder.path())
            .output()
            .expect("there is `nsenter`");
        if attach.status.success() {
            let listed = drystone(folder.path(), &["handler", "list"]);
            assert!(printed(&listed).contains(&name), "{}", printed(&listed));
            let socket = UdpSocket::bind("10.97.0.1:0").expect("it has that address");
            socket.set_read_timeout(Some(Duration::from_secs(5))).expect("it can be");
            for round in 1..=3u64 {
                socket.send_to(&5u64.to_be_bytes(), "10.97.0.2:7000").expect("it can be");
                let mut sum = [0; 8];
                socket.recv(&mut sum).expect("it answers");
                assert_eq!(u64::from_be_bytes(sum), 5 * round);
            }
            let detached = drystone(folder.path(), &["handler", "detach", &name]);
            assert_eq!(status(&detached), 0, "{}", complaint(&detached));
        } else {
            println!("skipped: handler-attach: {}", complaint(&attach));
        }
    } else {
        println!("skipped: handler-attach: no virtual interfaces");
    }
    ip(&format!("netns del {space}"));
}
