//! Values as XDR.

use drystone_component::Type;
use drystone_component::wire::{Sink, Source, decode, encode};
use proptest::prelude::*;

/// A value of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Integer(i64),
    /// By its bits: NaN is not equal to itself.
    Real(u64),
    Boolean(bool),
    Character(u8),
    Text(Vec<u8>),
}

impl Value {
    fn ty(&self) -> Type {
        match self {
            Value::Integer(_) => Type::Integer,
            Value::Real(_) => Type::Real,
            Value::Boolean(_) => Type::Boolean,
            Value::Character(_) => Type::Character,
            Value::Text(_) => Type::Text,
        }
    }
}

pub struct Given<'a>(pub &'a [Value]);

impl Source for Given<'_> {
    fn integer(&self, index: usize) -> i64 {
        let Value::Integer(value) = self.0[index] else { panic!("not an INTEGER") };
        value
    }

    fn real(&self, index: usize) -> f64 {
        let Value::Real(value) = self.0[index] else { panic!("not a REAL") };
        f64::from_bits(value)
    }

    fn byte(&self, index: usize) -> u8 {
        match self.0[index] {
            Value::Boolean(value) => value.into(),
            Value::Character(value) => value,
            _ => panic!("not a byte"),
        }
    }

    fn text(&self, index: usize) -> &[u8] {
        let Value::Text(value) = &self.0[index] else { panic!("not a TEXT") };
        value
    }
}

pub struct Taken<'a> {
    pub types: &'a [Type],
    pub values: Vec<Value>,
}

impl Sink for Taken<'_> {
    fn integer(&mut self, value: i64) -> Result<(), String> {
        self.values.push(Value::Integer(value));
        Ok(())
    }

    fn real(&mut self, value: f64) -> Result<(), String> {
        self.values.push(Value::Real(value.to_bits()));
        Ok(())
    }

    fn byte(&mut self, value: u8) -> Result<(), String> {
        let is_boolean = self.types[self.values.len()] == Type::Boolean;
        self.values.push(if is_boolean { Value::Boolean(value == 1) } else { Value::Character(value) });
        Ok(())
    }

    fn text(&mut self, value: &[u8]) -> Result<(), String> {
        self.values.push(Value::Text(value.to_vec()));
        Ok(())
    }
}

fn encoded(values: &[Value]) -> (Vec<Type>, Vec<u8>) {
    let types: Vec<Type> = values.iter().map(Value::ty).collect();
    let mut bytes = Vec::new();
    encode(types.iter().copied(), &Given(values), &mut bytes).expect("has a form");
    (types, bytes)
}

fn decoded(types: &[Type], bytes: &[u8]) -> Result<Vec<Value>, String> {
    let mut taken = Taken { types, values: Vec::new() };
    decode(types.iter().copied(), bytes, &mut taken).map(|()| taken.values)
}

pub fn values() -> impl Strategy<Value = Vec<Value>> {
    let value = prop_oneof![
        any::<i64>().prop_map(Value::Integer),
        any::<u64>().prop_map(Value::Real),
        any::<bool>().prop_map(Value::Boolean),
        any::<u8>().prop_map(Value::Character),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(Value::Text),
    ];
    prop::collection::vec(value, 0..8)
}

/// RFC 4506, sections 4.5, 4.7, 4.4, 4.2 and 4.10.
#[test]
fn values_have_the_form_of_the_rfc() {
    let values = [
        Value::Integer(-2),
        Value::Real(1.5f64.to_bits()),
        Value::Boolean(true),
        Value::Character(b'a'),
        Value::Text(b"hello".to_vec()),
    ];
    let expected = [
        &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe][..],
        &[0x3f, 0xf8, 0, 0, 0, 0, 0, 0],
        &[0, 0, 0, 1],
        &[0, 0, 0, 0x61],
        &[0, 0, 0, 5, b'h', b'e', b'l', b'l', b'o', 0, 0, 0],
    ];
    assert_eq!(encoded(&values).1, expected.concat());
}

#[test]
fn what_is_no_value_is_refused() {
    let said = |types: &[Type], bytes: &[u8]| decoded(types, bytes).expect_err("refused");
    assert_eq!(said(&[Type::Integer], &[0; 7]), "an INTEGER is cut off");
    assert_eq!(said(&[Type::Boolean], &[0, 0, 0, 2]), "a BOOLEAN is neither 0 nor 1");
    assert_eq!(said(&[Type::Character], &[0, 0, 1, 0]), "a CHARACTER is above 255");
    assert_eq!(said(&[Type::Text], &[0xff, 0xff, 0xff, 0xff]), "a TEXT is cut off");
    assert_eq!(said(&[Type::Text], &[0, 0, 0, 1, b'a', 0, 0]), "a TEXT is cut off");
    assert_eq!(said(&[Type::Text], &[0, 0, 0, 1, b'a', 0, 0, 1]), "a TEXT is not padded with zeros");
    assert_eq!(said(&[], &[0; 4]), "4 bytes too many");
    let component = "a component has come over a binding that carries none";
    assert_eq!(said(&[Type::Component], &[0; 8]), component);
}

#[test]
fn a_component_stays_and_so_does_what_stood_before_it() {
    let mut bytes = vec![7];
    let types = [Type::Integer, Type::Component];
    let refused = encode(types, &Given(&[Value::Integer(1)]), &mut bytes);
    assert_eq!(refused, Err("a component cannot leave its program in a message over this binding".into()));
    assert_eq!(bytes, [7]);
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(if cfg!(miri) { 10 } else { 2000 })
    })]

    #[test]
    fn values_come_as_they_went(values in values()) {
        let (types, bytes) = encoded(&values);
        prop_assert_eq!(bytes.len() % 4, 0);
        prop_assert_eq!(decoded(&types, &bytes), Ok(values));
    }

    /// Whatever comes is refused, or is the only form of the values that are made of it.
    #[test]
    fn other_bytes_are_refused_or_mean_the_same(
        values in values(),
        at in any::<prop::sample::Index>(),
        bits in 1..=255u8,
        cut in any::<bool>(),
    ) {
        let (types, mut bytes) = encoded(&values);
        prop_assume!(!bytes.is_empty());
        let at = at.index(bytes.len());
        if cut { bytes.truncate(at) } else { bytes[at] ^= bits }
        if let Ok(values) = decoded(&types, &bytes) {
            prop_assert_eq!(encoded(&values).1, bytes);
        }
    }
}
