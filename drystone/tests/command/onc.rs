//! ONC RPC with real peers: clients and servers in C that rpcgen makes from the output of `drystone describe`, with
//! libtirpc; rpcbind and rpcinfo; and a hostile client.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream, UdpSocket};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use super::peer::{Peer, installed};
use super::{DRYSTONE, complaint, drystone, folder_of, folder_with, printed, status};
use drystone_golden::free_port;

const FILES: &[(&str, &str)] = &[
    ("store.dry", include_str!("onc/store.dry")),
    ("server.dry", include_str!("onc/server.dry")),
    ("client.dry", include_str!("onc/client.dry")),
    ("client.c", include_str!("onc/client.c")),
    ("server.c", include_str!("onc/server.c")),
];

/// The client's output. Over UDP each call is a communication of its own, so our service keeps no notes.
fn answers(notes: i32) -> String {
    let figures = "TRUE\nbFALSE 2,-1 0,3 [ 0.5 ] [ 1.5 2.0 0.5 ]rs\nTRUE3TRUE\n1000-1000\n";
    format!("3\nno name\n{notes}\n-4 2.0 x FALSE\n5005\n{figures}")
}

/// A folder with the programs for integers of 32 or 64 bits.
fn folder(integers: &str) -> TempDir {
    let by = format!("BY Onc(integers: {integers})");
    folder_of(FILES.iter().map(|(name, text)| (*name, text.replace("(* BY *)", &by))))
}

/// Runs a command that has to succeed.
fn done(folder: &Path, command: &str, arguments: &[&str]) -> String {
    let output = Command::new(command).args(arguments).current_dir(folder).output().expect("it is installed");
    assert!(output.status.success(), "{command} {arguments:?}: {}", complaint(&output));
    printed(&output)
}

/// Builds client and server in C; `false`: something isn't installed.
fn make(folder: &Path, integers: &str) -> bool {
    if !installed("rpcgen") || !installed("cc") {
        return false;
    }
    if !Path::new("/usr/include/tirpc/rpc/rpc.h").exists() {
        drystone_golden::skipped("no libtirpc here");
        return false;
    }
    let with = format!("integers={integers}");
    let described =
        drystone(folder, &["describe", "store.dry", "Store", "--onc", "--with", &with, "-o", "store.x"]);
    assert_eq!(status(&described), 0, "{}", complaint(&described));
    for (part, file) in [("-h", "store.h"), ("-c", "xdr.c"), ("-l", "stub.c"), ("-m", "skeleton.c")] {
        done(folder, "rpcgen", &[part, "-o", file, "store.x"]);
    }
    for (program, stub) in [("client", "stub.c"), ("server", "skeleton.c")] {
        let source = format!("{program}.c");
        let arguments = ["-w", "-I/usr/include/tirpc", "-o", program, &source, stub, "xdr.c", "-ltirpc"];
        done(folder, "cc", &arguments);
    }
    true
}

fn serve(folder: &Path, name: &str) -> Peer {
    let mut server = Peer::start(folder, DRYSTONE, &["run", "server.dry", name]);
    assert_eq!(server.line(), "ready");
    server
}

fn both_ways(integers: &str) {
    let folder = folder(integers);
    let folder = folder.path();
    if !make(folder, integers) {
        return;
    }
    for (transport, scheme, notes) in [("tcp", "onc", 2), ("udp", "onc+udp", 0)] {
        let port = free_port().to_string();
        let server = serve(folder, &format!("{scheme}://127.0.0.1:{port}/"));
        let printed = done(folder, "./client", &[transport, &port]);
        assert_eq!(printed, answers(notes) + "RPC: Procedure unavailable\n", "{transport}");
        drop(server);
        let mut server = Peer::start(folder, "./server", &[transport]);
        let name = format!("{scheme}://127.0.0.1:{}/", server.line());
        assert_eq!(done(folder, DRYSTONE, &["run", "client.dry", &name]), answers(2), "{transport}");
    }
}

#[test]
fn c_and_drystone_call_each_other_with_64_bits() {
    both_ways("64");
}

#[test]
fn c_and_drystone_call_each_other_with_32_bits() {
    both_ways("32");
}

