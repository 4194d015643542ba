//! HTTP with real peers: curl, WebSockets by Python, and our own clients.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::bindings::{Server, systems};
use super::peer::{Peer, installed};
use super::{DRYSTONE, complaint, drystone, folder_of, printed, status};
use drystone_golden::free_port;

const FILES: &[(&str, &str)] = &[
    ("hello.dry", include_str!("http/hello.dry")),
    ("server.dry", include_str!("http/server.dry")),
    ("client.dry", include_str!("http/client.dry")),
    ("web.dry", include_str!("http/web.dry")),
    ("talk.py", include_str!("http/talk.py")),
];

/// The client's output.
pub const ANSWERS: &str = "Hello, you
9223372036854775807 0.5 x TRUE
by zero
me
1 me: 1
2 me: 2
3 me: 3
bye
";

pub fn folder() -> TempDir {
    folder_of(FILES.iter().copied())
}

/// A server, and its URL.
fn serve(folder: &Path) -> (Peer, String) {
    let url = format!("http://127.0.0.1:{}", free_port());
    let mut server = Peer::start(folder, DRYSTONE, &["run", "server.dry", &url]);
    assert_eq!(server.line(), "ready");
    (server, url)
}

/// curl's output: the body, then the status.
pub fn curl(arguments: &[&str]) -> String {
    let mut command = Command::new("curl");
    let output = command.args(["-sS", "-m", "20", "-w", " %{http_code}"]).args(arguments).output();
    let output = output.expect("it is installed");
    assert!(output.status.success(), "{arguments:?}: {}", complaint(&output));
    printed(&output)
}

pub fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("it is no zero");
    stream
}

/// All that is answered to some bytes, after which the server must close the connection.
pub fn answered(address: &str, request: impl AsRef<[u8]>) -> Vec<u8> {
    let mut stream = connect(address);
    stream.write_all(request.as_ref()).expect("it takes bytes");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("it ends the connection");
    answer
}

/// An answer has this status, and these parts.
pub fn is(answer: &str, status: u16, parts: &[&str]) {
    let wanted = format!("HTTP/1.1 {status} ");
    assert!(answer.starts_with(&wanted), "{wanted}: {answer}");
    for part in parts {
        assert!(answer.contains(part), "{part}: {answer}");
    }
}

#[test]
fn the_chapter_s_server_greets() {
    if !installed("curl") {
        return;
    }
    let url = format!("http://127.0.0.1:{}/greet", free_port());
    let _server = Server::start(&systems(), &["run", "Greetings.dry", &url]);
    let said = curl(&["-d", "{\"x\":\"you\"}", &format!("{url}/Name")]);
    assert_eq!(said, "{\"Greeting\":{\"x\":\"Hello, you\"}} 200");
}

#[test]
fn the_chapter_s_server_outlives_a_division_by_zero() {
    if !installed("curl") {
        return;
    }
    let url = format!("http://127.0.0.1:{}/divide", free_port());
    let said = |x, y| curl(&["-d", &format!("{{\"x\":{x},\"y\":{y}}}"), &format!("{url}/Divide")]);
    let server = Server::start(&systems(), &["run", "Division.dry", &url]);
    assert_eq!(
        (said(1, 0), said(42, 6)),
        ("{\"Failed\":{}} 200".into(), "{\"Quotient\":{\"z\":7}} 200".into())
    );
    drop(server);
    let program = fs::read_to_string(systems().join("Division.dry")).expect("it is there");
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let program = program.replace("COMPONENT {ISOLATED}", "COMPONENT");
    fs::write(folder.path().join("bare.dry"), program).expect("a temporary folder can be written");
    let mut server = Server::start(folder.path(), &["run", "bare.dry", &url]);
    let _ = Command::new("curl").args(["-sS", "-d", "{\"x\":1,\"y\":0}", &format!("{url}/Divide")]).output();
    assert_eq!(server.ended().code(), Some(1));
}

