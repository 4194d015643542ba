//! Messages as JSON: `{"Greeting":{"x":"Hello, you"}}` is the message Greeting with its parameters.
//!
//! * INTEGER is a number without fraction, in any form (`1.0`, `1e3`) below 2^53, and as plain digits exact over all 64
//!   bits; REAL a number, or one of the strings `NaN`, `Infinity` and `-Infinity`; BOOLEAN `true` or `false`.
//! * CHARACTER is a string of one character up to U+00FF, which is its number.
//! * TEXT is a string; one that is no UTF-8 is `{"base64":"..."}`, which is taken in place of any string.

mod reading;

use data_encoding::BASE64;
use drystone_component::{Interface, Message, Parameter, Side};
use serde::de::DeserializeSeed;

use self::reading::{Named, UNUSUAL, Values};
use drystone_net::datum::Datum;

/// Reads a JSON object that has all parameters of a message and nothing else.
///
/// # Errors
/// A sentence says what is wrong, and where.
pub(crate) fn read<'a>(json: &'a [u8], parameters: &'static [Parameter]) -> Result<Vec<Datum<'a>>, String> {
    whole(json, Values(parameters))
}

/// Reads a message of one side: its number and values.
///
/// # Errors
/// A sentence says what is wrong, and where.
pub(crate) fn read_message<'a>(
    json: &'a [u8],
    interface: &'static Interface,
    sender: Side,
) -> Result<(usize, Vec<Datum<'a>>), String> {
    whole(json, Named { interface, sender })
}

fn whole<'a, S: DeserializeSeed<'a>>(json: &'a [u8], seed: S) -> Result<S::Value, String> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let read = seed.deserialize(&mut deserializer);
    read.and_then(|value| deserializer.end().map(|()| value)).map_err(|error| error.to_string())
}

/// Adds a message.
pub(crate) fn write<'v>(out: &mut Vec<u8>, message: &Message, values: impl Iterator<Item = Datum<'v>>) {
    out.push(b'{');
    text(out, message.name.get());
    out.extend_from_slice(b":");
    write_values(out, message.parameters.get(), values);
    out.push(b'}');
}

/// Adds the object of a message's values.
pub(crate) fn write_values<'v>(
    out: &mut Vec<u8>,
    parameters: &[Parameter],
    values: impl Iterator<Item = Datum<'v>>,
) {
    out.push(b'{');
    for (index, (parameter, value)) in parameters.iter().zip(values).enumerate() {
        if index > 0 {
            out.push(b',');
        }
        text(out, parameter.name.get());
        out.push(b':');
        write_value(out, &value);
    }
    out.push(b'}');
}

fn write_value(out: &mut Vec<u8>, value: &Datum<'_>) {
    match value {
        Datum::Boolean(x) => json(out, x),
        Datum::Character(x) => json(out, &char::from(*x)),
        Datum::Integer(x) => json(out, x),
        Datum::Real(x) if x.is_finite() => json(out, x),
        Datum::Real(x) => {
            text(out, UNUSUAL.iter().find(|(_, it)| same(*it, *x)).map_or("NaN", |(name, _)| name))
        }
        Datum::Text(x) => match std::str::from_utf8(x) {
            Ok(x) => text(out, x),
            Err(_) => {
                out.extend_from_slice(b"{\"base64\":");
                text(out, &BASE64.encode(x));
                out.push(b'}');
            }
        },
    }
}

fn same(a: f64, b: f64) -> bool {
    a == b || a.is_nan() && b.is_nan()
}

fn text(out: &mut Vec<u8>, text: &str) {
    json(out, text);
}

