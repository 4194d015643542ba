//! Tests of numbers as text.

use alloc::string::{String, ToString};

use proptest::prelude::*;

use super::*;

fn spelled(writing: Writing) -> String {
    core::str::from_utf8(writing.as_bytes()).unwrap().to_string()
}

#[test]
fn reals_are_written_in_the_shortest_form() {
    let cases = [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (3.0, "3.0"),
        (-2.5, "-2.5"),
        (0.1, "0.1"),
        (100.0, "100.0"),
        (1234567.25, "1234567.25"),
        (1e-4, "0.0001"),
        (1.5e-4, "0.00015"),
        (9.9e-5, "9.9E-5"),
        (1.5e-7, "1.5E-7"),
        (1e15, "1000000000000000.0"),
        (1e16, "1.0E16"),
        (1e20, "1.0E20"),
        (1.0 / 3.0, "0.3333333333333333"),
        (f64::MAX, "1.7976931348623157E308"),
        (-f64::MIN_POSITIVE, "-2.2250738585072014E-308"),
        (5e-324, "5.0E-324"),
        (f64::INFINITY, "INF"),
        (f64::NEG_INFINITY, "-INF"),
        (f64::NAN, "NAN"),
        (-f64::NAN, "NAN"),
    ];
    for (value, expected) in cases {
        assert_eq!(spelled(real(value)), expected);
    }
}

#[test]
fn integers_are_written_in_decimal_and_hexadecimal() {
    assert_eq!(spelled(integer(0)), "0");
    assert_eq!(spelled(integer(i64::MIN)), "-9223372036854775808");
    assert_eq!(spelled(hexadecimal(255)), "FF");
    assert_eq!(spelled(hexadecimal(0)), "0");
    assert_eq!(spelled(hexadecimal(-1)), "FFFFFFFFFFFFFFFF");
}

#[test]
fn number_takes_what_the_language_takes() {
    for (text, value) in [("42", 42), ("+7", 7), ("-0FFH", -255), ("0H", 0), ("007", 7), ("1AH", 26)] {
        assert_eq!(parse_integer(text.as_bytes()), Some(value), "{text}");
        assert_eq!(parse_real(text.as_bytes()), Some(value as f64), "{text}");
    }
    assert_eq!(parse_integer(b"-9223372036854775808"), Some(i64::MIN));
    for (text, value) in [("2.", 2.0), ("0.05", 0.05), ("1.5E-3", 0.0015), ("1.E+2", 100.0), ("-1.0", -1.0)] {
        assert_eq!(parse_real(text.as_bytes()), Some(value), "{text}");
        assert_eq!(parse_integer(text.as_bytes()), None, "{text}");
    }
    assert_eq!(parse_real(b"9223372036854775808"), Some(9223372036854775808.0));
}

#[test]
fn number_takes_nothing_else() {
    let neither = [
        "", "-", "+", " 1", "1 ", "FFH", "H", "0ffH", "0FF", "--1", "1E5", ".5", "1.5e3", "1.5E", "1.5E+",
        "INF", "NAN", "inf", "1.0E999", "1_0", "1..2", "1.0.0", "0X", "+-1", "1.5E-3 ", "\u{661}",
    ];
    for text in neither {
        assert_eq!(parse_integer(text.as_bytes()), None, "{text}");
        assert_eq!(parse_real(text.as_bytes()), None, "{text}");
    }
    assert_eq!(parse_integer(b"9223372036854775808"), None);
    assert_eq!(parse_integer(b"08000000000000000H"), None);
    assert_eq!(parse_real(&[0xFF, b'1']), None);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 10 } else { 10_000 }, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn reals_read_back(bits: u64) {
        let value = f64::from_bits(bits);
        prop_assume!(value.is_finite());
        let written = real(value);
        prop_assert_eq!(parse_real(written.as_bytes()).map(f64::to_bits), Some(bits), "{}", spelled(written));
    }

    #[test]
    fn integers_read_back(value: i64) {
        prop_assert_eq!(parse_integer(integer(value).as_bytes()), Some(value));
        let hexadecimal = "0".to_string() + &spelled(hexadecimal(value)) + "H";
        prop_assert_eq!(parse_integer(hexadecimal.as_bytes()), (value >= 0).then_some(value));
    }

    #[test]
    fn reading_never_panics(text in prop::collection::vec(any::<u8>(), 0..12), short in "[-+0-9.EH]{0,8}") {
        for text in [&text[..], short.as_bytes()] {
            if let Some(value) = parse_integer(text) {
                prop_assert_eq!(parse_real(text), Some(value as f64));
            }
        }
    }
}
