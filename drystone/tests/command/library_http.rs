//! The library's `Http` with real peers: byte by byte, curl, WebSockets by Python, and its client with a server that
//! answers wrongly.

use std::fs;
use std::io::{Read, Write};
use std::time::Duration;

use rustix::process::Signal;
use tempfile::TempDir;

use super::certificates::{authority, certify};
use super::http::{answered, connect, curl, is};
use super::peer::{Peer, installed, signal};
use super::{DRYSTONE, complaint, drystone, folder_of, printed, status};
use drystone_golden::free_port;

const FILES: &[(&str, &str)] = &[
    ("plain.dry", include_str!("http/plain.dry")),
    ("plain_client.dry", include_str!("http/plain_client.dry")),
    ("leaving.dry", include_str!("http/leaving.dry")),
    ("sockets.py", include_str!("http/sockets.py")),
    ("asks.dry", include_str!("http/asks.dry")),
    ("answers.py", include_str!("http/answers.py")),
];

fn folder() -> TempDir {
    folder_of(FILES.iter().copied())
}

/// A server, and its address.
fn serve() -> (TempDir, Peer, String) {
    serve_in(folder())
}

/// The same, whose component that answers is isolated.
fn serve_isolated() -> (TempDir, Peer, String) {
    let isolated = |text: &str| text.replace("COMPONENT App", "COMPONENT {ISOLATED} App");
    serve_in(folder_of(FILES.iter().map(|(name, text)| (*name, isolated(text)))))
}

fn serve_in(folder: TempDir) -> (TempDir, Peer, String) {
    let address = format!("127.0.0.1:{}", free_port());
    let mut server =
        Peer::start(folder.path(), DRYSTONE, &["run", "plain.dry", &format!("http://{address}")]);
    assert_eq!(server.line(), "ready");
    (folder, server, address)
}

/// All that is answered to some bytes, until the server closes the connection.
fn answer(address: &str, request: impl AsRef<[u8]>) -> String {
    String::from_utf8_lossy(&answered(address, request)).into_owned()
}

/// The answer to a request without a body, with more fields.
fn ask(address: &str, line: &str, fields: &str) -> String {
    answer(address, format!("{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{fields}\r\n"))
}

#[test]
fn a_request_comes_as_it_is() {
    let (_folder, _server, address) = serve();
    let fields = "X-Some: a\r\nx-some: b\r\nCookie: b=0; c=1\r\nCookie: d=2\r\n";
    let shown = ask(&address, "GET /show/a%2Fb%20c?q=1+2%26&r", fields);
    let wanted = "\r\n\r\nGET /show/a%2Fb%20c?q=1+2%26&r at http://localhost: a/b c, q=1 2&, x=a, b, c=1";
    is(&shown, 200, &[wanted, "content-type: text/plain; charset=utf-8\r\n"]);
    let head = ask(&address, "HEAD /show/x", "");
    is(&head, 200, &["content-length: "]);
    assert!(head.ends_with("\r\n\r\n"), "{head}");
    is(
        &ask(&address, "BREW /show/x", ""),
        405,
        &["allow: GET, HEAD\r\n", "{\"error\":\"the method has to be GET, HEAD\"}"],
    );
    is(&ask(&address, "OPTIONS /echo", ""), 204, &["allow: POST, OPTIONS\r\n"]);
    is(&ask(&address, "GET /show/", ""), 404, &["{\"error\":\"there is nothing here\"}\n"]);
    is(&ask(&address, "CONNECT localhost:80", ""), 501, &["this is no proxy"]);
    is(&ask(&address, "OPTIONS *", ""), 404, &["there is nothing at *"]);
    is(&ask(&address, "GET http://localhost/show/y", ""), 200, &["GET /show/y? at http://localhost: y"]);
}

