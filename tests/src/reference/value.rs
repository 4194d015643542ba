//! Values, the indices of collections, and how `WRITE` writes them.

use drystone_language::program::{Label, Program, Type};

use super::identity::InstanceId;
use super::outcome::Kind;

/// The content of a variable, an element or a message parameter.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Boolean(bool),
    Character(u8),
    Integer(i64),
    Real(f64),
    Text(Vec<u8>),
    /// Its fields.
    Record(Vec<Value>),
    /// Its elements.
    Sequence(Vec<Value>),
    /// A container.
    Component(Option<InstanceId>),
}

/// A step from a value to one of its parts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// The field of a record with this number.
    Field(usize),
    /// The element of a sequence at this index.
    Item(i64),
}

/// One index of an element.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Boolean(bool),
    Character(u8),
    Integer(i64),
    Text(Vec<u8>),
}

impl Value {
    /// The initial value of a variable of the type.
    pub fn initial(program: &Program, ty: &Type) -> Value {
        match ty {
            Type::Boolean => Value::Boolean(false),
            Type::Character => Value::Character(0),
            Type::Integer => Value::Integer(0),
            Type::Real => Value::Real(0.0),
            Type::Text => Value::Text(Vec::new()),
            Type::Record(id) => {
                let fields = program.records[id.index()].fields.iter();
                Value::Record(fields.map(|(_, ty)| Value::initial(program, ty)).collect())
            }
            Type::Sequence(_) => Value::Sequence(Vec::new()),
            Type::Component(_) | Type::Any(_) => Value::Component(None),
        }
    }

    pub fn boolean(&self) -> bool {
        match self {
            Value::Boolean(x) => *x,
            other => panic!("{other:?} is no BOOLEAN"),
        }
    }

    pub fn integer(&self) -> i64 {
        match self {
            Value::Integer(x) => *x,
            other => panic!("{other:?} is no INTEGER"),
        }
    }

    pub fn character(&self) -> u8 {
        match self {
            Value::Character(x) => *x,
            other => panic!("{other:?} is no CHARACTER"),
        }
    }

    pub fn real(&self) -> f64 {
        match self {
            Value::Real(x) => *x,
            other => panic!("{other:?} is no REAL"),
        }
    }

    pub fn text(&self) -> &[u8] {
        match self {
            Value::Text(x) => x,
            other => panic!("{other:?} is no TEXT"),
        }
    }

    /// The part that a path leads to.
    pub fn part(&mut self, path: &[Part]) -> Result<&mut Value, Kind> {
        path.iter().try_fold(self, |value, part| match (value, part) {
            (Value::Record(fields), Part::Field(field)) => Ok(&mut fields[*field]),
            (Value::Sequence(elements), Part::Item(index)) => {
                let place = usize::try_from(*index).ok().and_then(|index| elements.get_mut(index));
                place.ok_or(Kind::IndexOutOfBounds)
            }
            other => panic!("{other:?} has no such parts"),
        })
    }

    pub fn sequence(&mut self) -> &mut Vec<Value> {
        match self {
            Value::Sequence(elements) => elements,
            other => panic!("{other:?} is no sequence"),
        }
    }

    pub fn key(&self) -> Key {
        match self {
            Value::Boolean(x) => Key::Boolean(*x),
            Value::Character(x) => Key::Character(*x),
            Value::Integer(x) => Key::Integer(*x),
            Value::Text(x) => Key::Text(x.clone()),
            other => panic!("{other:?} is no index"),
        }
    }

    /// The text that `WRITE` writes.
    pub fn written(&self) -> Vec<u8> {
        match self {
            Value::Boolean(x) => if *x { "TRUE" } else { "FALSE" }.into(),
            Value::Character(x) => vec![*x],
            Value::Integer(x) => x.to_string().into(),
            Value::Real(x) => real(*x).into(),
            Value::Text(x) => x.split(|&byte| byte == 0).next().unwrap_or_default().to_vec(),
            Value::Record(_) | Value::Sequence(_) | Value::Component(_) => {
                panic!("{self:?} is never written")
            }
        }
    }
}

impl Key {
    /// Whether a branch of CASE with these labels is for it.
    pub fn has_one_of(&self, labels: &[Label]) -> bool {
        labels.iter().any(|label| match (label, self) {
            (Label::Text(text), key) => *key == Key::Text(text.clone()),
            (Label::Numbers(first, last), Key::Integer(x)) => first <= x && x <= last,
            (Label::Numbers(first, last), Key::Character(x)) => (*first..=*last).contains(&i64::from(*x)),
            (Label::Numbers(first, last), Key::Boolean(x)) => (*first..=*last).contains(&i64::from(*x)),
            (Label::Numbers(..), Key::Text(_)) => false,
        })
    }

    pub fn value(&self) -> Value {
        match self {
            Key::Boolean(x) => Value::Boolean(*x),
            Key::Character(x) => Value::Character(*x),
            Key::Integer(x) => Value::Integer(*x),
            Key::Text(x) => Value::Text(x.clone()),
        }
    }

    /// The text in a component's path.
    pub fn shown(&self) -> String {
        match self {
            Key::Text(x) => format!("\"{}\"", String::from_utf8_lossy(x)),
            Key::Character(x) => format!("\"{}\"", *x as char),
            other => String::from_utf8_lossy(&other.value().written()).into_owned(),
        }
    }
}

/// The shortest form that is read back as the same number, always with a point.
fn real(x: f64) -> String {
    if x.is_nan() {
        return "NAN".into();
    }
    if x.is_infinite() {
        return if x > 0.0 { "INF" } else { "-INF" }.into();
    }
    let shortest = format!("{x:?}");
    match shortest.split_once('e') {
        Some((digits, exponent)) if digits.contains('.') => format!("{digits}E{exponent}"),
        Some((digits, exponent)) => format!("{digits}.0E{exponent}"),
        None => shortest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reals_are_written_as_the_reference_says() {
        let written: Vec<_> =
            [3.0, 1e20, 1.5e-7, f64::INFINITY, f64::NAN, -0.25].into_iter().map(real).collect();
        assert_eq!(written, ["3.0", "1.0E20", "1.5E-7", "INF", "NAN", "-0.25"]);
    }
}