#[test]
fn curl_calls() {
    let folder = folder();
    let (_server, url) = serve(folder.path());
    if !installed("curl") {
        return;
    }
    let said = |path: &str, body: &str| curl(&["-d", body, &format!("{url}{path}")]);
    assert_eq!(said("/greet/Name", "{\"x\":\"you\"}"), "{\"Greeting\":{\"x\":\"Hello, you\"}} 200");
    let odd = said("/greet/Name", "{\"x\":{\"base64\":\"/w==\"}}");
    assert_eq!(odd, "{\"Greeting\":{\"x\":{\"base64\":\"SGVsbG8sIP8=\"}}} 200");
    let exact = "{\"Sum\":{\"n\":9007199254740993,\"r\":0.5,\"c\":\"x\",\"b\":true}} 200";
    assert_eq!(said("/count/Add", "{\"n\":9007199254740993}"), exact);
    assert_eq!(said("/count/Note", "{\"x\":\"a\"}"), " 204");
    assert_eq!(said("/count/Divide", "{\"a\":7,\"b\":0}"), "{\"Failed\":{\"reason\":\"by zero\"}} 200");
    let two = [&format!("{url}/greet/Name")[..], &format!("{url}/greet/Name")[..]];
    let kept = curl(&["-d", "{\"x\":\"you\"}", two[0], two[1]]);
    assert_eq!(kept, "{\"Greeting\":{\"x\":\"Hello, you\"}} 200".repeat(2));
    let http2 = curl(&["--http2-prior-knowledge", "-d", "{\"x\":\"2\"}", two[0]]);
    assert_eq!(http2, "{\"Greeting\":{\"x\":\"Hello, 2\"}} 200");
}

#[test]
fn what_is_wrong_is_said_with_its_status() {
    let folder = folder();
    let (_server, url) = serve(folder.path());
    if !installed("curl") {
        return;
    }
    let refused = |path: &str, arguments: &[&str], wanted: &str, code: &str| {
        let said = curl(&[arguments, &[&format!("{url}{path}")]].concat());
        assert!(said.contains(wanted) && said.ends_with(&format!("\"}}\n {code}")), "{path}: {said}");
    };
    refused("/nothing", &["-d", "{}"], "there is nothing at /nothing", "404");
    refused("/greet/Shout", &["-d", "{}"], "Greet has no message Shout", "404");
    refused("/greet/Name", &[], "the method has to be POST", "405");
    refused("/greet/openapi.json", &["-d", "{}"], "the method has to be GET", "405");
    refused("/greet/Name", &["-d", "{}"], "x is missing", "400");
    refused("/greet/Name", &["-d", "{\"x\":1}"], "expected a string", "400");
    refused("/talk/Join", &["-d", "{}"], "talk to it by a WebSocket", "426");
    refused("/greet/Name", &["-d", "{}", "-H", "Origin: http://evil.example"], "pages of other sites", "403");
    let rebound = ["-d", "{}", "-H", "Origin: http://evil.example", "-H", "Host: evil.example"];
    refused("/greet/Name", &rebound, "served as localhost", "421");
    let own = ["localhost", "LOCALHOST:1", "127.0.0.1:80", "127.8.9.1", "[::1]", "[::1]:7"];
    for host in own.map(|own| format!("Host: {own}")) {
        refused("/greet/Name", &["-d", "{}", "-H", &host], "x is missing", "400");
        refused("/greet/Name", &["-d", "{}", "--http2-prior-knowledge", "-H", &host], "x is missing", "400");
    }
    let socket = [
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ];
    let socket = socket.map(|line| ["-H", line]).concat();
    // A hostile domain that resolves to this machine (DNS rebinding) appears in its browsers' requests as the host.
    for host in ["evil.example", "localhost.evil.example:80", "127.0.0.1.evil.example", "10.0.0.1", "", ":80"]
    {
        let host = format!("Host: {host}");
        let host = if host == "Host: " { "Host;" } else { &host };
        refused("/greet/openapi.json", &["-H", host], "served as localhost", "421");
        refused("/talk", &[&socket[..], &["-H", host]].concat(), "served as localhost", "421");
    }
    let rebound = ["-d", "{}", "--http2-prior-knowledge", "-H", "Host: evil.example"];
    refused("/greet/Name", &rebound, "served as localhost", "421");
    let here = url.strip_prefix("http://").expect("it is plain");
    refused("/greet/Name", &["-d", "{}", "-H", &format!("Origin: http://{here}")], "x is missing", "400");
    let large = folder.path().join("large");
    fs::write(&large, vec![b' '; 17 << 20]).expect("a temporary folder can be written");
    let large = format!("@{}", large.display());
    refused(
        "/greet/Name",
        &["-H", "Expect:", "--data-binary", &large],
        "a request may have 16777216 bytes",
        "413",
    );
}

