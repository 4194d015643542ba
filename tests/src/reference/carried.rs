//! Procedures of crates (`PROCEDURE {NATIVE}`). What they do is the library's; how values get there and back is told
//! here once more.

use std::borrow::Cow;

use drystone_component::form::{self, Form};
use drystone_component::wire::{Reader, put_opaque, put_u32, put_u64};
use drystone_library::PORTABLE;
use drystone_runtime::native::{AnyValue, Arguments, Passed};

use super::outcome::Kind;
use super::value::Value;

/// Calls a procedure. Its arguments become what the procedure leaves there; gives its result. Those for `ANY` have a
/// form.
pub(super) fn call(
    name: &str,
    arguments: &mut [Value],
    forms: &[Option<String>],
) -> Result<Option<Value>, Kind> {
    let carried = [&PORTABLE, &drystone_library::ADDITION].into_iter().flat_map(|it| it.procedures);
    let found = carried.into_iter().find(|procedure| procedure.name == name);
    let procedure = found.unwrap_or_else(|| panic!("the library has no {name}"));
    let pairs = arguments.iter().cloned().zip(forms);
    let mut passed: Vec<Passed> = pairs.map(|(value, form)| passed(value, form.as_deref())).collect();
    let result = (procedure.code)(&mut Arguments::new(&mut passed)).map_err(|_| Kind::InvalidArgument)?;
    for (argument, passed) in arguments.iter_mut().zip(passed) {
        *argument = value(passed).expect("an argument stays one");
    }
    Ok(value(result))
}

fn passed<'f>(value: Value, form: Option<&'f str>) -> Passed<'f> {
    if let Some(form) = form {
        let mut bytes = Vec::new();
        encode(&value, &mut bytes);
        return Passed::Any(AnyValue { form, bytes });
    }
    match value {
        Value::Boolean(x) => Passed::Boolean(x),
        Value::Character(x) => Passed::Character(x),
        Value::Integer(x) => Passed::Integer(x),
        Value::Real(x) => Passed::Real(x),
        Value::Text(x) => Passed::Text(Cow::Owned(x)),
        other => panic!("{other:?} is not passed to a NATIVE procedure"),
    }
}

fn value(passed: Passed<'_>) -> Option<Value> {
    Some(match passed {
        Passed::Nothing => return None,
        Passed::Boolean(x) => Value::Boolean(x),
        Passed::Character(x) => Value::Character(x),
        Passed::Integer(x) => Value::Integer(x),
        Passed::Real(x) => Value::Real(x),
        Passed::Text(x) => Value::Text(x.into_owned()),
        Passed::Any(AnyValue { form, bytes }) => {
            decode(Form::new(form), &mut Reader::new(&bytes)).expect("it is of that form")
        }
    })
}

/// Adds a value as XDR.
fn encode(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Boolean(x) => put_u32(out, u32::from(*x)),
        Value::Character(x) => put_u32(out, u32::from(*x)),
        Value::Integer(x) => put_u64(out, *x as u64),
        Value::Real(x) => put_u64(out, x.to_bits()),
        Value::Text(x) => put_opaque(out, x),
        Value::Record(fields) if fields.is_empty() => put_u32(out, 0),
        Value::Record(fields) => fields.iter().for_each(|field| encode(field, out)),
        Value::Sequence(elements) => {
            put_u32(out, elements.len() as u32);
            elements.iter().for_each(|element| encode(element, out));
        }
        Value::Component(_) => panic!("a component is not passed to a NATIVE procedure"),
    }
}

fn decode(form: Form<'_>, bytes: &mut Reader<'_>) -> Result<Value, String> {
    Ok(match form.kind() {
        form::Kind::Boolean => Value::Boolean(bytes.word("")? != 0),
        form::Kind::Character => Value::Character(bytes.word("")? as u8),
        form::Kind::Integer => Value::Integer(bytes.hyper("")? as i64),
        form::Kind::Real => Value::Real(f64::from_bits(bytes.hyper("")?)),
        form::Kind::Text => Value::Text(bytes.opaque("")?.to_vec()),
        form::Kind::Sequence(element) => {
            let count = bytes.word("")?;
            Value::Sequence((0..count).map(|_| decode(element, bytes)).collect::<Result<_, _>>()?)
        }
        form::Kind::Record(fields) if fields.count() == 0 => {
            bytes.word("")?;
            Value::Record(Vec::new())
        }
        form::Kind::Record(fields) => {
            Value::Record(fields.map(|(_, form)| decode(form, bytes)).collect::<Result<_, _>>()?)
        }
    })
}
