//! Messages as JSON: `{"Greeting":{"x":"Hello, you"}}` is the message Greeting with its parameters.
//!
//! * INTEGER is a number without fraction, in any form (`1.0`, `1e3`) below 2^53, and as plain digits exact over all 64
//!   bits; REAL a number, or one of the strings `NaN`, `Infinity` and `-Infinity`; BOOLEAN `true` or `false`.
//! * CHARACTER is a string of one character up to U+00FF, which is its number.
//! * A record is an object, a sequence an array.
//! * TEXT is a string; one that is no UTF-8 is `{"base64":"..."}`, which is taken in place of any string.

mod reading;

use drystone_component::form::Form;
use drystone_component::wire::Reader;
use drystone_component::{Interface, Member, Message, Parameter, Side, members};
use drystone_library::json::plain::{self, Plain, text};
use drystone_library::json::values;
use serde::de::DeserializeSeed;

use self::reading::{Named, OneOf, Values};
use drystone_net::datum::Datum;

/// Reads a JSON object that has all parameters of a message and nothing else.
///
/// # Errors
/// A sentence says what is wrong, and where.
pub(crate) fn read<'a>(json: &'a [u8], parameters: &'static [Parameter]) -> Result<Vec<Datum<'a>>, String> {
    whole(json, Values { parameters, within: 0 })
}

/// Reads the value of one parameter.
///
/// # Errors
/// A sentence says what is wrong.
pub(crate) fn read_value<'a>(json: &'a [u8], parameter: &'static Parameter) -> Result<Datum<'a>, String> {
    whole(json, OneOf(parameter))
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
    mut values: impl Iterator<Item = Datum<'v>>,
) {
    write_members(out, parameters, 0, &mut values);
}

fn write_value(out: &mut Vec<u8>, parameter: &Parameter, value: Datum<'_>) {
    let value = match value {
        Datum::Boolean(x) => Plain::Boolean(x),
        Datum::Character(x) => Plain::Character(x),
        Datum::Integer(x) => Plain::Integer(x),
        Datum::Real(x) => Plain::Real(x),
        Datum::Text(x) => Plain::Text(x),
        Datum::Sequence(bytes) => {
            let form = Form::new(parameter.form.get());
            let written = values::write(out, form, &mut Reader::new(&bytes));
            return written.expect("the program's own values are whole");
        }
    };
    plain::write(out, &value);
}