/// rpcbind, unless it runs already; `None`: it isn't available.
fn rpcbind() -> Option<Option<Peer>> {
    if TcpStream::connect(("127.0.0.1", 111)).is_ok() {
        return Some(None);
    }
    if !installed("rpcbind") || !installed("rpcinfo") || !installed("rpcgen") {
        return None;
    }
    let mut server = Peer::start(Path::new("/"), "rpcbind", &["-f", "-l"]);
    for _ in 0..100 {
        if TcpStream::connect(("127.0.0.1", 111)).is_ok() && Path::new("/run/rpcbind.sock").exists() {
            return Some(Some(server));
        }
        if !server.runs() {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    drystone_golden::skipped("rpcbind can't be started here");
    None
}

/// The program's number, from `store.x`.
fn number(folder: &Path) -> String {
    let x = fs::read_to_string(folder.join("store.x")).expect("it was written");
    let program =
        x.rsplit_once("= 0x").and_then(|(_, number)| number.split_once(';')).expect("it has a number").0;
    u32::from_str_radix(program, 16).expect("it is one").to_string()
}

#[test]
fn programs_with_a_port_are_found_without_rpcbind() {
    if !installed("rpcinfo") {
        return;
    }
    let folder = folder("64");
    let folder = folder.path();
    done(folder, DRYSTONE, &["describe", "store.dry", "Store", "-o", "store.x"]);
    let program = number(folder);
    let port = free_port();
    let at = format!("127.0.0.1.{}.{}", port / 256, port % 256);
    for (transport, scheme) in [("tcp", "onc"), ("udp", "onc+udp")] {
        let _server = serve(folder, &format!("{scheme}://127.0.0.1:{port}"));
        let seen = done(folder, "rpcinfo", &["-a", &at, "-T", transport, &program, "1"]);
        assert_eq!(seen.trim(), format!("program {program} version 1 ready and waiting"));
    }
}

#[test]
fn programs_without_a_port_are_found_by_rpcbind() {
    let folder = folder("64");
    let folder = folder.path();
    // Here, because no other test starts rpcbind.
    if !Path::new("/run/rpcbind.sock").exists() {
        let output = drystone(folder, &["run", "server.dry", "onc://127.0.0.1/"]);
        let expected =
            "there is no rpcbind on this machine, so nobody would find it without a port: name one";
        assert!(status(&output) == 1 && complaint(&output).contains(expected), "{}", complaint(&output));
    }
    let Some(_rpcbind) = rpcbind() else { return };
    if !make(folder, "64") {
        return;
    }
    let program = number(folder);
    for (transport, scheme, notes) in [("tcp", "onc", 2), ("udp", "onc+udp", 0)] {
        let name = format!("{scheme}://127.0.0.1/");
        let server = serve(folder, &name);
        let printed = done(folder, "./client", &[transport]);
        assert_eq!(printed, answers(notes) + "RPC: Procedure unavailable\n", "{transport}");
        let seen = done(folder, "rpcinfo", &["-T", transport, "127.0.0.1", &program, "1"]);
        assert_eq!(seen.trim(), format!("program {program} version 1 ready and waiting"));
        assert_eq!(done(folder, DRYSTONE, &["run", "client.dry", &name]), answers(notes), "{transport}");
        drop(server);
        let mut server = Peer::start(folder, "./server", &[transport, "registered"]);
        assert_ne!(server.line(), "");
        assert_eq!(done(folder, DRYSTONE, &["run", "client.dry", &name]), answers(2), "{transport}");
    }
}

#[test]
fn a_server_that_is_not_there_is_lost() {
    let folder = folder("64");
    let name = format!("onc://127.0.0.1:{}/", free_port());
    let output = drystone(folder.path(), &["run", "client.dry", &name]);
    assert_eq!(printed(&output), "lost\n", "{}", complaint(&output));
    assert_eq!(status(&output), 0);
}

const MANY: &str = "
COMPONENT Main REQUIRES Arguments;
INTERFACE Lists;
  { IN Turn(all: SEQUENCE OF INTEGER) OUT Turned(all: SEQUENCE OF INTEGER)
  | IN Fill(n: INTEGER) OUT Filled(all: SEQUENCE OF TEXT) }
END Lists;
COMPONENT Host OFFERS Lists;
  IMPLEMENTATION Lists;
  VARIABLE numbers: SEQUENCE OF INTEGER; texts: SEQUENCE OF TEXT; n, i: INTEGER;
  BEGIN
    WHILE ?ANY DO
      IF ?Turn THEN
        ?Turn(numbers); FOR i := 0 TO COUNT(numbers) - 1 DO numbers[i] := -numbers[i] END; !Turned(numbers)
      ELSE
        ?Fill(n); NEW(texts, n); !Filled(texts)
      END
    END
  END Lists;
END Host;
COMPONENT Guest REQUIRES Lists;
VARIABLE numbers: SEQUENCE OF INTEGER; texts: SEQUENCE OF TEXT; i: INTEGER;
BEGIN
  FOR i := 1 TO 100000 DO APPEND(numbers, i) END;
  Lists!Turn(numbers); Lists?Turned(numbers); WRITE(COUNT(numbers)); WRITE(numbers[99999]); WRITELINE;
  Lists!Fill(200000); Lists?Filled(texts); WRITE(COUNT(texts)); WRITELINE;
  Lists!Fill(300000);
  IF Lists?Filled THEN WRITE(\"too much\") ELSE WRITE(\"lost\") END; WRITELINE
END Guest;
VARIABLE host: Host; guest: Guest;
BEGIN
  NEW(host); EXPORT(Lists(host), \"NAME\");
  NEW(guest); CONNECT(Lists(guest), \"NAME\");
  DELETE(guest); HALT(0)
END Main;
";

#[test]
fn sequences_are_as_long_as_a_record_may_be() {
    let name = format!("onc://127.0.0.1:{}/", free_port());
    let output = drystone(folder_with(&MANY.replace("NAME", &name)).path(), &["run", "program.dry"]);
    assert_eq!(printed(&output), "100000-100000\n200000\nlost\n", "{}", complaint(&output));
}

/// Bytes that are no calls, truncated calls, and clients that leave while they are served.
#[test]
fn bad_clients_harm_nobody_else() {
    let folder = folder("64");
    let port = free_port();
    let name = format!("onc://127.0.0.1:{port}/");
    let mut server = serve(folder.path(), &name);
    let connect = || TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    for length in [0u32, 1, 24, 40, 1 << 20, u32::MAX] {
        let mut client = connect();
        client.write_all(&(length | 1 << 31).to_be_bytes()).expect("it takes bytes");
        // It may close before it has read all of them.
        let _ = client.write_all(&[7; 100]);
        let _ = client.shutdown(Shutdown::Write);
        client.set_read_timeout(Some(Duration::from_secs(10))).expect("it is no zero");
        let mut rest = Vec::new();
        let _ = client.read_to_end(&mut rest);
        assert!(rest.is_empty(), "{length}");
    }
    let many: Vec<TcpStream> = (0..1000).map(|_| connect()).collect();
    assert_eq!(done(folder.path(), DRYSTONE, &["run", "client.dry", &name]), answers(2));
    drop(many);
    assert!(server.runs());
}

#[test]
fn datagrams_that_are_no_calls_are_nothing() {
    let folder = folder("64");
    let port = free_port();
    let name = format!("onc+udp://127.0.0.1:{port}/");
    let mut server = serve(folder.path(), &name);
    let socket = UdpSocket::bind("127.0.0.1:0").expect("there are ports");
    for length in 0..1000 {
        socket.send_to(&vec![length as u8; length], ("127.0.0.1", port)).expect("it is sent");
    }
    assert_eq!(done(folder.path(), DRYSTONE, &["run", "client.dry", &name]), answers(0));
    assert!(server.runs());
}

#[test]
fn what_rpcgen_cannot_know_is_refused() {
    let folder = folder("64");
    let said = |interface: &str, option: &str| {
        let with = ["describe", "store.dry", interface, "--with", option];
        complaint(&drystone(folder.path(), &with))
    };
    assert_eq!(
        said("Files", "version=1"),
        "error: Opened of Files carries a component, which can't leave the program this way\n"
    );
    assert!(said("FileSystem", "version=1").contains("is no interface of requests and replies"));
    assert_eq!(said("Store", "integers=8"), "error: integers: 8 is not 32 or 64\n");
    assert_eq!(said("Nothing", "version=1"), "error: store.dry: there is no interface Nothing\n");
}