fn json(out: &mut Vec<u8>, value: &(impl serde::Serialize + ?Sized)) {
    serde_json::to_writer(out, value).expect("memory takes all of it, and the values are JSON's");
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use drystone_component::{Fingerprint, Str, Table, Type};

    use super::*;

    const fn parameter(name: &'static str, ty: Type) -> Parameter {
        Parameter { name: Str::new(name), ty }
    }

    static ALL: [Parameter; 5] = [
        parameter("b", Type::Boolean),
        parameter("c", Type::Character),
        parameter("i", Type::Integer),
        parameter("r", Type::Real),
        parameter("t", Type::Text),
    ];

    static TOLD: Interface = Interface {
        name: Str::new("Told"),
        fingerprint: Fingerprint([0, 0]),
        messages: Table::new(&[
            Message {
                name: Str::new("Say"),
                sender: Side::Client,
                parameters: Table::new(&ALL),
                marshalling: None,
            },
            Message {
                name: Str::new("Say"),
                sender: Side::Server,
                parameters: Table::new(&[]),
                marshalling: None,
            },
        ]),
        next: Table::new(&[]),
        states: Table::new(&[]),
        payload_words: 5,
    };

    fn values(text: &'static [u8]) -> Vec<Datum<'static>> {
        let text = Datum::Text(Cow::Borrowed(text));
        vec![Datum::Boolean(true), Datum::Character(0xe9), Datum::Integer(i64::MAX), Datum::Real(1.5), text]
    }

    fn written(values: Vec<Datum<'_>>) -> String {
        let mut out = Vec::new();
        write(&mut out, &TOLD.messages.get()[0], values.into_iter());
        String::from_utf8(out).expect("JSON is UTF-8")
    }

    #[test]
    fn messages_go_both_ways() {
        let json = r#"{"Say":{"b":true,"c":"é","i":9223372036854775807,"r":1.5,"t":"\"x\"\n\u0000"}}"#;
        assert_eq!(written(values(b"\"x\"\n\0")), json);
        assert_eq!(read_message(json.as_bytes(), &TOLD, Side::Client), Ok((0, values(b"\"x\"\n\0"))));
        assert_eq!(read_message(b"{\"Say\":{}}", &TOLD, Side::Server), Ok((1, Vec::new())));
    }

    #[test]
    fn what_json_has_no_form_for_has_one_here() {
        let mut odd = values(b"\xff\x00");
        odd[3] = Datum::Real(f64::NEG_INFINITY);
        let json =
            r#"{"Say":{"b":true,"c":"é","i":9223372036854775807,"r":"-Infinity","t":{"base64":"/wA="}}}"#;
        assert_eq!(written(odd.clone()), json);
        assert_eq!(read_message(json.as_bytes(), &TOLD, Side::Client), Ok((0, odd)));
        let nan = read(b"{\"r\":\"NaN\"}", &ALL[3..4]).expect("it is one");
        assert!(matches!(nan[..], [Datum::Real(x)] if x.is_nan()));
    }

    #[test]
    fn whole_numbers_may_be_written_as_any_number_may() {
        for (written, number) in [
            ("-0", 0),
            ("1.0", 1),
            ("-2.50e1", -25),
            ("1e3", 1000),
            ("-0.0", 0),
            ("9007199254740991.0", (1 << 53) - 1),
        ] {
            let json = format!("{{\"i\":{written}}}");
            assert_eq!(read(json.as_bytes(), &ALL[2..3]), Ok(vec![Datum::Integer(number)]), "{written}");
        }
        for written in ["0.1", "9007199254740993.0", "1e300", "-1e19"] {
            assert!(read(format!("{{\"i\":{written}}}").as_bytes(), &ALL[2..3]).is_err(), "{written}");
        }
    }

    #[test]
    fn reals_come_as_they_went() {
        let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..100_000 {
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            let x = f64::from_bits(bits);
            let json =
                written(vec![Datum::Boolean(true), Datum::Character(0), Datum::Integer(0), Datum::Real(x)]);
            let json = json.replace("}}", ",\"t\":\"\"}}");
            let (_, read) = read_message(json.as_bytes(), &TOLD, Side::Client).expect("it was written");
            let Datum::Real(again) = read[3] else { panic!("{read:?}") };
            assert!(same(x, again) || x.is_nan() && again.is_nan(), "{x:?} is {again:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let refused = |json: &'static str| read_message(json.as_bytes(), &TOLD, Side::Client).unwrap_err();
        let begins = |json, wanted: &str| {
            let why = refused(json);
            assert!(why.starts_with(wanted), "{json}: {why}");
        };
        begins("", "EOF while parsing");
        begins("[]", "invalid type: sequence, expected an object with one member, which is a message");
        begins("{\"Shout\":{}}", "Told has no message Shout at line 1");
        begins("{\"Say\":{\"b\":true}}", "c is missing");
        begins("{\"Say\":{\"b\":1}}", "invalid type: integer `1`, expected true or false for b");
        begins("{\"Say\":{\"x\":1}}", "there is no parameter x");
        begins("{\"Say\":{\"b\":true,\"b\":true}}", "b is there twice");
        begins(
            "{\"Say\":{\"i\":9223372036854775808}}",
            "invalid value: integer `9223372036854775808`, expected a whole",
        );
        begins("{\"Say\":{\"i\":1.5}}", "invalid type: floating point `1.5`, expected a whole number");
        begins(
            "{\"Say\":{\"c\":\"ab\"}}",
            "invalid value: string \"ab\", expected a string of one character",
        );
        begins("{\"Say\":{\"t\":{\"base64\":\"?\"}}}", "t: that is no base64");
        begins("{\"Say\":{\"t\":{\"hex\":\"?\"}}}", "invalid type: map, expected a string, or");
        begins("{\"Say\":{\"t\":{\"a\":1,\"b\":[]}}}", "invalid type: map, expected a string, or");
        let json = "{\"Say\":".repeat(10_000);
        assert!(read_message(json.as_bytes(), &TOLD, Side::Client).is_err());
    }
}