/// Adds an object of a message's values, or of a record in it.
fn write_members<'v>(
    out: &mut Vec<u8>,
    parameters: &[Parameter],
    within: usize,
    values: &mut impl Iterator<Item = Datum<'v>>,
) {
    out.push(b'{');
    for (index, member) in members(parameters, within).enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let (Member::Value(name, _) | Member::Record(name, _)) = member;
        text(out, name);
        out.push(b':');
        match member {
            Member::Value(_, parameter) => {
                let value = values.next().expect("there is one for each parameter");
                write_value(out, parameter, value);
            }
            Member::Record(name, fields) => write_members(out, fields, within + name.len() + 1, values),
        }
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use drystone_component::{Fingerprint, Str, Table, Type};

    use super::*;

    const fn parameter(name: &'static str, ty: Type) -> Parameter {
        Parameter::new(name, ty)
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
        queued: 0,
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
    fn records_are_objects() {
        static RECORDS: [Parameter; 5] = [
            parameter("p.x", Type::Integer),
            parameter("p.name.first", Type::Text),
            parameter("p.name.b", Type::Boolean),
            parameter("p.y", Type::Integer),
            parameter("n", Type::Integer),
        ];
        let some = [
            Datum::Integer(1),
            Datum::Text(Cow::Borrowed(b"Ada")),
            Datum::Boolean(true),
            Datum::Integer(2),
            Datum::Integer(3),
        ];
        let mut out = Vec::new();
        write_values(&mut out, &RECORDS, some.iter().cloned());
        let json = r#"{"p":{"x":1,"name":{"first":"Ada","b":true},"y":2},"n":3}"#;
        assert_eq!(String::from_utf8(out).expect("JSON is UTF-8"), json);
        assert_eq!(read(json.as_bytes(), &RECORDS), Ok(some.to_vec()));
        let turned = br#"{"n":3,"p":{"name":{"b":true,"first":"Ada"},"y":2,"x":1}}"#;
        assert_eq!(read(turned, &RECORDS), Ok(some.to_vec()));
        for (json, wanted) in [
            (r#"{"n":3}"#, "p.x is missing"),
            (r#"{"p":{"x":1,"name":{}}}"#, "p.name.first is missing"),
            (r#"{"p":{"z":1}}"#, "there is no field z"),
            (r#"{"p.x":1}"#, "there is no parameter p.x"),
            (r#"{"p":{"name":{"b":true,"first":""},"name":{}}}"#, "name is there twice"),
            (r#"{"p":1}"#, "invalid type: integer `1`, expected an object for the record p"),
            (r#"{"p":{"name":[]}}"#, "invalid type: sequence, expected an object for the record p.name"),
        ] {
            let why = read(json.as_bytes(), &RECORDS).unwrap_err();
            assert!(why.starts_with(wanted), "{json}: {why}");
        }
    }

    #[test]
    fn sequences_are_arrays() {
        static SEQUENCES: [Parameter; 2] = [
            Parameter {
                form: Str::new("[(name:t,sizes:[i,none:(),x:r,c:c)"),
                ..parameter("parts", Type::Sequence)
            },
            Parameter { form: Str::new("[[b"), ..parameter("nested", Type::Sequence) },
        ];
        let json = concat!(
            r#"{"parts":[{"name":"é","sizes":[1,-2],"none":{},"x":"NaN","c":"z"},"#,
            r#"{"name":{"base64":"/w=="},"sizes":[],"none":{},"x":1.5,"c":"\u0000"}],"#,
            r#""nested":[[true],[],[false,true]]}"#
        );
        let read_back = read(json.as_bytes(), &SEQUENCES).expect("it is right");
        let mut out = Vec::new();
        write_values(&mut out, &SEQUENCES, read_back.iter().cloned());
        assert_eq!(String::from_utf8(out).expect("JSON is UTF-8"), json);
        let Datum::Sequence(nested) = &read_back[1] else { panic!("it is a sequence") };
        let words = [3_u32, 1, 1, 0, 2, 0, 1].map(u32::to_be_bytes).concat();
        assert_eq!(nested[..], words);
        for (json, wanted) in [
            (r#"{"nested":[[1]]}"#, "invalid type: integer `1`, expected true or false for nested"),
            (r#"{"nested":[true]}"#, "invalid type: boolean `true`, expected an array for nested"),
            (r#"{"parts":[{"sizes":[]}]}"#, "name is missing in parts"),
            (r#"{"parts":[{"name":"","name":""}]}"#, "name is there twice in parts"),
            (r#"{"parts":[{"size":1}]}"#, "there is no field size in parts"),
            (r#"{"parts":[],"nested":[],"parts":[]}"#, "parts is there twice"),
            (r#"{"parts":null}"#, "invalid type: null, expected an array for parts"),
            (
                r#"{"parts":[{"none":[]}]}"#,
                "invalid type: sequence, expected an object for an element of parts",
            ),
        ] {
            let why = read(json.as_bytes(), &SEQUENCES).unwrap_err();
            assert!(why.starts_with(wanted), "{json}: {why}");
        }
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
            let mut all = values(b"");
            all[3] = Datum::Real(x);
            let json = written(all);
            let (_, read) = read_message(json.as_bytes(), &TOLD, Side::Client).expect("it was written");
            let Datum::Real(again) = read[3] else { panic!("{read:?}") };
            assert!(x == again || x.is_nan() && again.is_nan(), "{x:?} is {again:?}");
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