/// The client reads the answer only when it has sent everything.
#[test]
fn who_is_refused_while_it_sends_gets_the_answer() {
    let folder = folder();
    let (_server, url) = serve(folder.path());
    let mut client = TcpStream::connect(url.strip_prefix("http://").expect("it is one")).expect("it listens");
    let length = 17 << 20;
    let head = format!("POST /greet/Name HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n");
    client.write_all(head.as_bytes()).expect("it takes bytes");
    std::thread::sleep(Duration::from_millis(300));
    client.write_all(&vec![b' '; length]).expect("it still takes bytes");
    let mut answer = String::new();
    client.read_to_string(&mut answer).expect("it isn't broken off");
    assert!(answer.starts_with("HTTP/1.1 413 ") && answer.contains("may have 16777216 bytes"), "{answer}");
}

#[test]
fn a_description_is_served_beside() {
    let folder = folder();
    let (_server, url) = serve(folder.path());
    if !installed("curl") {
        return;
    }
    let said = curl(&[&format!("{url}/count/openapi.json")]);
    for part in ["\"openapi\": \"3.1.0\"", "\"/Divide\"", "\"Quotient\"", "\"format\": \"int64\"", "\"204\""]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn both_ends_are_programs_of_ours() {
    let folder = folder();
    let (server, url) = serve(folder.path());
    let output = drystone(folder.path(), &["run", "client.dry", &url]);
    assert_eq!((printed(&output), status(&output)), (ANSWERS.into(), 0), "{}", complaint(&output));
    drop(server);
    let output = drystone(folder.path(), &["run", "client.dry", &url]);
    assert_eq!((printed(&output), status(&output)), ("lost\nlost\n".into(), 0), "{}", complaint(&output));
}

#[test]
fn python_talks_by_websockets() {
    let folder = folder();
    let (_server, url) = serve(folder.path());
    python_talks(folder.path(), &url);
}

/// Runs the Python client; with TLS it trusts the authority whose certificate is in the folder.
pub fn python_talks(folder: &Path, url: &str) {
    let known = Command::new("python3").args(["-c", "import websockets.asyncio"]).output();
    if !known.is_ok_and(|output| output.status.success()) {
        return drystone_golden::skipped("no Python with websockets here");
    }
    let url = url.replacen("http", "ws", 1) + "/talk";
    let mut command = Command::new("python3");
    command.args(["talk.py", &url]).current_dir(folder).env("SSL_CERT_FILE", "server-ca.pem");
    let output = command.output().expect("it was there just now");
    let wanted =
        "{\"Welcome\":{\"x\":\"py\"}}\nTrue True\nTrue True\n{\"Bye\":{}}\n1000\n1008\n1007\n1003\n404\n";
    assert_eq!(printed(&output), wanted, "{}", complaint(&output));
}

/// Bytes that are no requests, truncated requests, and very many clients.
#[test]
fn bad_clients_harm_nobody_else() {
    let folder = folder();
    let (mut server, url) = serve(folder.path());
    let address = url.strip_prefix("http://").expect("it is one");
    let connect = || TcpStream::connect(address).expect("it listens");
    for bytes in [
        &b"\0\xff nonsense\r\n\r\n"[..],
        b"GET / HTTP/1.1\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnonsense, and more of it",
    ] {
        let mut client = connect();
        client.write_all(bytes).expect("it takes bytes");
        client.set_read_timeout(Some(Duration::from_millis(300))).expect("it is no zero");
        let _ = client.read(&mut [0; 1024]);
    }
    let mut half: Vec<TcpStream> = (0..1000).map(|_| connect()).collect();
    for client in &mut half {
        client
            .write_all(b"POST /greet/Name HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
            .expect("it takes bytes");
    }
    let begun = Instant::now();
    let output = drystone(folder.path(), &["run", "client.dry", &url]);
    assert_eq!(printed(&output), ANSWERS, "{}", complaint(&output));
    assert!(begun.elapsed() < Duration::from_secs(20));
    drop(half);
    assert!(server.runs());
}

#[test]
fn other_machines_are_refused_without_tls() {
    let folder = folder();
    let output = drystone(folder.path(), &["run", "server.dry", "http://0.0.0.0:8080"]);
    assert_eq!(status(&output), 1);
    assert!(
        complaint(&output).contains("without TLS only addresses of this machine's own"),
        "{}",
        complaint(&output)
    );
}
