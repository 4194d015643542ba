//! The answers to clients, and at limits.

use std::sync::Mutex;

use drystone_cache::Cache;
use drystone_cache::session::Session;

use crate::beside::Out;

fn said(cache: &Mutex<Cache>, text: &str) -> String {
    let (mut session, mut out) = (Session::default(), Out::default());
    session.hear(cache, text.as_bytes(), &mut out);
    String::from_utf8(out.0).expect("it is text here")
}

#[test]
fn a_session_is_as_memcached_has_it() {
    let cache = Mutex::new(Cache::new(1 << 20, None));
    let all = [
        ("set a 7 0 3\r\nabc\r\nget a\r\n", "STORED\r\nVALUE a 7 3\r\nabc\r\nEND\r\n"),
        ("gets a b\r\n", "VALUE a 7 3 1\r\nabc\r\nEND\r\n"),
        ("cas a 7 0 1 1\r\nd\r\ncas a 7 0 1 1\r\ne\r\n", "STORED\r\nEXISTS\r\n"),
        ("append a 0 0 2\r\nef\r\nget a\r\n", "STORED\r\nVALUE a 7 3\r\ndef\r\nEND\r\n"),
        ("set n 0 0 2\r\n10\r\ndecr n 1\r\nincr n 18446744073709551615\r\n", "STORED\r\n9\r\n8\r\n"),
        ("get n\r\n", "VALUE n 0 2\r\n8 \r\nEND\r\n"),
        (
            "set a 0 0 3\r\nabcd\r\nget n\r\n",
            "CLIENT_ERROR bad data chunk\r\nERROR\r\nVALUE n 0 2\r\n8 \r\nEND\r\n",
        ),
        ("delete a noreply\r\nget a\r\ndelete a\r\n", "END\r\nNOT_FOUND\r\n"),
        ("flush_all\r\nget n\r\n", "OK\r\nEND\r\n"),
        ("set z 0 -1 1\r\nz\r\nget z\r\n", "STORED\r\nEND\r\n"),
        ("quit\r\nget n\r\n", ""),
    ];
    for (text, wanted) in all {
        assert_eq!(said(&cache, text), wanted, "{text}");
    }
}

#[test]
fn limits_are_told_and_what_is_too_long_is_passed_over() {
    let cache = Mutex::new(Cache::new(1 << 30, None));
    let key = "k".repeat(251);
    assert_eq!(said(&cache, &format!("get {key}\r\n")), "CLIENT_ERROR bad command line format\r\n");
    let long = "v".repeat((1 << 20) + 1);
    let text = format!("set a 0 0 {}\r\n{long}\r\nversion\r\n", long.len());
    let told = said(&cache, &text);
    assert!(told.starts_with("SERVER_ERROR object too large for cache\r\nVERSION "), "{told}");
    let mut out = Out::default();
    assert!(!Session::default().hear(&cache, "x".repeat(2049).as_bytes(), &mut out));
    assert!(!Session::default().hear(&cache, format!("get {}", "x ".repeat(1 << 16)).as_bytes(), &mut out));
}

#[test]
fn who_speaks_something_else_is_let_go() {
    let cache = Mutex::new(Cache::new(1 << 20, None));
    for text in [
        &b"POST / HTTP/1.1\r\nContent-Type: text/plain\r\n\r\nset pwned 0 0 3\r\nyes\r\n"[..],
        b"GET /?a HTTP/1.0\r\n\r\nset pwned 0 0 3\r\nyes\r\n",
        b"\x80\x01\0\x05\x08\0\0\0\0\0\0\x12\0\0\0\0\0\0\0\0\0\0\0\0\r\nset pwned 0 0 3\r\nyes\r\n",
    ] {
        let mut out = Out::default();
        assert!(!Session::default().hear(&cache, text, &mut out));
        assert_eq!(out.0, b"", "{}", text.escape_ascii());
        assert_eq!(said(&cache, "get pwned\r\n"), "END\r\n");
    }
    // Earlier requests are answered.
    let mut out = Out::default();
    assert!(!Session::default().hear(&cache, b"get none\r\nquit\r\nset pwned 0 0 1\r\nx\r\n", &mut out));
    assert_eq!(out.0, b"END\r\n");
    assert_eq!(said(&cache, "get pwned\r\n"), "END\r\n");
}

