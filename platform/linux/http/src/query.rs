//! A message's parameters in a URL: `?key=abc&n=3`.

use std::borrow::Cow;

use drystone_component::{Parameter, Type};
use percent_encoding::percent_decode;

use super::json;
use drystone_net::datum::Datum;

/// Reads all parameters, and nothing else.
///
/// # Errors
/// A sentence says what is wrong.
pub(super) fn read(query: &str, parameters: &'static [Parameter]) -> Result<Vec<Datum<'static>>, String> {
    let mut values: Vec<Option<Datum<'static>>> = parameters.iter().map(|_| None).collect();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (name, value) = (decoded(name), decoded(value));
        let index = parameters.iter().position(|parameter| parameter.name.get().as_bytes() == name);
        let index =
            index.ok_or_else(|| format!("there is no parameter {}", String::from_utf8_lossy(&name)))?;
        let given = read_value(value, &parameters[index])?;
        if values[index].replace(given).is_some() {
            return Err(format!("{} is there twice", parameters[index].name.get()));
        }
    }
    let missing = |parameter: &Parameter| format!("{} is missing", parameter.name.get());
    values.into_iter().zip(parameters).map(|(value, it)| value.ok_or_else(|| missing(it))).collect()
}

/// Decodes what HTML forms encode.
fn decoded(text: &str) -> Vec<u8> {
    percent_decode(text.replace('+', " ").as_bytes()).collect()
}

fn read_value(bytes: Vec<u8>, parameter: &'static Parameter) -> Result<Datum<'static>, String> {
    let name = parameter.name.get();
    let text = String::from_utf8_lossy(&bytes);
    // Values other than texts are written as in JSON.
    let json = match parameter.ty {
        Type::Text => return Ok(Datum::Text(Cow::Owned(bytes))),
        Type::Character => serde_json::json!(text).to_string(),
        Type::Real if text.starts_with(|c: char| c.is_alphabetic()) || text.starts_with("-I") => {
            serde_json::json!(text).to_string()
        }
        _ => text.to_string(),
    };
    let value = json::read_value(json.as_bytes(), parameter);
    value.map(Datum::into_owned).map_err(|_| format!("{name} can't be {text}"))
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn values_are_written_as_in_forms() {
        let text = |bytes: &'static [u8]| Datum::Text(Cow::Borrowed(bytes));
        let wanted = vec![
            Datum::Boolean(true),
            Datum::Character(0xe9),
            Datum::Integer(-7),
            Datum::Real(0.5),
            text(b"a b&+\xff"),
        ];
        assert_eq!(read("t=a+b%26%2b%ff&b=true&c=%C3%A9&i=-7&r=0.5", &ALL), Ok(wanted));
        assert_eq!(read("t", &ALL[4..]), Ok(vec![text(b"")]));
        assert_eq!(read("", &[]), Ok(vec![]));
        assert!(
            matches!(read("r=-Infinity", &ALL[3..4]).as_deref(), Ok([Datum::Real(x)]) if *x == f64::NEG_INFINITY)
        );
        assert_eq!(read("c=%22", &ALL[1..2]), Ok(vec![Datum::Character(b'"')]));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let refused = |query, parameters| read(query, parameters).unwrap_err();
        assert_eq!(refused("i=1&i=2", &ALL[2..3]), "i is there twice");
        assert_eq!(refused("", &ALL[2..3]), "i is missing");
        assert_eq!(refused("x=1", &ALL[2..3]), "there is no parameter x");
        for wrong in ["i=", "i=1.5", "i=a", "i=1,\"i\":2", "i=9223372036854775808", "i=\"1\""] {
            assert!(refused(wrong, &ALL[2..3]).starts_with("i can't be "), "{wrong}");
        }
        assert_eq!(refused("b=1", &ALL[..1]), "b can't be 1");
        assert_eq!(refused("c=ab", &ALL[1..2]), "c can't be ab");
    }
}
