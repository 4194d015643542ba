//! HTTP as browsers and other clients need it, byte by byte, and beside curl.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::http::{ANSWERS, answered, connect, curl, is};
use super::peer::{Peer, installed};
use super::{DRYSTONE, complaint, drystone, http, printed, status};
use drystone_golden::free_port;

/// A folder with the server's files.
fn folder() -> tempfile::TempDir {
    let folder = http::folder();
    let www = folder.path().join("www");
    fs::create_dir_all(www.join("code")).expect("a temporary folder can be written");
    for (name, text) in [
        ("index.html", "<p>Hello</p>"),
        ("code/main.js", "export {};"),
        ("a b.txt", "with a blank"),
        (".secret", "secret"),
        ("long.txt", &"long ".repeat(1000)),
    ] {
        fs::write(www.join(name), text).expect("a temporary folder can be written");
    }
    folder
}

/// A server, and its address.
fn serve() -> (tempfile::TempDir, Peer, String) {
    let folder = folder();
    let address = format!("127.0.0.1:{}", free_port());
    let mut server = Peer::start(folder.path(), DRYSTONE, &["run", "web.dry", &format!("http://{address}")]);
    assert_eq!(server.line(), "ready");
    (folder, server, address)
}

/// The answer to some bytes, after which the server must close the connection.
fn answer(address: &str, request: impl AsRef<[u8]>) -> String {
    String::from_utf8(answered(address, request)).expect("it is text")
}

/// A request that is complete but for its first line and some fields.
fn post(address: &str, path: &str, fields: &str) -> String {
    let body = "{\"x\":\"you\"}";
    let length = body.len();
    answer(
        address,
        format!(
            "POST {path} HTTP/1.1\r\n{fields}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        ),
    )
}

#[test]
fn a_request_has_one_host() {
    let (_folder, _server, address) = serve();
    let path = "/greet/Name";
    is(&post(&address, path, ""), 400, &["{\"error\":\"Host is missing\"}"]);
    is(&post(&address, path, "Host: localhost\r\nhost: localhost\r\n"), 400, &["Host is there twice"]);
    is(&post(&address, path, "Host: local host\r\n"), 400, &["Host is no name of a host"]);
    is(&post(&address, path, "Host: user@localhost\r\n"), 400, &["Host is no name of a host"]);
    is(&post(&address, path, "Host: localhost\r\n"), 200, &["Hello, you"]);
    let old = "POST /greet/Name HTTP/1.0\r\nContent-Length: 11\r\n";
    is(&answer(&address, format!("{old}\r\n{{\"x\":\"you\"}}")).replacen("/1.0", "/1.1", 1), 200, &["Hello"]);
    let two = format!("{old}Host: localhost\r\nHost: localhost\r\n\r\n{{\"x\":\"you\"}}");
    is(&answer(&address, two).replacen("/1.0", "/1.1", 1), 400, &["twice"]);
}

#[test]
fn a_token_is_asked_for_as_the_standard_has_it() {
    let (_folder, _server, address) = serve();
    let ask = |fields: &str| post(&address, "/secret/Name", &format!("Host: localhost\r\n{fields}"));
    is(&ask(""), 401, &["www-authenticate: Bearer realm=\"drystone\"\r\n", "a token is needed"]);
    is(&ask("Authorization: Basic c2VjcmV0\r\n"), 401, &["www-authenticate: Bearer realm="]);
    is(&ask("Authorization: Bearer other\r\n"), 401, &["error=\"invalid_token\"", "a token is needed"]);
    is(&ask("Authorization: Bearer secret\r\nAuthorization: Bearer secret\r\n"), 401, &[]);
    for scheme in ["Bearer", "bearer", "BEARER"] {
        is(&ask(&format!("Authorization: {scheme} secret\r\n")), 200, &["Hello, you"]);
    }
    is(&ask("Authorization: bearer   secret\r\n"), 200, &["Hello, you"]);
}

#[test]
fn bodies_that_are_packed_are_not_taken_for_others() {
    let (_folder, _server, address) = serve();
    let ask = |fields: &str| {
        let head = "POST /greet/Name HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
        answer(&address, format!("{head}{fields}\r\nb\r\n{{\"x\":\"you\"}}\r\n0\r\n\r\n"))
    };
    is(&ask("Transfer-Encoding: chunked\r\n"), 200, &["Hello, you"]);
    is(&ask("Transfer-Encoding: Chunked\r\n"), 200, &["Hello, you"]);
    for encoding in ["gzip, chunked", "identity, chunked", "chunked, chunked"] {
        is(
            &ask(&format!("Transfer-Encoding: {encoding}\r\n")),
            501,
            &["Transfer-Encoding has to be chunked"],
        );
    }
    is(&ask("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n"), 501, &[]);
    let packed = post(&address, "/greet/Name", "Host: localhost\r\nContent-Encoding: gzip\r\n");
    is(&packed, 415, &["accept-encoding: identity\r\n", "may have no Content-Encoding"]);
    is(&post(&address, "/greet/Name", "Host: localhost\r\nContent-Encoding: identity\r\n"), 200, &["Hello"]);
}

#[test]
fn what_is_no_request_gets_its_reason_as_json() {
    let (_folder, _server, address) = serve();
    let json = "content-type: application/json\r\n";
    let bad = [json, "{\"error\":\"this is no request of HTTP/1.1\"}\n"];
    is(&answer(&address, "nonsense\r\n\r\n"), 400, &bad);
    is(&answer(&address, "GET / HTTP/1.1\r\nHost: localhost\r\nbad name: x\r\n\r\n"), 400, &bad);
    let first = "GET /greet/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let second = answer(&address, format!("{first}\0\r\n\r\n"));
    is(&second, 200, &["HTTP/1.1 400 ", bad[1]]);
    let large = "a: b\r\n".repeat(101);
    let large = answer(&address, format!("GET / HTTP/1.1\r\nHost: localhost\r\n{large}\r\n"));
    is(&large, 431, &[json, "{\"error\":\"the request's head has more than"]);
    let long = answer(&address, format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(66_000)));
    assert!(long.starts_with("HTTP/1.1 414 ") || long.starts_with("HTTP/1.1 431 "), "{long}");
    assert!(long.contains("{\"error\":"), "{long}");
}