#[test]
fn a_response_goes_as_it_is() {
    let (_folder, _server, address) = serve();
    is(&ask(&address, "GET /status/299", ""), 299, &["content-length: 5\r\n", "\r\n\r\nit is"]);
    let nothing = ask(&address, "GET /status/204", "");
    is(&nothing, 204, &[]);
    assert!(nothing.ends_with("\r\n\r\n"), "{nothing}");
    for wrong in ["101", "100", "600", "0", "-1", "9223372036854775807"] {
        let why = format!("can't be sent: {wrong} is no status from 200 to 599");
        is(&ask(&address, &format!("GET /status/{wrong}"), ""), 500, &[&why]);
    }
    is(&ask(&address, "GET /long", ""), 500, &["the answer has 20000000 bytes, and may have 16777216"]);
    let zipped = ask(&address, "GET /zeros", "Accept-Encoding: gzip\r\n");
    is(&zipped, 200, &["content-encoding: gzip\r\n", "vary: Accept-Encoding\r\n"]);
    assert!(zipped.len() < 1000, "{zipped}");
    is(&ask(&address, "GET /zeros", ""), 200, &["content-length: 5000\r\n"]);
}

#[test]
fn nobody_adds_fields_or_requests_of_their_own() {
    let (_folder, _server, address) = serve();
    let split = ask(&address, "GET /fields?q=a%0D%0ASet-Cookie:%20evil=1%00", "");
    is(&split, 200, &["x-back: a  Set-Cookie: evil=1\r\n", "set-cookie: c=1; Path=/\r\n"]);
    let own = ask(&address, "GET /fields?raw=content-length:%207%0Aconnection:%20upgrade%0A", "");
    is(&own, 200, &["content-length: 1\r\n"]);
    is(&ask(&address, "GET /fields?raw=no%20field%0A", ""), 500, &["this is no header field: no field"]);
    let smuggled = |fields: &str| {
        answer(
            &address,
            format!(
                "POST /echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{fields}\r\n0\r\n\r\n\
                 GET / HTTP/1.1\r\n\r\n"
            ),
        )
    };
    for fields in [
        "Content-Length: 3\r\nTransfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: chunked, chunked\r\n",
        "Content-Length: 3\r\nContent-Length: 4\r\n",
        "Content-Length: +3\r\n",
        "Content-Length: 3, 4\r\n",
        "Content-Length : 3\r\n",
        "Transfer-Encoding: xchunked\r\n",
        " folded: 1\r\n",
        "Bad Name: 1\r\n",
        "X: a\0b\r\n",
    ] {
        let answer = smuggled(fields);
        assert!(
            answer.starts_with("HTTP/1.1 400 ") || answer.starts_with("HTTP/1.1 501 "),
            "{fields}: {answer}"
        );
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{fields}: {answer}");
    }
    is(&ask(&address, "GET /", &format!("X: {}\r\n", "x".repeat(70_000))), 431, &["more than 65536 bytes"]);
    is(&ask(&address, "GET /", &"X: 1\r\n".repeat(200)), 431, &["more than 100 fields"]);
}

