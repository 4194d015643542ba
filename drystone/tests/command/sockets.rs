//! The network server in `systems/`, and blocks that use it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use drystone_client::composite::VarTable;
use drystone_client::composite::builder::{Builder, Text, repeat, sequence, text};
use drystone_client::{Outcome, Server};

use crate::counted::Counted;
use crate::peer::Peer;
use crate::servers::network_server;
use crate::shipped;
use drystone_golden::free_port;

/// A network server that may connect to peers, and its port.
fn serving(folder: &Path, options: &[&str]) -> (Peer, u16) {
    let port = free_port();
    let names = ["sockets", "shelf"].map(|kind| format!("{kind}=tcp://127.0.0.1:{port}/{kind}"));
    let options: Vec<&str> = options.iter().copied().chain(names.iter().map(String::as_str)).collect();
    let program = network_server().to_str().expect("a plain path");
    let mut server = Peer::start(folder, program, &options);
    assert_eq!(server.line(), "ready");
    (server, port)
}

/// A peer that serves each client by a function, until the test is over.
fn peer(serve: fn(TcpStream) -> Vec<u8>) -> (u16, Receiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there are ports");
    let port = listener.local_addr().expect("it has an address").port();
    let (heard, all) = channel();
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let heard = heard.clone();
            // The test may be over.
            thread::spawn(move || heard.send(serve(client)));
        }
    });
    (port, all)
}

/// Returns each line.
fn echo(client: TcpStream) -> Vec<u8> {
    let mut answers = client.try_clone().expect("there are descriptors");
    for line in BufReader::new(client).lines().map_while(Result::ok) {
        // In one piece: a second one would wait for the first one's acknowledgement.
        answers.write_all(format!("heard {line}\n").as_bytes()).expect("it listens");
    }
    Vec::new()
}

/// Reads everything to the end.
fn listen(mut client: TcpStream) -> Vec<u8> {
    let mut heard = Vec::new();
    client.read_to_end(&mut heard).expect("it can be read");
    heard
}

/// Neither reads nor writes.
fn keep(client: TcpStream) -> Vec<u8> {
    thread::park();
    drop(client);
    Vec::new()
}

fn work(port: u16, arguments: &str) -> (String, i32) {
    let interfaces = ["../network/Sockets.dry", "../files/Shelf.dry"];
    shipped::work("OnNetwork.dry", &interfaces, &format!("tcp://127.0.0.1:{port}"), arguments)
}

#[test]
fn a_block_talks_to_a_peer_from_where_the_network_is() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let ((echoes, _), (silent, _)) = (peer(echo), peer(keep));
    let (_server, port) = serving(folder.path(), &["allow=127.0.0.1:*,nowhere.invalid:1", "patience=1"]);
    let way = Counted::way_to(port);
    let answers = "1000 answers, the last one: heard stone".to_string();
    assert_eq!(work(way.port, &format!("talk 127.0.0.1 {echoes} 1000 stone")), (answers, 0));
    assert!(way.bytes() < 10_000, "{} bytes went by way of the client", way.bytes());
    let refused = |host: &str, port| work(way.port, &format!("talk {host} {port} 1 stone"));
    let not_allowed = format!("connections to localhost:{echoes} are not allowed here");
    assert_eq!(refused("localhost", echoes), (not_allowed, 1));
    assert_eq!(refused("127.0.0.1", free_port()), ("Connection refused".into(), 1));
    assert_eq!(refused("127.0.0.1", silent), ("it has taken more than 1s".into(), 1));
    assert_eq!(refused("nowhere.invalid", 1).1, 1);
}