#[test]
fn a_number_is_whole_that_has_no_fraction() {
    if !installed("curl") {
        return;
    }
    let (_folder, _server, address) = serve();
    for (written, number) in
        [("-0", 0), ("1.0", 1), ("1e3", 1000), ("9007199254740993", 9007199254740993_i64)]
    {
        let said = curl(&["-d", &format!("{{\"n\":{written}}}"), &format!("http://{address}/count/Add")]);
        assert!(said.starts_with(&format!("{{\"Sum\":{{\"n\":{number},")), "{written}: {said}");
    }
    for written in ["1.5", "1e300", "9007199254740993.0"] {
        let said = curl(&["-d", &format!("{{\"n\":{written}}}"), &format!("http://{address}/count/Add")]);
        assert!(said.ends_with(" 400"), "{written}: {said}");
    }
}

#[test]
fn answers_keep_the_limit_too() {
    if !installed("curl") {
        return;
    }
    let (_folder, _server, address) = serve();
    let ask = |length: usize| {
        let body = format!("{{\"x\":\"{}\"}}", "x".repeat(length));
        curl(&["-d", &body, &format!("http://{address}/small/Name")])
    };
    assert!(ask(50).ends_with(" 200"));
    let said = ask(90);
    assert!(
        said.contains("\"error\":\"the answer has 118 bytes, and may have 100\"") && said.ends_with(" 500"),
        "{said}"
    );
    assert!(ask(120).ends_with(" 413"));
}

#[test]
fn pages_of_listed_sites_may_ask() {
    let (_folder, _server, address) = serve();
    let ask = |path: &str, fields: &str| post(&address, path, &format!("Host: localhost\r\n{fields}"));
    let shop = "Origin: https://shop.example\r\n";
    let allowed = "access-control-allow-origin: https://shop.example\r\n";
    is(&ask("/shop/Name", shop), 200, &[allowed, "vary: Origin\r\n", "Hello, you"]);
    is(&ask("/shop/Name", "Origin: http://localhost:3000\r\n"), 200, &["origin: http://localhost:3000\r\n"]);
    is(&ask("/any/Name", "Origin: https://else.example\r\n"), 200, &["origin: https://else.example\r\n"]);
    is(&ask("/any/Name", "Origin: null\r\n"), 200, &["origin: null\r\n"]);
    // Errors are shown to the page, too.
    is(&ask("/shop/Shout", shop), 404, &[allowed]);
    is(&ask("/secret/Name", shop), 401, &[allowed, "expose-headers: Retry-After, WWW-Authenticate\r\n"]);
    let strange = ["https://shop.example.evil", "http://shop.example", "https://shop.example:444", "null"];
    for origin in strange {
        let said = ask("/shop/Name", &format!("Origin: {origin}\r\n"));
        is(&said, 403, &["pages of other sites"]);
        assert!(!said.contains("access-control"), "{said}");
    }
    is(&ask("/greet/Name", shop), 403, &[]);
}