#[test]
fn requests_may_be_sent_ahead_and_in_pieces() {
    let (_folder, _server, address) = serve();
    let post = |text: &str| {
        format!(
            "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/x\r\nContent-Length: {}\r\n\r\n{text}",
            text.len()
        )
    };
    let last = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let said = answer(&address, post("one") + &post("") + &post("three") + last);
    assert_eq!(said.matches("HTTP/1.1 200 OK\r\ncontent-type: text/x\r\n").count(), 3, "{said}");
    let places = ["\r\n\r\none", "\r\n\r\nthree", "<p>Hello</p>"].map(|part| said.find(part).expect(part));
    assert!(places.is_sorted(), "{said}");

    let mut slow = connect(&address);
    let chunked = "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/x\r\nConnection: close\r\n\
                   Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n";
    for byte in chunked.bytes() {
        slow.write_all(&[byte]).expect("it takes bytes");
    }
    let mut goes_on = [0; 25];
    slow.read_exact(&mut goes_on).expect("it says that it goes on");
    assert_eq!(&goes_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    slow.write_all(b"3;x=1\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: 1\r\n\r\n").expect("it takes bytes");
    let mut said = String::new();
    slow.read_to_string(&mut said).expect("it ends the connection");
    is(&said, 200, &["\r\n\r\nabcde"]);

    let old = answer(&address, "GET / HTTP/1.0\r\n\r\n");
    assert!(old.starts_with("HTTP/1.0 200 OK\r\n") && old.ends_with("<p>Hello</p>"), "{old}");
}

#[test]
fn a_response_comes_in_pieces() {
    let (_folder, _server, address) = serve();
    let pieces = ask(&address, "GET /stream/?n=3", "");
    is(&pieces, 200, &["transfer-encoding: chunked\r\n", "6\r\nbegin\n\r\n2\r\n1\n\r\n", "\r\n0\r\n\r\n"]);
    is(&ask(&address, "GET /stream", ""), 400, &["{\"error\":\"how many?\"}"]);
    let old = answer(&address, "GET /stream?n=2 HTTP/1.0\r\n\r\n");
    assert!(old.ends_with("\r\n\r\nbegin\n1\n2\n"), "{old}");
    // A client that reads slowly, and one that goes away, slow the service down and end it.
    let mut gone = connect(&address);
    gone.write_all(b"GET /stream?n=100000000 HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("it takes bytes");
    let mut some = [0; 100_000];
    gone.read_exact(&mut some).expect("there is more");
    drop(gone);
    is(&ask(&address, "GET /stream?n=1", ""), 200, &[]);
    // Pages of another site may ask, if they are listed.
    let asked = "Origin: https://shop.example\r\nAccess-Control-Request-Method: PUT\r\n";
    is(
        &ask(&address, "OPTIONS /stream", asked),
        204,
        &["access-control-allow-methods: GET, HEAD, POST, PUT"],
    );
    is(&ask(&address, "GET /", "Origin: https://shop.example\r\n"), 403, &["pages of other sites"]);
}

#[test]
fn a_request_s_body_is_taken_in_pieces() {
    let (_folder, _server, address) = serve();
    // More than a request may have otherwise.
    let bytes = 20_000_000;
    let mut stream = connect(&address);
    let head = "PUT /upload/x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
    stream.write_all(format!("{head}Content-Length: {bytes}\r\n\r\n").as_bytes()).expect("it takes bytes");
    stream.write_all(&vec![b'x'; bytes]).expect("it takes bytes");
    let mut said = String::new();
    stream.read_to_string(&mut said).expect("it ends the connection");
    is(&said, 200, &["\r\n\r\n20000000"]);
    is(
        &answer(&address, format!("{head}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n")),
        200,
        &["\r\n\r\n1"],
    );
    is(
        &ask(&address, "POST /upload", "Content-Length: 1000000000\r\nExpect: 100-continue\r\n"),
        405,
        &["PUT it"],
    );
}

/// A site that has a public URL.
const SHOP: &str = r#"
IMPORT Http;
COMPONENT Shop OFFERS Http.Site;
  IMPLEMENTATION Http.Site;
  VARIABLE request: Http.Request;
  BEGIN
    ?Request(request); !Response(Http.Text(request.path + " at " + request.site))
  END Http.Site;
END Shop;
COMPONENT Main REQUIRES Arguments;
VARIABLE shop: Shop; at: TEXT;
BEGIN
  Arguments!GetArguments; Arguments?Argument(at); Arguments?End; NEW(shop);
  EXPORT(Http.Site(shop), at) BY Http(site: "https://Shop.example"); WRITE("ready"); WRITELINE;
  WHILE TRUE DO
    PASSIVATE(60000)
  END
END Main;
"#;

#[test]
fn a_site_is_everybody_s_by_its_name() {
    let folder = folder_of([("shop.dry", SHOP)]);
    let address = format!("0.0.0.0:{}", free_port());
    let mut server = Peer::start(folder.path(), DRYSTONE, &["run", "shop.dry", &format!("http://{address}")]);
    assert_eq!(server.line(), "ready");
    let ask = |host: &str, fields: &str| {
        answer(&address, format!("GET /a HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{fields}\r\n"))
    };
    // A proxy passes on what it was asked for.
    for host in ["shop.example", "SHOP.example", "localhost", "127.0.0.1:80"] {
        is(&ask(host, ""), 200, &["/a at https://shop.example"]);
    }
    is(&ask("shop.example", "Origin: https://shop.example\r\n"), 200, &["at https://shop.example"]);
    is(&ask("shop.example", "Origin: https://evil.example\r\n"), 403, &["pages of other sites"]);
    is(&ask("evil.example", ""), 421, &["this is served as shop.example"]);
}

#[test]
fn a_token_and_the_host_are_asked_for() {
    let (_folder, _server, address) = serve();
    is(&ask(&address, "GET /secret/", ""), 401, &["a token is needed"]);
    is(&ask(&address, "GET /secret/", "Authorization: Bearer secret\r\n"), 200, &["<p>Hello</p>"]);
    let elsewhere = "GET / HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n";
    is(&answer(&address, elsewhere), 421, &["localhost"]);
}

#[test]
fn a_service_that_ends_is_an_answer() {
    let (_folder, mut server, address) = serve_isolated();
    is(&ask(&address, "GET /end", ""), 503, &["Site has ended without an answer"]);
    assert!(server.runs());
}

#[test]
fn a_stream_that_is_cut_off_has_no_end() {
    let (_folder, _server, address) = serve_isolated();
    let cut = ask(&address, "GET /stream?n=13", "");
    is(&cut, 200, &["\r\nbegin\n"]);
    assert!(!cut.ends_with("\r\n0\r\n\r\n"), "{cut}");
}

#[test]
fn curl_gets_pages_by_both_versions() {
    let (_folder, _server, address) = serve();
    if !installed("curl") {
        return;
    }
    let url = format!("http://{address}");
    for version in ["--http1.1", "--http2-prior-knowledge"] {
        assert_eq!(curl(&[version, &url]), "<p>Hello</p> 200");
        let echoed = curl(&[version, "-d", "a=1", &format!("{url}/echo")]);
        assert_eq!(echoed, "a=1 200");
        let shown = curl(&[version, "-b", "c=1", &format!("{url}/show/x?q=2")]);
        assert_eq!(shown, format!("GET /show/x?q=2 at {url}: x, q=2, x=, c=1 200"));
        assert_eq!(curl(&[version, &format!("{url}/stream?n=2")]), "begin\n1\n2\n 200");
        let upload = ["-X", "PUT", "--data-binary", "@plain.dry", &format!("{url}/upload")];
        let length = FILES[0].1.len();
        let mut sent = std::process::Command::new("curl");
        let sent = sent.arg("-sS").arg(version).args(upload).current_dir(_folder.path()).output();
        assert_eq!(printed(&sent.expect("it is installed")), length.to_string());
    }
}

#[test]
fn websockets_have_two_halves() {
    let (folder, _server, address) = serve();
    if !installed("python3") {
        return;
    }
    let mut talk = Peer::start(folder.path(), "python3", &["sockets.py", &format!("ws://{address}/chat")]);
    for line in [
        "b'\\x00\\xff' b'\\x00\\xff'",
        "/room hé | /room hé",
        "/ bytes 3 | / bytes 3",
        "1000",
        "/room bye",
        "1009",
        "4",
        "400",
    ] {
        assert_eq!(talk.line(), line);
    }
}

#[test]
fn a_client_lives_with_every_server() {
    let folder = folder();
    if !installed("python3") {
        return;
    }
    let mut server = Peer::start(folder.path(), "python3", &["answers.py"]);
    let port = server.line();
    let client = |at: &str| drystone(folder.path(), &["run", "plain_client.dry", at]);
    let asked = client(&format!("http://127.0.0.1:{port}"));
    assert_eq!(status(&asked), 0, "{}", complaint(&asked));
    assert_eq!(
        printed(&asked),
        "GET /a.txt: 200 text/plain a file
GET /nothing: 404 text/plain /nothing?x=1
POST /echo: 201 text/plain POST text/plain said
GET /head: 200 text/plain thing 127.0.0.1
GET /no blank: lost
GE T /: lost
GET x: lost
GET /broken: lost
GET /close: lost
GET /nonsense: lost
GET /heads: lost
GET /big: lost
GET /a.txt: 200 text/plain a file
stream /a.txt: 200 6 whole
stream /broken: 200 3
stream /many: 200 100000 whole
stream /nothing: 404 8 whole
"
    );
    // A path of the name's own, and nobody there.
    let below = client(&format!("http://127.0.0.1:{port}/echo/.."));
    assert!(
        printed(&below).starts_with("GET /a.txt: 404 text/plain /echo/../a.txt\n"),
        "{}",
        printed(&below)
    );
    let nobody = client(&format!("http://127.0.0.1:{}", free_port()));
    assert!(printed(&nobody).starts_with("GET /a.txt: lost\n"), "{}", printed(&nobody));
    let far = client("http://example.org");
    assert!(complaint(&far).contains("with it the name begins with https:"), "{}", complaint(&far));
}

#[test]
fn a_program_that_is_told_to_end_answers_what_it_has() {
    let folder = folder();
    let address = format!("127.0.0.1:{}", free_port());
    let program = ["run", "leaving.dry", &format!("http://{address}")];
    let mut server = Peer::start(folder.path(), DRYSTONE, &program);
    assert_eq!(server.line(), "ready");
    let mut stream = connect(&address);
    stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("it takes bytes");
    std::thread::sleep(Duration::from_millis(200));
    signal(server.id(), Signal::TERM);
    let mut said = String::new();
    stream.read_to_string(&mut said).expect("it ends the connection");
    is(&said, 200, &["\r\n\r\nlate"]);
    assert_eq!(server.line(), "", "it has ended");
}

#[test]
fn a_site_and_its_client_meet_by_tls() {
    let folder = folder();
    certify(folder.path(), "server", &authority());
    certify(folder.path(), "stranger", &authority());
    let change = |file: &str, from: &str, to: &str| {
        let text = FILES.iter().find(|(name, _)| *name == file).expect("it is one").1;
        assert!(text.contains(from));
        fs::write(folder.path().join(file), text.replace(from, to)).expect("it can be written");
    };
    change(
        "leaving.dry",
        "(app), at);",
        "(app), at) BY Http(certificate: \"server.pem\", key: \"server.key\");",
    );
    let url = format!("https://127.0.0.1:{}", free_port());
    let mut server = Peer::start(folder.path(), DRYSTONE, &["run", "leaving.dry", &url]);
    assert_eq!(server.line(), "ready");
    let asks = |options: &str| {
        change("asks.dry", "limit: 1000", options);
        let asked = drystone(folder.path(), &["run", "asks.dry", &url]);
        assert_eq!(status(&asked), 0, "{}", complaint(&asked));
        printed(&asked)
    };
    assert_eq!(asks("authority: \"server-ca.pem\""), "late");
    assert_eq!(asks("authority: \"stranger-ca.pem\""), "lost");
    assert_eq!(asks("limit: 1000"), "lost");
    assert_eq!(asks("authority: \"server-ca.pem\", deadline: 200"), "lost");
    if installed("curl") {
        let authority = folder.path().join("server-ca.pem").display().to_string();
        for version in ["--http1.1", "--http2"] {
            assert_eq!(curl(&[version, "--cacert", &authority, &url]), "late 200");
        }
    }
}
