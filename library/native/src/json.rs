//! JSON as `serde_json` understands it. A document is read once, into a *tape* (`tape`): a text that holds all nodes,
//! and that a program keeps as any other value. A node is its number in the tape; the whole document is number 0, and
//! -1 is no node. What asks for something else than a node has gets a zero.

pub mod plain;
mod reading;
mod tape;
pub mod values;

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use drystone_component::form::Form;
use drystone_component::wire::Reader;
use drystone_runtime::native::AnyValue;

use tape::{Node, Tape};

/// Reads a document; false if it is none, with where and why.
pub(crate) fn parse(
    text: &[u8],
    tape: &mut Cow<'_, [u8]>,
    why: &mut Cow<'_, [u8]>,
    line: &mut i64,
    column: &mut i64,
) -> bool {
    match reading::read(text) {
        Ok(read) => {
            *tape = Cow::Owned(read);
            true
        }
        Err(error) => {
            let place = alloc::format!(" at line {} column {}", error.line(), error.column());
            let message = error.to_string();
            let message = message.strip_suffix(&place).unwrap_or(&message);
            *why = Cow::Owned(message.as_bytes().to_vec());
            (*line, *column) = (error.line() as i64, error.column() as i64);
            false
        }
    }
}

/// A value of any type as JSON.
pub(crate) fn of(value: &AnyValue<'_>) -> Vec<u8> {
    let mut json = Vec::new();
    let written = values::write(&mut json, Form::new(value.form), &mut Reader::new(&value.bytes));
    written.expect("a value is of its form");
    json
}

/// Reads a value of any type; false if the text is none, with why, and the value is as before.
pub(crate) fn read(text: &[u8], value: &mut AnyValue<'_>, why: &mut Cow<'_, [u8]>) -> bool {
    match values::read(text, Form::new(value.form), &value.bytes) {
        Ok(read) => {
            value.bytes = read;
            *why = Cow::Borrowed(b"");
            true
        }
        Err(error) => {
            *why = Cow::Owned(error.into_bytes());
            false
        }
    }
}

/// -1 no node, 0 null, 1 a truth value, 2 a whole number of 64 bits, 3 another number, 4 a string, 5 an array, 6 an
/// object: as `Json.dry` has them.
pub(crate) fn kind(tape: &[u8], node: i64) -> i64 {
    match Tape::new(tape).node(node) {
        None => -1,
        Some(Node::Null) => 0,
        Some(Node::Truth(_)) => 1,
        Some(Node::Whole(_)) => 2,
        Some(Node::Fraction(_)) => 3,
        Some(Node::String(_)) => 4,
        Some(Node::Array(_)) => 5,
        Some(Node::Object(_)) => 6,
    }
}

/// Elements of an array, members of an object.
pub(crate) fn count(tape: &[u8], node: i64) -> i64 {
    match Tape::new(tape).node(node) {
        Some(Node::Array(elements)) => elements.count as i64,
        Some(Node::Object(members)) => members.count as i64,
        _ => 0,
    }
}

/// An element of an array, or the value of a member, in the document's order.
pub(crate) fn element(tape: &[u8], node: i64, index: i64) -> i64 {
    Tape::new(tape).element(node, index).unwrap_or(-1)
}

/// The name of a member.
pub(crate) fn key(tape: &[u8], node: i64, index: i64) -> Vec<u8> {
    Tape::new(tape).key(node, index).unwrap_or_default().to_vec()
}

/// The value of a member by its name.
pub(crate) fn member(tape: &[u8], node: i64, name: &[u8]) -> i64 {
    Tape::new(tape).member(node, name).unwrap_or(-1)
}

/// Where a JSON pointer (RFC 6901) leads from a node.
pub(crate) fn at(tape: &[u8], node: i64, pointer: &[u8]) -> i64 {
    let tape = Tape::new(tape);
    let follow = || {
        let steps = match pointer {
            [] => return Some(node),
            [b'/', steps @ ..] => steps,
            _ => return None,
        };
        steps.split(|&byte| byte == b'/').try_fold(node, |node, step| match tape.node(node)? {
            Node::Array(_) => tape.element(node, array_index(step)?),
            Node::Object(_) => tape.member(node, &unescaped(step)?),
            _ => None,
        })
    };
    follow().filter(|&node| tape.node(node).is_some()).unwrap_or(-1)
}

/// An index of a pointer: digits without a needless 0.
fn array_index(step: &[u8]) -> Option<i64> {
    let is_plain = step.iter().all(u8::is_ascii_digit) && (step.len() == 1 || !step.starts_with(b"0"));
    core::str::from_utf8(step).ok().filter(|_| is_plain)?.parse().ok()
}

/// `~1` stands for `/`, `~0` for `~`.
fn unescaped(step: &[u8]) -> Option<Vec<u8>> {
    let mut name = Vec::with_capacity(step.len());
    let mut bytes = step.iter();
    while let Some(&byte) = bytes.next() {
        name.push(match byte {
            b'~' => match bytes.next() {
                Some(b'0') => b'~',
                Some(b'1') => b'/',
                _ => return None,
            },
            other => other,
        });
    }
    Some(name)
}