#[test]
fn a_browser_asks_before_a_page_does() {
    let (_folder, _server, address) = serve();
    let ask = |path: &str, origin: &str| {
        let head = format!(
            "OPTIONS {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nOrigin: {origin}\r\n"
        );
        let asks = "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type\r\n";
        answer(&address, format!("{head}{asks}\r\n"))
    };
    let headers = "access-control-allow-headers: Authorization, Content-Type\r\n";
    let methods = "access-control-allow-methods: GET, POST\r\n";
    let shop = "https://shop.example";
    // Without the token.
    for path in ["/shop/Name", "/secret/Name"] {
        is(&ask(path, shop), 204, &["access-control-allow-origin: https://shop.example", headers, methods]);
    }
    is(&ask("/shop/Name", "https://evil.example"), 403, &[]);
    is(&ask("/greet/Name", shop), 403, &[]);
}

#[test]
fn an_origin_is_written_as_browsers_do() {
    let folder = folder();
    for wrong in ["shop.example", "https://shop.example/", "ftp://shop.example", "https://"] {
        let program =
            include_str!("http/web.dry").replace("https://shop.example, http://localhost:3000", wrong);
        fs::write(folder.path().join("wrong.dry"), program).expect("a temporary folder can be written");
        let output =
            drystone(folder.path(), &["run", "wrong.dry", &format!("http://127.0.0.1:{}", free_port())]);
        assert_eq!(status(&output), 1);
        assert!(complaint(&output).contains(&format!("origins: {wrong} is none")), "{}", complaint(&output));
    }
}

/// The beginning of a WebSocket, with some fields.
fn handshake(path: &str, fields: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n")
}

const GOOD: &str = "Connection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\n\
                    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

#[test]
fn a_bad_handshake_is_told_so() {
    let (_folder, _server, address) = serve();
    let ask = |fields: &str| answer(&address, handshake("/talk", fields).replace("keep-alive, ", "close, "));
    let without = |field: &str| {
        let fields: String =
            GOOD.lines().filter(|line| !line.starts_with(field)).map(|line| format!("{line}\r\n")).collect();
        ask(&fields)
    };
    let version = ["upgrade: websocket\r\n", "sec-websocket-version: 13\r\n", "{\"error\":"];
    is(&without("Sec-WebSocket-Version"), 426, &version);
    is(&ask(&GOOD.replace(": 13", ": 8")), 426, &version);
    is(&without("Sec-WebSocket-Key"), 400, &["Sec-WebSocket-Key has to be 16 bytes in base64"]);
    is(&ask(&GOOD.replace("dGhl", "")), 400, &["Sec-WebSocket-Key"]);
    let fields = GOOD.replace("keep-alive, Upgrade", "close");
    is(&answer(&address, handshake("/talk", &fields)), 400, &["Connection: Upgrade"]);
    let post = handshake("/talk", GOOD).replace("GET", "POST").replace("keep-alive, ", "close, ");
    is(&answer(&address, post), 405, &["allow: GET\r\n"]);
    let fields = format!("{GOOD}Origin: https://evil.example\r\n").replace("keep-alive, ", "close, ");
    is(&answer(&address, handshake("/talk", &fields)), 403, &["{\"error\":"]);
    is(
        &answer(&address, handshake("/nothing", GOOD).replace("keep-alive, ", "close, ")),
        404,
        &["{\"error\":"],
    );
}

/// A conversation that has begun.
fn talk(address: &str, path: &str, fields: &str) -> TcpStream {
    let mut stream = connect(address);
    stream.write_all(handshake(path, &format!("{GOOD}{fields}")).as_bytes()).expect("it takes bytes");
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("it answers");
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).expect("it is text");
    is(&head, 101, &["sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"]);
    stream
}

/// A masked frame, by a key that changes nothing.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    match payload.len() {
        length @ 0..126 => frame.push(0x80 | length as u8),
        length @ 126..65536 => {
            frame.push(0x80 | 126);
            frame.extend((length as u16).to_be_bytes());
        }
        length => {
            frame.push(0x80 | 127);
            frame.extend((length as u64).to_be_bytes());
        }
    }
    frame.extend([0; 4]);
    frame.extend(payload);
    frame
}