#[test]
fn a_file_is_sent_from_where_it_lies() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let data: Vec<u8> = (0..4_000_000_u32).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect();
    fs::write(folder.path().join("file"), &data).expect("there is room");
    let (listens, heard) = peer(listen);
    let (_server, port) = serving(folder.path(), &[&format!("allow=127.0.0.1:{listens}"), "folder=."]);
    let way = Counted::way_to(port);
    let send = |file: &str| work(way.port, &format!("send 127.0.0.1 {listens} {file}"));
    assert_eq!(send("file"), (format!("{} bytes", data.len()), 0));
    assert!(heard.recv().expect("it has heard something") == data);
    assert!(way.bytes() < 10_000, "{} bytes went by way of the client", way.bytes());
    assert_eq!(send("none"), ("No such file or directory".into(), 1));
    assert_eq!(send("../file"), ("not a name within the folder".into(), 1));
}

/// The outcome of a request in a session that has done other requests before.
fn fails(server: &mut Server, connects: i64, to: u16, request: &str, values: (i64, i64)) -> String {
    let sockets = server.describe("sockets").expect("it is served");
    let vars = Builder::new();
    let sockets = vars.communication(&sockets);
    let (socket, reason) = (vars.local::<i64>(), vars.out::<Text>());
    let program = vars.program(sequence([
        repeat(
            &vars,
            connects,
            sockets.call("Connect", (text("127.0.0.1"), i64::from(to)), "Connected", (socket,)),
        ),
        match request {
            "Connect" => sockets.call("Connect", (text("127.0.0.1"), values.1), "Failed", (reason,)),
            "Send" => sockets.call("Send", (values.0, text("x")), "Failed", (reason,)),
            "Receive" => sockets.call("Receive", values, "Failed", (reason,)),
            _ => sockets.call(request, (values.0,), "Failed", (reason,)),
        },
    ]));
    let program = program.expect("a program");
    let table = VarTable::of(&program).expect("its variables");
    let Outcome::Ended(table) = server.run(&program, &["sockets"], table, 1000).expect("it is there") else {
        return "it didn't fail".into();
    };
    let reason = table.value(reason).expect("it comes back");
    String::from_utf8_lossy(&reason).into_owned()
}

#[test]
fn what_a_client_of_the_network_may_not_do_fails() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let (port, _) = peer(keep);
    let (mut program, address) = serving(folder.path(), &[&format!("allow=127.0.0.1:{port}"), "most=3"]);
    let mut server = Server::connect(("127.0.0.1", address)).expect("it listens");
    let mut fails = |connects, request, number, n| fails(&mut server, connects, port, request, (number, n));
    let to = i64::from(port);
    assert_eq!(fails(3, "Connect", 0, to), "too many sockets are open in this session");
    // A session's sockets are closed with it.
    assert_eq!(fails(3, "Connect", 0, to), "too many sockets are open in this session");
    assert_eq!(
        fails(1, "Connect", 0, to + 1),
        format!("connections to 127.0.0.1:{} are not allowed here", to + 1)
    );
    for wrong in [-1, 65536, i64::MAX] {
        assert_eq!(fails(0, "Connect", 0, wrong), "there is no such port");
    }
    for request in ["Send", "Receive", "Finish", "Close"] {
        assert_eq!(fails(1, request, 2, 1), "no socket is open by this number", "{request}");
    }
    assert!(program.runs());
}

#[test]
fn without_a_list_of_peers_nobody_is_reached() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let (port, _) = peer(keep);
    let (_server, address) = serving(folder.path(), &[]);
    let not_allowed = format!("connections to 127.0.0.1:{port} are not allowed here");
    assert_eq!(work(address, &format!("talk 127.0.0.1 {port} 1 stone")), (not_allowed, 1));
    assert_eq!(
        work(address, &format!("send 127.0.0.1 {port} file")),
        ("no files are served there".into(), 1)
    );
    let program = network_server().to_str().expect("a plain path");
    let mut wrong = Peer::start(folder.path(), program, &["allow=127.0.0.1"]);
    assert_eq!(wrong.line(), "allow=127.0.0.1: HOST:PORT is expected, with commas between several");
}