/// A whole number, however it is written; 0 if it is none of 64 bits.
pub(crate) fn integer(tape: &[u8], node: i64) -> i64 {
    match Tape::new(tape).node(node) {
        Some(Node::Whole(value)) => value,
        Some(Node::Fraction(value)) if value as i64 as f64 == value && value.abs() < 9.2e18 => value as i64,
        _ => 0,
    }
}

pub(crate) fn real(tape: &[u8], node: i64) -> f64 {
    match Tape::new(tape).node(node) {
        Some(Node::Whole(value)) => value as f64,
        Some(Node::Fraction(value)) => value,
        _ => 0.0,
    }
}

pub(crate) fn text(tape: &[u8], node: i64) -> Vec<u8> {
    match Tape::new(tape).node(node) {
        Some(Node::String(value)) => value.to_vec(),
        _ => Vec::new(),
    }
}

pub(crate) fn truth(tape: &[u8], node: i64) -> bool {
    matches!(Tape::new(tape).node(node), Some(Node::Truth(true)))
}

/// Documents nest no deeper, so a tape that does is none.
const DEEPEST: usize = 200;

/// A node as JSON, without blanks.
pub(crate) fn written(tape: &[u8], node: i64) -> Result<Vec<u8>, String> {
    let mut json = Vec::new();
    write(&Tape::new(tape), node, DEEPEST, &mut json)?;
    Ok(json)
}

fn write(tape: &Tape, node: i64, deepest: usize, json: &mut Vec<u8>) -> Result<(), String> {
    let deeper = deepest.checked_sub(1).ok_or("the document nests too deep")?;
    match tape.node(node).ok_or("there is no such node")? {
        Node::Null => json.extend(b"null"),
        Node::Truth(value) => json.extend(value.to_string().as_bytes()),
        Node::Whole(value) => json.extend(value.to_string().as_bytes()),
        Node::Fraction(value) => json.extend(of_real(value).as_bytes()),
        Node::String(value) => plain::text(json, &String::from_utf8_lossy(value)),
        Node::Array(elements) => {
            json.push(b'[');
            for index in 0..elements.count as i64 {
                if index > 0 {
                    json.push(b',');
                }
                write(tape, tape.element(node, index).ok_or("an element is missing")?, deeper, json)?;
            }
            json.push(b']');
        }
        Node::Object(members) => {
            json.push(b'{');
            for index in 0..members.count as i64 {
                if index > 0 {
                    json.push(b',');
                }
                let key = tape.key(node, index).ok_or("a name is missing")?;
                plain::text(json, &String::from_utf8_lossy(key));
                json.push(b':');
                write(tape, tape.element(node, index).ok_or("a value is missing")?, deeper, json)?;
            }
            json.push(b'}');
        }
    }
    Ok(())
}

/// A text as a JSON string. What is no UTF-8 in it becomes U+FFFD.
pub(crate) fn quoted(text: &[u8]) -> Vec<u8> {
    let mut json = Vec::new();
    plain::text(&mut json, &String::from_utf8_lossy(text));
    json
}

/// A number as JSON has it, which reads as the same number again; null if it is none.
pub(crate) fn of_real(value: f64) -> String {
    serde_json::Number::from_f64(value).map_or_else(|| "null".to_string(), |number| number.to_string())
}

/// Reads a document, and compares all of it with `serde_json`'s own, for tests and fuzzing.
pub fn compare(text: &[u8]) {
    let value: Result<serde_json::Value, _> = serde_json::from_slice(text);
    let read = reading::read(text);
    assert_eq!(value.is_ok(), read.is_ok(), "{:?}", String::from_utf8_lossy(text));
    let (Ok(value), Ok(read)) = (value, read) else { return };
    compare_node(&Tape::new(&read), 0, &value);
    let again = reading::read(&written(&read, 0).expect("it is a document")).expect("it is JSON");
    compare_node(&Tape::new(&again), 0, &value);
}

fn compare_node(tape: &Tape, node: i64, value: &serde_json::Value) {
    use serde_json::Value as V;
    match (tape.node(node).expect("it is there"), value) {
        (Node::Null, V::Null) => {}
        (Node::Truth(ours), V::Bool(theirs)) => assert_eq!(ours, *theirs),
        (Node::Whole(ours), V::Number(theirs)) => assert_eq!(Some(ours), theirs.as_i64()),
        (Node::Fraction(ours), V::Number(theirs)) => {
            assert!(theirs.as_i64().is_none());
            assert_eq!(ours.to_bits(), theirs.as_f64().expect("it is a number").to_bits());
        }
        (Node::String(ours), V::String(theirs)) => assert_eq!(ours, theirs.as_bytes()),
        (Node::Array(ours), V::Array(theirs)) => {
            assert_eq!(ours.count, theirs.len());
            for (index, theirs) in theirs.iter().enumerate() {
                compare_node(tape, tape.element(node, index as i64).expect("it is there"), theirs);
            }
        }
        (Node::Object(ours), V::Object(theirs)) => {
            assert_eq!(ours.count, theirs.len());
            for (name, theirs) in theirs {
                compare_node(tape, tape.member(node, name.as_bytes()).expect("it is there"), theirs);
            }
        }
        (ours, theirs) => panic!("{ours:?} and {theirs}"),
    }
}

#[cfg(test)]
mod tests;