/// The next frame: its first byte and its payload.
fn next(stream: &mut TcpStream) -> (u8, Vec<u8>) {
    let mut head = [0; 2];
    stream.read_exact(&mut head).expect("a frame comes");
    let length = match head[1] {
        126 => {
            let mut length = [0; 2];
            stream.read_exact(&mut length).expect("a length comes");
            u16::from_be_bytes(length) as usize
        }
        127 => {
            let mut length = [0; 8];
            stream.read_exact(&mut length).expect("a length comes");
            u64::from_be_bytes(length) as usize
        }
        length => length.into(),
    };
    let mut payload = vec![0; length];
    stream.read_exact(&mut payload).expect("a payload comes");
    (head[0], payload)
}

/// The status code of the WebSocket's end.
fn closed(stream: &mut TcpStream) -> u16 {
    loop {
        let (first, payload) = next(stream);
        if first == 0x88 {
            return u16::from_be_bytes([payload[0], payload[1]]);
        }
    }
}

#[test]
fn pages_of_listed_sites_may_talk() {
    let (_folder, _server, address) = serve();
    let mut stream = talk(&address, "/talk", "Origin: https://shop.example\r\n");
    stream.write_all(&frame(0x81, b"{\"Join\":{\"name\":\"me\"}}")).expect("it takes bytes");
    assert_eq!(next(&mut stream), (0x81, b"{\"Welcome\":{\"x\":\"me\"}}".to_vec()));
}

#[test]
fn a_conversation_is_closed_with_the_code_for_its_reason() {
    let (_folder, _server, address) = serve();
    let close = |frames: &[Vec<u8>]| {
        let mut stream = talk(&address, "/brief", "");
        stream.write_all(&frames.concat()).expect("it takes bytes");
        closed(&mut stream)
    };
    assert_eq!(close(&[frame(0x81, b"{\"Join\":{\"name\":\"\xff\"}}")]), 1007);
    assert_eq!(close(&[frame(0x81, b"nonsense")]), 1007);
    assert_eq!(close(&[frame(0x82, b"{\"Join\":{\"name\":\"me\"}}")]), 1003);
    assert_eq!(close(&[frame(0x81, &[b'x'; 1001])]), 1009);
    assert_eq!(close(&[frame(0x01, &[b'x'; 900]), frame(0x80, &[b'x'; 900])]), 1009);
    assert_eq!(close(&[frame(0xf1, b"{}")]), 1002);
    // A client that sends too much learns that even if it reads only at the end.
    assert_eq!(close(&[frame(0x81, &vec![b'x'; 20 << 20])]), 1009);
    // Our answer is too long.
    let mut stream = talk(&address, "/brief", "");
    stream.write_all(&frame(0x81, b"{\"Join\":{\"name\":\"0123456789\"}}")).expect("it takes bytes");
    assert_eq!(next(&mut stream).0, 0x81);
    let said = format!("{{\"Say\":{{\"x\":\"{}\"}}}}", "x".repeat(980));
    stream.write_all(&frame(0x81, said.as_bytes())).expect("it takes bytes");
    assert_eq!(closed(&mut stream), 1009);
}

/// Bytes of memory per idle conversation.
fn held(count: usize, fill: impl Fn(&mut TcpStream)) -> u64 {
    let (_folder, server, address) = serve();
    drop(talk(&address, "/talk", ""));
    let before = server.memory();
    let mut streams: Vec<TcpStream> = (0..count).map(|_| talk(&address, "/talk", "")).collect();
    streams.iter_mut().for_each(fill);
    std::thread::sleep(Duration::from_millis(200));
    server.memory().saturating_sub(before) * 1024 / count as u64
}

#[test]
fn an_idle_conversation_holds_little() {
    let each = held(300, |_| {});
    assert!(each < 32 * 1024, "{each} bytes");
    let each = held(40, |stream| {
        let long = "x".repeat(2 << 20);
        stream.write_all(&frame(0x81, b"{\"Join\":{\"name\":\"me\"}}")).expect("it takes bytes");
        stream
            .write_all(&frame(0x81, format!("{{\"Say\":{{\"x\":\"{long}\"}}}}").as_bytes()))
            .expect("it takes bytes");
        (0..3).for_each(|_| drop(next(stream)));
    });
    assert!(each < 300 * 1024, "{each} bytes");
}

