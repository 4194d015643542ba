use super::*;
use alloc::format;

fn read(text: &str) -> Vec<u8> {
    reading::read(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Cases of the kinds that JSONTestSuite has: all are compared with `serde_json`.
#[test]
fn documents_are_understood_as_serde_json_does() {
    let right = [
        "null",
        " true ",
        "false",
        "0",
        "-0",
        "-1",
        "10",
        "1.5",
        "1e3",
        "1E-2",
        "0.1e+1",
        "\"\"",
        "[]",
        "{}",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "18446744073709551616",
        "123456789012345678901234567890",
        "1e308",
        "5e-324",
        "1e-400",
        "[[[[]]]]",
        "[1,[2,{\"a\":[3]}],null]",
        "{\"a\":1,\"b\":{\"a\":2}}",
        "{\"\":0}",
        "{\"a\":1,\"a\":2}",
        "{\"b\":0,\"a\":1,\"b\":2,\"a\":3,\"c\":4}",
        "\"\\u00e9\\ud834\\udd1e\\n\\/\\\\\\\"\"",
        "\"\u{7f}\u{2028}\"",
        "\"\\u0000\"",
        "\t[\n1\r,2 ]\n",
    ];
    for text in right {
        read(text);
        compare(text.as_bytes());
    }
    let wrong: &[&[u8]] = &[
        b"",
        b" ",
        b"nul",
        b"True",
        b"01",
        b"-",
        b"+1",
        b"1.",
        b".5",
        b"1e",
        b"1e+",
        b"0x1",
        b"NaN",
        b"Infinity",
        b"1e400",
        b"-1e999",
        b"[1,]",
        b"[,1]",
        b"[1 2]",
        b"[",
        b"]",
        b"[1",
        b"{",
        b"{\"a\"}",
        b"{\"a\":}",
        b"{\"a\":1,}",
        b"{a:1}",
        b"{'a':1}",
        b"{1:1}",
        b"{\"a\" 1}",
        b"\"",
        b"\"\\",
        b"\"\\x\"",
        b"\"\\u12\"",
        b"\"\\ud800\"",
        b"\"\\ud800\\u0041\"",
        b"\"\\udc00\"",
        b"\"\n\"",
        b"\"\t\"",
        b"\"\0\"",
        b"\"\xff\"",
        b"\xef\xbb\xbf1",
        b"1 2",
        b"[]x",
        b"/**/1",
        b"1//",
        b"\xff",
        b"[\xc3\xa4]",
    ];
    for text in wrong {
        assert!(reading::read(text).is_err(), "{:?}", String::from_utf8_lossy(text));
        compare(text);
    }
}

#[test]
fn documents_nest_a_hundred_times_and_no_thousand() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    compare(nested(100).as_bytes());
    assert!(reading::read(nested(1000).as_bytes()).is_err());
    assert!(reading::read("[".repeat(1_000_000).as_bytes()).is_err());
    assert!(reading::read("{\"a\":".repeat(1_000_000).as_bytes()).is_err());
}

#[test]
fn documents_put_together_at_random_are_understood_so_too() {
    const PARTS: &[&str] = &[
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"a\"",
        "\"b\"",
        "\"\\u0041\"",
        "1",
        "-2.5e3",
        "true",
        "null",
        " ",
        "\"c",
        "99999999999999999999",
    ];
    let mut state = 1_u64;
    let mut random = |limit: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % limit
    };
    fn value(random: &mut impl FnMut(usize) -> usize, depth: usize) -> String {
        let count = random(5);
        match random(if depth == 0 { 5 } else { 7 }) {
            0 => "null".into(),
            1 => format!("{}", random(1000) as i64 - 500),
            2 => format!("{:e}", random(100_000) as f64 / 7.0),
            3 => format!("\"{}\\n\"", "ä".repeat(count)),
            4 => "false".into(),
            5 => format!("[{}]", (0..count).map(|_| value(random, depth - 1)).collect::<Vec<_>>().join(", ")),
            _ => {
                let member = |random: &mut _| format!("\"k{}\": {}", count % 3, value(random, depth - 1));
                format!("{{{}}}", (0..count).map(|_| member(random)).collect::<Vec<_>>().join(","))
            }
        }
    }
    for _ in 0..2000 {
        let right = value(&mut random, 4);
        read(&right);
        compare(right.as_bytes());
        let count = random(12);
        let any: String = (0..count).map(|_| PARTS[random(PARTS.len())]).collect();
        compare(any.as_bytes());
    }
}