#[test]
fn meta_commands_win_and_lose() {
    let cache = Mutex::new(Cache::new(1 << 20, None));
    let all = [
        // The first client to ask for a missing item is told to fetch it; others wait.
        ("mg a N30 v t\r\nmg a N30 v t\r\n", "VA 0 t30 W\r\n\r\nVA 0 t30 Z\r\n\r\n"),
        (
            "ms a 2 T90 c k O1\r\nhi\r\nmg a v t R100\r\nmg a R100\r\n",
            "HD c2 ka O1\r\nVA 2 t90 W\r\nhi\r\nHD Z\r\n",
        ),
        // A stale item is returned as such, and may be replaced by a client that knows its version.
        (
            "md a I T60\r\nmg a v c t\r\nmg a\r\nms a 1 C3 I\r\nx\r\n",
            "HD\r\nVA 2 c3 t60 X W\r\nhi\r\nHD Z X\r\nHD\r\n",
        ),
        ("mg a h f s\r\nmg a h\r\nmg b q\r\nmg b k O2\r\n", "HD h0 f0 s1\r\nHD h1\r\nEN kb O2\r\n"),
        ("ma n N0 J5 v\r\nma n D2 v\r\nma n MD v q\r\nma n v\r\n", "VA 1\r\n5\r\nVA 1\r\n7\r\nVA 1\r\n7\r\n"),
        (
            "ms Zm9v 1 b k\r\nf\r\nget foo\r\nmg foo k\r\nmn\r\n",
            "HD kZm9v b\r\nVALUE foo 0 1\r\nf\r\nEND\r\nHD kZm9v b\r\nMN\r\n",
        ),
        (
            "me none\r\nmg\r\nmg a x\r\nmg a v v\r\n",
            "EN\r\nERROR\r\nCLIENT_ERROR invalid flag\r\nCLIENT_ERROR duplicate flag\r\n",
        ),
        ("flush_all 2\r\nget foo\r\n", "OK\r\nVALUE foo 0 1\r\nf\r\nEND\r\n"),
        ("set new 0 0 1\r\nn\r\n", "STORED\r\n"),
    ];
    for (text, wanted) in all {
        assert_eq!(said(&cache, text), wanted, "{text}");
    }
    std::thread::sleep(std::time::Duration::from_millis(2100));
    assert_eq!(
        said(&cache, "get foo new\r\nset new 0 0 1\r\nn\r\nget new\r\n"),
        "END\r\nSTORED\r\nVALUE new 0 1\r\nn\r\nEND\r\n"
    );
}

#[test]
fn what_comes_in_pieces_is_the_same() {
    let cache = Mutex::new(Cache::new(1 << 20, None));
    let (mut session, mut out) = (Session::default(), Out::default());
    for byte in b"set a 0 0 5\r\nab\r\nc\r\nget a\r\n" {
        assert!(session.hear(&cache, &[*byte], &mut out));
    }
    assert_eq!(out.0, b"STORED\r\nVALUE a 0 5\r\nab\r\nc\r\nEND\r\n");
}

#[test]
fn the_oldest_go_when_there_is_no_room() {
    let cache = Mutex::new(Cache::new(100_000, None));
    let value = "v".repeat(1000);
    for number in 0..1000 {
        assert_eq!(said(&cache, &format!("set key{number} 0 0 1000\r\n{value}\r\n")), "STORED\r\n");
        assert_ne!(said(&cache, "get key0\r\n"), "END\r\n");
    }
    assert_eq!(said(&cache, "get key1\r\n"), "END\r\n");
    assert_ne!(said(&cache, "get key999\r\n"), "END\r\n");
    assert!(said(&cache, "stats\r\n").contains("STAT evictions 9"));
}
