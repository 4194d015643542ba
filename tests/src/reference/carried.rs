//! Procedures of crates (`PROCEDURE {NATIVE}`). What they do is the library's; how values get there and back is told
//! here once more.

use std::borrow::Cow;

use drystone_library::PORTABLE;
use drystone_runtime::native::{Arguments, Passed};

use super::outcome::Kind;
use super::value::Value;

/// Calls a procedure. Its arguments become what the procedure leaves there; gives its result.
pub(super) fn call(name: &str, arguments: &mut [Value]) -> Result<Option<Value>, Kind> {
    let carried = [&PORTABLE, &drystone_library::ADDITION].into_iter().flat_map(|it| it.procedures);
    let found = carried.into_iter().find(|procedure| procedure.name == name);
    let procedure = found.unwrap_or_else(|| panic!("the library has no {name}"));
    let mut passed: Vec<Passed> = arguments.iter().cloned().map(passed).collect();
    let result = (procedure.code)(&mut Arguments::new(&mut passed)).map_err(|_| Kind::InvalidArgument)?;
    for (argument, passed) in arguments.iter_mut().zip(passed) {
        *argument = value(passed).expect("an argument stays one");
    }
    Ok(value(result))
}

fn passed(value: Value) -> Passed<'static> {
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
    })
}