#[test]
fn members_keep_their_order_and_are_found_by_name() {
    let tape = read("{\"z\": 1, \"a\": 2, \"z\": 3, \"é\": 4}");
    let keys: Vec<_> = (0..count(&tape, 0)).map(|index| key(&tape, 0, index)).collect();
    assert_eq!(keys, [&b"z"[..], b"a", "é".as_bytes()]);
    let named = |name: &str| integer(&tape, member(&tape, 0, name.as_bytes()));
    assert_eq!([named("z"), named("a"), named("é"), named("b")], [3, 2, 4, 0]);
    assert_eq!(written(&tape, 0).as_deref(), Ok("{\"z\":3,\"a\":2,\"é\":4}".as_bytes()));
}

#[test]
fn a_wide_object_is_found_in_as_quickly_as_a_narrow_one() {
    let members: Vec<String> = (0..200_000).map(|number| format!("\"key{number}\":{number}")).collect();
    let tape = read(&format!("{{{}}}", members.join(",")));
    for number in 0..200_000 {
        assert_eq!(integer(&tape, member(&tape, 0, format!("key{number}").as_bytes())), number);
    }
}

#[test]
fn pointers_lead_as_rfc_6901_says() {
    let tape = read("{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"m~n\":8,\"~1\":9,\"01\":[7]}");
    let found = |pointer: &str| written(&tape, at(&tape, 0, pointer.as_bytes())).ok();
    for (pointer, json) in [
        ("/foo", "[\"bar\",\"baz\"]"),
        ("/foo/0", "\"bar\""),
        ("/", "0"),
        ("/a~1b", "1"),
        ("/m~0n", "8"),
        ("/~01", "9"),
        ("/01/0", "7"),
    ] {
        assert_eq!(found(pointer).as_deref(), Some(json.as_bytes()), "{pointer}");
    }
    assert_eq!(at(&tape, 0, b""), 0);
    for pointer in
        ["foo", "/foo/2", "/foo/00", "/foo/-", "/foo/+1", "/foo/0/x", "/m~n", "/~", "/foo/", "/nothing"]
    {
        assert_eq!(at(&tape, 0, pointer.as_bytes()), -1, "{pointer}");
    }
    assert_eq!((at(&tape, -1, b""), at(&tape, 99, b"")), (-1, -1));
}

#[test]
fn numbers_are_whole_if_they_fit() {
    let tape = read("[9223372036854775807, 9223372036854775808, 1e2, 1.5, -0, 1e30]");
    let kinds: Vec<_> = (0..6).map(|index| kind(&tape, element(&tape, 0, index))).collect();
    assert_eq!(kinds, [2, 3, 3, 3, 3, 3]);
    let whole: Vec<_> = (0..6).map(|index| integer(&tape, element(&tape, 0, index))).collect();
    assert_eq!(whole, [i64::MAX, 0, 100, 0, 0, 0]);
    assert_eq!(real(&tape, element(&tape, 0, 1)), 9.223_372_036_854_776e18);
}

/// A program may hand over any text as a tape.
#[test]
fn texts_that_are_no_tapes_have_no_nodes_or_wrong_ones() {
    let tape = read("{\"a\":[1,\"x\",{\"b\":null}]}");
    for at_byte in 0..tape.len() {
        for byte in [0, 1, 5, 6, 0x7f, 0xff] {
            let mut broken = tape.clone();
            broken[at_byte] = byte;
            let _ = written(&broken, 0);
            for node in -1..8 {
                kind(&broken, node);
                count(&broken, node);
                member(&broken, node, b"a");
                element(&broken, node, 1);
                at(&broken, node, b"/a/2/b");
            }
        }
        let _ = written(&tape[..at_byte], 0);
    }
}

#[test]
fn strings_and_numbers_are_written_as_serde_json_reads_them() {
    assert_eq!(quoted(b"a\"\\\n\x01\xff\xc3\xa9"), "\"a\\\"\\\\\\n\\u0001\u{fffd}\u{e9}\"".as_bytes());
    for (value, json) in [(1.5, "1.5"), (1e300, "1e+300"), (-0.0, "-0.0"), (f64::NAN, "null"), (0.1, "0.1")] {
        assert_eq!(of_real(value), json);
    }
}