/// A GET, with some fields.
fn get(address: &str, path: &str, fields: &str) -> String {
    answer(address, format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{fields}\r\n"))
}

#[test]
fn what_reads_may_be_asked_by_get() {
    let (_folder, _server, address) = serve();
    is(&get(&address, "/reads/Name?x=you+%26+me", ""), 200, &["{\"Greeting\":{\"x\":\"Hello, you & me\"}}"]);
    is(&get(&address, "/reads/Name?x=%ff", ""), 200, &["{\"base64\":\"SGVsbG8sIP8=\"}"]);
    is(&get(&address, "/reads/Name", ""), 400, &["{\"error\":\"x is missing\"}"]);
    is(&get(&address, "/greet/Name?x=you", ""), 405, &["allow: POST\r\n"]);
    is(&get(&address, "/statuses/Add?n=-7", ""), 200, &["\"Sum\":{\"n\":-7,"]);
    is(&get(&address, "/statuses/Divide?a=1&b=1", ""), 405, &["allow: POST\r\n"]);
    let head =
        answer(&address, "HEAD /reads/Name?x=you HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    is(&head, 200, &["content-length: 31\r\n"]);
    assert!(head.ends_with("\r\n\r\n"), "{head}");
    // By GET, a page of another site is refused as by POST.
    is(&get(&address, "/reads/Name?x=you", "Origin: https://shop.example\r\n"), 403, &[]);
    is(
        &get(&address, "/reads/openapi.json", ""),
        200,
        &["\"get\"", "\"in\": \"query\"", "\"operationId\": \"getName\""],
    );
}

#[test]
fn an_answer_has_the_status_that_the_service_says() {
    let (folder, _server, address) = serve();
    let ask = |b: i64| {
        let body = format!("{{\"a\":7,\"b\":{b}}}");
        let head = "POST /statuses/Divide HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
        answer(&address, format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()))
    };
    is(&ask(0), 429, &["{\"Failed\":{\"reason\":\"by zero\"}}", "retry-after: 1\r\n"]);
    is(&ask(7), 200, &["{\"Quotient\":{\"n\":1}}"]);
    let described = get(&address, "/statuses/openapi.json", "");
    is(&described, 200, &["\"429\": {", "\"200\": {"]);
    // Our own client understands that answer.
    let program = include_str!("http/client.dry").replace("\"/count\"", "\"/statuses\"");
    fs::write(folder.path().join("other.dry"), program).expect("a temporary folder can be written");
    let output = drystone(folder.path(), &["run", "other.dry", &format!("http://{address}")]);
    assert_eq!((printed(&output).as_str(), status(&output)), (ANSWERS, 0), "{}", complaint(&output));
}

#[test]
fn statuses_are_of_answers() {
    let folder = folder();
    for (wrong, why) in [
        ("Failed", "Failed is no answer with a status"),
        ("Failed 204", "Failed 204 is no answer with a status"),
        ("Failed 99", "Failed 99 is no answer"),
        ("Divide 429", "Count has no message Divide"),
    ] {
        let program = include_str!("http/web.dry").replace("Failed 429", wrong);
        fs::write(folder.path().join("wrong.dry"), program).expect("a temporary folder can be written");
        let output =
            drystone(folder.path(), &["run", "wrong.dry", &format!("http://127.0.0.1:{}", free_port())]);
        assert_eq!(status(&output), 1);
        assert!(complaint(&output).contains(why), "{}", complaint(&output));
    }
}

#[test]
fn files_are_served_beside() {
    let (_folder, _server, address) = serve();
    let page = get(&address, "/app/", "");
    is(&page, 200, &["content-type: text/html; charset=utf-8\r\n", "nosniff\r\n", "<p>Hello</p>"]);
    is(&get(&address, "/app/index.html", ""), 200, &["<p>Hello</p>"]);
    is(&get(&address, "/app", ""), 308, &["location: /app/\r\n"]);
    is(&get(&address, "/app/code/main.js", ""), 200, &["content-type: text/javascript; charset=utf-8\r\n"]);
    is(&get(&address, "/app/a%20b.txt", ""), 200, &["with a blank"]);
    // The interface is there, too.
    is(&post(&address, "/app/Name", "Host: localhost\r\n"), 200, &["Hello, you"]);
    is(&post(&address, "/app/index.html", "Host: localhost\r\n"), 404, &[]);
    for nothing in [
        "/app/../web.dry",
        "/app/%2e%2e/web.dry",
        "/app/.secret",
        "/app/code",
        "/app/away.txt",
        "/app//etc/passwd",
    ] {
        is(&get(&address, nothing, ""), 404, &["{\"error\":"]);
    }
    let tag = page.lines().find_map(|line| line.strip_prefix("etag: ")).expect("it has one");
    let again = get(&address, "/app/", &format!("If-None-Match: \"x\", {tag}\r\n"));
    is(&again, 304, &[]);
    assert!(again.ends_with("\r\n\r\n"), "{again}");
    is(&get(&address, "/app/", "Origin: https://evil.example\r\n"), 403, &[]);
    is(&answer(&address, "GET /app/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"), 421, &[]);
}

#[test]
fn gzip_is_offered() {
    if !installed("curl") {
        return;
    }
    let (_folder, _server, address) = serve();
    let long = "x".repeat(100_000);
    let body = format!("{{\"x\":\"{long}\"}}");
    let wanted = format!("{{\"Greeting\":{{\"x\":\"Hello, {long}\"}}}} 200");
    let url = format!("http://{address}/greet/Name");
    let (folder, size) = (tempfile::tempdir().expect("there are temporary folders"), " %{size_download}");
    let file = folder.path().join("body");
    fs::write(&file, &body).expect("a temporary folder can be written");
    let data = format!("@{}", file.display());
    assert_eq!(curl(&["--compressed", "--data-binary", &data, &url]), wanted);
    let sized = |more: &[&str]| {
        let said =
            curl(&[&["-o", "/dev/null", "-w", size, "--data-binary", &data][..], more, &[&url]].concat());
        said.trim().parse::<usize>().expect("a number")
    };
    assert!(sized(&["--compressed"]) < 2000);
    assert!(sized(&["-H", "Accept-Encoding: gzip;q=0, br"]) > 100_000);
    assert!(sized(&[]) > 100_000);
    let zipped = format!("http://{address}/app/long.txt");
    assert_eq!(curl(&["--compressed", &zipped]), format!("{} 200", "long ".repeat(1000)));
}

/// The memory of what clients send and don't take is bounded for all together, and a modest client is served beside
/// them.
#[test]
fn clients_that_hoard_are_refused_more() {
    let (_folder, server, address) = serve();
    let before = server.memory();
    // Each has sent nearly all of 15 MB.
    let length = 15_000_000;
    let head = format!("POST /greet/Name HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n");
    let part = vec![b' '; length - 1];
    let mut hoarders = Vec::new();
    for number in 0..40 {
        let mut hoarder = if number % 2 == 0 { connect(&address) } else { talk(&address, "/talk", "") };
        let sent = if number % 2 == 0 {
            hoarder.write_all(head.as_bytes()).and_then(|()| hoarder.write_all(&part))
        } else {
            hoarder.write_all(&frame(0x01, &part))
        };
        // It may have been refused.
        let _ = sent;
        hoarders.push(hoarder);
    }
    std::thread::sleep(Duration::from_millis(300));
    let more = server.memory().saturating_sub(before);
    assert!(more < 450 << 10, "{more} kB");
    is(&post(&address, "/greet/Name", "Host: localhost\r\n"), 200, &["Hello, you"]);
    let mut stream = talk(&address, "/talk", "");
    stream.write_all(&frame(0x81, b"{\"Join\":{\"name\":\"me\"}}")).expect("it takes bytes");
    assert_eq!(next(&mut stream).0, 0x81);
    drop(hoarders);
    // Then there is room again.
    std::thread::sleep(Duration::from_millis(300));
    let long = format!("{{\"x\":\"{}\"}}", "x".repeat(10_000_000));
    let asked = format!(
        "POST /greet/Name HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{long}",
        long.len()
    );
    is(&answer(&address, asked), 200, &[]);
}

/// The clients request long answers and take none.
#[test]
fn clients_that_never_take_are_refused_more() {
    let (_folder, server, address) = serve();
    let before = server.memory();
    let long = format!("{{\"x\":\"{}\"}}", "x".repeat(10_000_000));
    let asked = format!(
        "POST /greet/Name HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{long}",
        long.len()
    );
    let mut deaf = Vec::new();
    for _ in 0..60 {
        let mut one = connect(&address);
        one.write_all(asked.as_bytes()).expect("it takes bytes");
        deaf.push(one);
    }
    std::thread::sleep(Duration::from_millis(500));
    let more = server.memory().saturating_sub(before);
    assert!(more < 500 << 10, "{more} kB");
    is(&post(&address, "/greet/Name", "Host: localhost\r\n"), 200, &["Hello, you"]);
}
