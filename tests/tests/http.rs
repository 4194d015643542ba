//! `programs/HttpServer.dry` with real clients: curl, ones that know no HTTP, slow, rude and many ones.

mod compiled;
mod crowd;
mod server;

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crowd::{Crowd, Event};
use server::{Server, programs, until};

const NAIL: &str = r#"{"name": "nail", "amount": 100}"#;

#[test]
fn curl_keeps_a_stock() {
    let Some(server) = Server::start("HttpServer") else { return };
    if Command::new("curl").arg("--version").output().is_err() {
        drystone_golden::skipped("no curl here");
        return;
    }
    let curl = |path: &str, options: &[&str]| {
        let mut command = Command::new("curl");
        command.args(["--silent", "--show-error", "--max-time", "20", "--write-out", " %{http_code}"]);
        let output = command.args(options).arg(format!("http://{}{path}", server.address)).output();
        let output = output.expect("curl runs");
        assert!(output.status.success(), "{path}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    assert_eq!(curl("/items", &[]), r#"{"items": []} 200"#);
    assert_eq!(curl("/items", &["-d", NAIL]), r#"{"id": 1, "name": "nail", "amount": 100} 201"#);
    let screw = r#"{"amount": -7, "name": "screw"}"#;
    assert_eq!(
        curl("/items/7", &["-X", "PUT", "-d", screw]),
        r#"{"id": 7, "name": "screw", "amount": -7} 201"#
    );
    assert_eq!(
        curl("/items/7?unit=piece", &["-X", "PUT", "-d", NAIL]),
        r#"{"id": 7, "name": "nail", "amount": 100} 200"#
    );
    assert_eq!(curl("/items/1", &["-X", "DELETE"]), r#"{"id": 1, "name": "nail", "amount": 100} 200"#);
    assert_eq!(curl("/items/1", &[]), r#"{"error": "no such item"} 404"#);
    assert_eq!(curl("/items", &[]), r#"{"items": [{"id": 7, "name": "nail", "amount": 100}]} 200"#);
    assert_eq!(curl("/counters", &[]), r#"{"requests": 8, "changes": 4, "items": 1} 200"#);
    assert_eq!(curl("/items/7", &["-X", "PATCH"]), r#"{"error": "Method Not Allowed"} 405"#);
    let head = curl("/items/7", &["-I"]);
    assert!(head.contains("Content-Length: 40\r\n") && head.ends_with("\r\n\r\n 200"), "{head}");
    assert_eq!(curl("/items/7", &["-0"]), r#"{"id": 7, "name": "nail", "amount": 100} 200"#);
    // A long body, for which curl asks first; one that is too long, which it begins to send all the same.
    let long = format!(r#"{{"name": "{}", "amount": 1{}}}"#, "x".repeat(1000), " ".repeat(900_000));
    let folder = std::env::temp_dir().join(format!("drystone-http-{}", std::process::id()));
    std::fs::write(&folder, &long).unwrap();
    let file = format!("@{}", folder.display());
    assert!(curl("/items/9", &["-X", "PUT", "--data-binary", &file]).ends_with(" 201"));
    std::fs::write(&folder, long + &" ".repeat(2_000_000)).unwrap();
    assert!(curl("/items/9", &["-X", "PUT", "-H", "Expect:", "--data-binary", &file]).ends_with(" 413"));
    std::fs::remove_file(&folder).unwrap();
    assert_eq!(server.complaints(), "");
}

#[test]
fn texts_pass_json_both_ways() {
    let Some(server) = Server::start("HttpServer") else { return };
    let mut client = Client::new(&server);
    let put = |client: &mut Client, name: &str| {
        client.put("/items/1", &format!(r#"{{"name": {name}, "amount": 0}}"#)).1
    };
    let pairs = [
        (r#""""#, r#""""#),
        (r#""\"\\\/\b\f\n\r\t""#, r#""\"\\/\b\f\n\r\t""#),
        (r#""\u0000\u001f\u0041\u00e9\u20AC\ud83d\ude00""#, "\"\\u0000\\u001fA\u{e9}\u{20ac}\u{1f600}\""),
        ("\"\u{e9}\u{20ac}\u{1f600}\u{7f}\"", "\"\u{e9}\u{20ac}\u{1f600}\u{7f}\""),
    ];
    for (sent, kept) in pairs {
        let item = format!(r#"{{"id": 1, "name": {kept}, "amount": 0}}"#);
        assert_eq!(put(&mut client, sent), item);
        assert_eq!(client.get("/items/1").1, item);
        // What it writes it reads.
        assert_eq!(put(&mut client, kept), item);
    }
    let wrong = [
        r#""\ud83d""#,
        r#""\ud83dx""#,
        r#""\ud83d\u0041""#,
        r#""\ude00""#,
        r#""\u00""#,
        r#""\u00g0""#,
        r#""\x""#,
        "\"a\nb\"",
        r#""a"#,
        r#""\"#,
        "7",
        "null",
        "[]",
        r#""" """#,
    ];
    for name in wrong {
        assert!(put(&mut client, name).starts_with(r#"{"error": "#), "{name}");
    }
    assert!(client.raw_put(b"{\"name\": \"\xff\xc0\x80\", \"amount\": 0}").starts_with(r#"{"error": "#));
}

#[test]
fn what_is_no_item_is_refused() {
    let Some(server) = Server::start("HttpServer") else { return };
    let mut client = Client::new(&server);
    let deep = "[".repeat(100_000);
    let long = format!(r#"{{"name": "{}", "amount": 1}}"#, "x".repeat(1001));
    let wrong = [
        "",
        "{",
        "{}",
        "[]",
        "null",
        "nail",
        r#"{"name": "nail"}"#,
        r#"{"amount": 1}"#,
        &deep,
        &long,
        r#"{"name": "nail", "amount": 1,}"#,
        r#"{"name": "nail", "amount": 1}}"#,
        r#"{"name": "nail" "amount": 1}"#,
        r#"{"name": "nail", "amount": 1.5}"#,
        r#"{"name": "nail", "amount": 01}"#,
        r#"{"name": "nail", "amount": -}"#,
        r#"{"name": "nail", "amount": 1e3}"#,
        r#"{"name": "nail", "amount": "1"}"#,
        r#"{"name": 1, "amount": 1}"#,
        r#"{"name": "nail", "amount": 99999999999999999999}"#,
        r#"{"name": "nail", "amount": 1, "size": 2}"#,
    ];
    for body in wrong {
        let (status, answer) = client.put("/items/1", body);
        assert_eq!(status, 400, "{body}: {answer}");
        assert!(answer.starts_with(r#"{"error": ""#) && answer.ends_with(r#""}"#), "{answer}");
    }
    for path in
        ["/", "/item", "/items/", "/items/x", "/items/0", "/items/-1", "/items/1/2", "/items/01", "/counter"]
    {
        assert_eq!(client.get(path).0, 404, "{path}");
    }
    assert_eq!(client.put("/items/999999999999999", NAIL).0, 201);
    assert_eq!(client.get("/items/9999999999999999").0, 404);
}

#[test]
fn requests_may_be_sent_ahead_and_in_pieces() {
    let Some(server) = Server::start("HttpServer") else { return };
    let mut client = Client::new(&server);
    assert_eq!(client.put("/items/1", NAIL).0, 201);
    let mut requests = String::new();
    for amount in 0..1000 {
        let body = format!(r#"{{"name": "nail", "amount": {amount}}}"#);
        requests +=
            &format!("PUT /items/1 HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        requests += "GET /items/1 HTTP/1.1\r\nhOST:x\r\n\r\n";
    }
    let mut writer = client.stream.get_ref().try_clone().unwrap();
    let sender = thread::spawn(move || writer.write_all(requests.as_bytes()).unwrap());
    for amount in 0..1000 {
        let item = format!(r#"{{"id": 1, "name": "nail", "amount": {amount}}}"#);
        assert_eq!(client.answer(), (200, item.clone()));
        assert_eq!(client.answer(), (200, item));
    }
    sender.join().unwrap();
    for byte in
        format!("\r\n\nPUT /items/2 HTTP/1.1\nHost: x\nContent-Length: {}\n\n{NAIL}", NAIL.len()).bytes()
    {
        client.send(&[byte]);
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(client.answer().0, 201);
}

#[test]
fn a_connection_lasts_as_long_as_both_want() {
    let Some(server) = Server::start("HttpServer") else { return };
    let ends = [
        "GET /counters HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        "GET /counters HTTP/1.1\r\nHost: x\r\nConnection: x, Close\r\n\r\n",
        "GET /counters HTTP/1.0\r\n\r\n",
    ];
    for request in ends {
        let mut client = Client::new(&server);
        client.send(request.as_bytes());
        assert_eq!(client.answer().0, 200);
        client.sees_the_end();
    }
    let mut client = Client::new(&server);
    for _ in 0..3 {
        client.send(b"GET /counters HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n");
        assert_eq!(client.answer().0, 200);
    }
    // Who ends sending gets the answers that are due.
    client.send(b"GET /items HTTP/1.1\r\nHost: x\r\n\r\nGET /counters HTTP/1.1\r\nHost: x\r\n\r\nGET /cou");
    client.stream.get_ref().shutdown(Shutdown::Write).unwrap();
    assert_eq!((client.answer().0, client.answer().0, client.answer().0), (200, 200, 400));
    client.sees_the_end();
}

#[test]
fn what_is_no_http_is_refused_and_the_connection_ends() {
    let Some(server) = Server::start("HttpServer") else { return };
    let get = "GET /items HTTP/1.1\r\n";
    let cases: Vec<(u16, Vec<u8>)> = vec![
        (400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\x00\xff\n".to_vec()),
        (400, b"hello\n".to_vec()),
        (400, b"GET\r\n".to_vec()),
        (400, b"GET /items\r\n".to_vec()),
        (400, b" /items HTTP/1.1\r\n".to_vec()),
        (400, b"GET items HTTP/1.1\r\nHost: x\r\n\r\n".to_vec()),
        (400, b"GET  /items HTTP/1.1\r\nHost: x\r\n\r\n".to_vec()),
        (400, b"GET /it\rems HTTP/1.1\r\nHost: x\r\n\r\n".to_vec()),
        (400, format!("{get}Host: x\r\nHost: x\r\n\r\n").into()),
        (400, b"GET /items HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n".to_vec()),
        (400, format!("{get}Host: x\r\nA: b\rC: d\r\n\r\n").into()),
        (400, format!("{get}Host: x\r\nA: b\0\r\n\r\n").into()),
        (414, format!("GET /items/{} HTTP/1.1\r\nHost: x\r\n\r\n", "1".repeat(70_000)).into()),
        (505, b"GET /items HTTP/2.0\r\nHost: x\r\n\r\n".to_vec()),
        (400, format!("{get}\r\n").into()),
        (400, format!("{get}Host: x\r\nnonsense\r\n\r\n").into()),
        (400, format!("{get}Host: x\r\n folded\r\n\r\n").into()),
        (400, format!("{get}Host : x\r\n\r\n").into()),
        (400, format!("{get}Host: x\r\n: y\r\n\r\n").into()),
        (400, format!("{get}Host: x\r\nContent-Length: 1x\r\n\r\n").into()),
        (400, format!("{get}Host: x\r\nContent-Length: -1\r\n\r\n").into()),
        (400, format!("{get}Host: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n").into()),
        (400, format!("{get}Host: x\r\nContent-Length: 99999999999999999999\r\n\r\n").into()),
        (413, format!("{get}Host: x\r\nContent-Length: 1000001\r\n\r\n").into()),
        (501, format!("{get}Host: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n").into()),
        (417, format!("{get}Host: x\r\nExpect: tea\r\n\r\n").into()),
        (431, format!("{get}Host: x\r\n{}\r\n", "A: b\r\n".repeat(101)).into()),
        (431, format!("{get}Host: x\r\nA: {}", "b".repeat(70_000)).into()),
    ];
    for (status, request) in cases {
        let mut client = Client::new(&server);
        client.send(&request);
        // Nobody answers what is sent behind it.
        client.send(b"\r\n\r\nGET /items HTTP/1.1\r\nHost: x\r\n\r\n");
        let told = client.answer();
        let request = String::from_utf8_lossy(&request[..request.len().min(80)]);
        assert_eq!(told.0, status, "{request}: {}", told.1);
        client.sees_the_end();
    }
    assert_eq!(Client::new(&server).get("/counters").1, r#"{"requests": 1, "changes": 0, "items": 0}"#);
    assert_eq!(server.complaints(), "");
}

/// It doesn't know what that is.
#[test]
fn a_client_of_http_1_0_is_not_told_to_continue() {
    let Some(server) = Server::start("HttpServer") else { return };
    let ask = |version: &str| {
        let mut client = Client::new(&server);
        let head = format!(
            "PUT /items/1 HTTP/{version}\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n",
            NAIL.len()
        );
        client.send(head.as_bytes());
        thread::sleep(Duration::from_millis(100));
        client.send(NAIL.as_bytes());
        client.line()
    };
    assert_eq!((ask("1.0"), ask("1.1")), ("HTTP/1.1 201 Created".into(), "HTTP/1.1 100 Continue".into()));
}

/// More of them than there are seats, each of which sends a byte now and then.
#[test]
fn clients_that_drip_shut_nobody_out() {
    let Some(server) = Server::start("HttpServer") else { return };
    let parts = [
        "GET /items HTTP/1.1\r\nHost: x\r\nA: ",
        "PUT /items/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n",
        "G",
    ];
    let mut drips: Vec<_> = (0..2100)
        .map(|number: usize| {
            let mut drip = server.connect();
            drip.write_all(parts[number % parts.len()].as_bytes()).expect("it takes bytes");
            drip
        })
        .collect();
    for _ in 0..3 {
        for drip in &mut drips {
            // It may have been let go.
            let _ = drip.write_all(b"{");
        }
        for _ in 0..20 {
            assert_eq!(Client::new(&server).get("/counters").0, 200);
        }
    }
    assert_eq!(server.complaints(), "");
}

#[test]
fn a_request_that_drips_in_has_a_time_limit() {
    let folder = std::env::temp_dir().join(format!("drystone-drips-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for name in ["HttpServer.dry", "Http.dry"] {
        let text = std::fs::read_to_string(programs().join(name)).expect("it is there");
        std::fs::write(folder.join(name), text.replace("Longest = 60000", "Longest = 1000")).unwrap();
    }
    let server = Server::of(&folder.join("HttpServer.dry"));
    std::fs::remove_dir_all(&folder).unwrap();
    let Some(server) = server else { return };
    let begun = Instant::now();
    let drips: Vec<_> =
        ["GET /items HTTP/1.1\r\nA: ", "PUT /items/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 9999\r\n\r\n"]
            .into_iter()
            .map(|part| {
                let mut drip = server.connect();
                thread::spawn(move || {
                    drip.write_all(part.as_bytes()).expect("it takes bytes");
                    while drip.write_all(b"{").is_ok() && begun.elapsed() < Duration::from_secs(10) {
                        thread::sleep(Duration::from_millis(50));
                    }
                    begun.elapsed()
                })
            })
            .collect();
    // Who asks again and again is none of them.
    let mut client = Client::new(&server);
    while begun.elapsed() < Duration::from_millis(2500) {
        assert_eq!(client.get("/counters").0, 200);
        thread::sleep(Duration::from_millis(20));
    }
    for drip in drips {
        let lasted = drip.join().unwrap();
        assert!(lasted < Duration::from_secs(8), "{lasted:?}");
    }
}

#[test]
fn who_goes_or_never_reads_disturbs_nobody() {
    let Some(server) = Server::start("HttpServer") else { return };
    let mut client = Client::new(&server);
    client.put("/items/1", &format!(r#"{{"name": "{}", "amount": 1}}"#, "x".repeat(1000)));
    let before = server.memory();
    // They ask for 100 MB of answers and read nothing.
    let deaf: Vec<_> = (0..10)
        .map(|_| {
            let mut client = Client::new(&server);
            client.stream.get_ref().set_nonblocking(true).unwrap();
            let requests = "GET /items/1 HTTP/1.1\r\nHost: x\r\n\r\n".repeat(10_000);
            let sent = client.stream.get_mut().write(requests.as_bytes()).expect("room for some");
            assert!(sent > 1000);
            client
        })
        .collect();
    // They go in the middle of a request.
    for part in [
        "",
        "GE",
        "GET /items HTTP/1.1\r\nHo",
        "PUT /items/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{",
    ] {
        Client::new(&server).send(part.as_bytes());
    }
    for _ in 0..100 {
        assert_eq!(client.get("/items/1").0, 200);
    }
    let more = server.memory().saturating_sub(before);
    assert!(more < 8 << 20, "{more} bytes");
    drop(deaf);
    assert_eq!(client.get("/items/1").0, 200);
    assert_eq!(server.complaints(), "");
}

#[test]
fn a_thousand_clients_are_served_at_a_time() {
    const CLIENTS: usize = 1000;
    const REQUESTS: usize = 20;
    let Some(server) = Server::start("HttpServer") else { return };
    let mut first = Client::new(&server);
    first.put("/items/1", NAIL);
    let mut crowd = Crowd::new();
    for _ in 0..CLIENTS {
        crowd.connect(server.address);
    }
    let request = "GET /items/1 HTTP/1.1\r\nHost: x\r\n\r\n";
    (0..CLIENTS).for_each(|client| crowd.send(client, request));
    let (mut statuses, mut due) = (0, vec![REQUESTS; CLIENTS]);
    // The body has no line end: the next status stands behind it.
    while statuses < CLIENTS * REQUESTS {
        let mut again = Vec::new();
        crowd.serve("an answer", |client, event| {
            let Event::Line(line) = event else { panic!("{client} was thrown out") };
            if line.ends_with("HTTP/1.1 200 OK\r") {
                statuses += 1;
                due[client] -= 1;
            } else if line == "\r" && due[client] > 0 {
                again.push(client);
            }
            !again.is_empty() || statuses == CLIENTS * REQUESTS
        });
        again.into_iter().for_each(|client| crowd.send(client, request));
    }
    assert_eq!(
        first.get("/counters").1,
        format!(r#"{{"requests": {}, "changes": 1, "items": 1}}"#, statuses + 2)
    );
    crowd.leave();
    until("seats for others", || {
        let mut clients: Vec<_> = (0..100).map(|_| Client::new(&server)).collect();
        clients.iter_mut().all(|client| client.get("/items/1").0 == 200)
    });
}

/// A client that does one thing after the other.
struct Client {
    stream: BufReader<TcpStream>,
}

impl Client {
    fn new(server: &Server) -> Client {
        Client { stream: BufReader::new(server.connect()) }
    }

    /// What the server does not take any more is lost.
    fn send(&mut self, bytes: &[u8]) {
        let _ = self.stream.get_mut().write_all(bytes);
    }

    fn get(&mut self, path: &str) -> (u16, String) {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes());
        self.answer()
    }

    fn put(&mut self, path: &str, body: &str) -> (u16, String) {
        self.send_body(path, body.as_bytes());
        self.answer()
    }

    fn raw_put(&mut self, body: &[u8]) -> String {
        self.send_body("/items/1", body);
        self.answer().1
    }

    fn send_body(&mut self, path: &str, body: &[u8]) {
        let head = format!("PUT {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", body.len());
        self.send(head.as_bytes());
        self.send(body);
    }

    /// The next answer's status and body.
    fn answer(&mut self) -> (u16, String) {
        let status = self.line();
        let status = status.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
        let mut length = 0;
        loop {
            match self.line().split_once(": ") {
                Some(("Content-Length", value)) => length = value.parse().expect("a number"),
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).expect("a body comes in time");
        (status.expect("a status"), String::from_utf8(body).expect("UTF-8"))
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("a line comes in time");
        assert!(line.ends_with("\r\n"), "{line:?}");
        line.trim_end().to_string()
    }

    fn sees_the_end(&mut self) {
        let mut rest = Vec::new();
        if let Err(error) = self.stream.read_to_end(&mut rest) {
            assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        }
        assert_eq!(String::from_utf8_lossy(&rest), "");
    }
}
