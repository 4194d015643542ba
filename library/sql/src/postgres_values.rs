//! Values on their way to PostgreSQL and back. To the server all go as texts but bytes, so that it understands them as
//! what its columns are; back they come in its binary form. What is neither a number nor bytes becomes a text as the
//! server would write it.

use std::error::Error;
use std::fmt::Write;

use postgres::types::private::BytesMut;
use postgres::types::{Format, FromSql, IsNull, Kind, ToSql, Type, to_sql_checked};

use crate::request::Value;

/// A value for a parameter.
#[derive(Debug)]
pub struct Parameter<'a>(pub Value<'a>);

type Strange = Box<dyn Error + Sync + Send>;

impl ToSql for Parameter<'_> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Strange> {
        match self.0 {
            Value::Null => return Ok(IsNull::Yes),
            Value::Integer(x) => out.extend_from_slice(x.to_string().as_bytes()),
            Value::Real(x) => out.extend_from_slice(format!("{x:?}").as_bytes()),
            Value::Text(x) | Value::Bytes(x) => out.extend_from_slice(x),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, ty: &Type) -> Format {
        let is_binary = matches!(self.0, Value::Bytes(_)) || *ty == Type::BYTEA;
        if is_binary { Format::Binary } else { Format::Text }
    }

    to_sql_checked!();
}

/// A value in the server's binary form; `None`: NULL.
pub struct Raw<'a>(pub Option<&'a [u8]>);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Raw<'a>, Strange> {
        Ok(Raw(Some(raw)))
    }

    fn from_sql_null(_: &Type) -> Result<Raw<'a>, Strange> {
        Ok(Raw(None))
    }

    fn accepts(ty: &Type) -> bool {
        match *ty {
            Type::BOOL | Type::INT2 | Type::INT4 | Type::INT8 | Type::OID | Type::FLOAT4 | Type::FLOAT8 => {
                true
            }
            Type::BYTEA | Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN => true,
            Type::JSON | Type::JSONB | Type::XML | Type::UUID | Type::NUMERIC | Type::VOID => true,
            Type::DATE | Type::TIME | Type::TIMESTAMP | Type::TIMESTAMPTZ => true,
            _ => match ty.kind() {
                Kind::Enum(_) => true,
                Kind::Domain(of) => Raw::accepts(of),
                _ => false,
            },
        }
    }
}

/// A value that has come, of a type that [`Raw`] accepts. `made` keeps a text that is made. `None`: it isn't what its
/// type says.
pub fn as_value<'a>(ty: &Type, raw: Option<&'a [u8]>, made: &'a mut String) -> Option<Value<'a>> {
    let Some(raw) = raw else { return Some(Value::Null) };
    let integer = || {
        Some(match *raw {
            [a] => i64::from(a),
            [a, b] => i16::from_be_bytes([a, b]).into(),
            [a, b, c, d] if *ty == Type::OID => u32::from_be_bytes([a, b, c, d]).into(),
            [a, b, c, d] => i32::from_be_bytes([a, b, c, d]).into(),
            _ => i64::from_be_bytes(raw.try_into().ok()?),
        })
    };
    Some(match *ty {
        Type::BOOL | Type::INT2 | Type::INT4 | Type::INT8 | Type::OID => Value::Integer(integer()?),
        Type::FLOAT4 => Value::Real(f32::from_be_bytes(raw.try_into().ok()?).into()),
        Type::FLOAT8 => Value::Real(f64::from_be_bytes(raw.try_into().ok()?)),
        Type::BYTEA => Value::Bytes(raw),
        Type::VOID => Value::Null,
        // Before the text stands the version of its form.
        Type::JSONB => Value::Text(raw.get(1..)?),
        Type::UUID => {
            for (index, byte) in raw.iter().enumerate() {
                let dash = if matches!(index, 4 | 6 | 8 | 10) { "-" } else { "" };
                write!(made, "{dash}{byte:02x}").ok()?;
            }
            Value::Text(made.as_bytes())
        }
        Type::NUMERIC => {
            numeric(raw, made)?;
            Value::Text(made.as_bytes())
        }
        Type::DATE => {
            match integer()? as i32 {
                i32::MAX => made.push_str("infinity"),
                i32::MIN => made.push_str("-infinity"),
                days => date(days.into(), made),
            }
            Value::Text(made.as_bytes())
        }
        Type::TIME => {
            time(integer()?, made);
            Value::Text(made.as_bytes())
        }
        Type::TIMESTAMP | Type::TIMESTAMPTZ => {
            match integer()? {
                i64::MAX => made.push_str("infinity"),
                i64::MIN => made.push_str("-infinity"),
                microseconds => moment(microseconds, *ty == Type::TIMESTAMPTZ, made),
            }
            Value::Text(made.as_bytes())
        }
        _ => match ty.kind() {
            Kind::Domain(of) => return as_value(of, Some(raw), made),
            _ => Value::Text(raw),
        },
    })
}

const DAY: i64 = 86_400_000_000;

/// So many microseconds since 2000; a moment of the world is written as in London in winter.
fn moment(microseconds: i64, has_zone: bool, out: &mut String) {
    let days = microseconds.div_euclid(DAY);
    let mut day = String::new();
    date(days, &mut day);
    let day = day.strip_suffix(" BC").map_or((&*day, ""), |day| (day, " BC"));
    out.push_str(day.0);
    out.push(' ');
    time(microseconds.rem_euclid(DAY), out);
    out.push_str(if has_zone { "+00" } else { "" });
    out.push_str(day.1);
}

/// So many microseconds since midnight.
fn time(microseconds: i64, out: &mut String) {
    let (seconds, part) = (microseconds / 1_000_000, microseconds % 1_000_000);
    // Writing to a String doesn't fail.
    let _ = write!(out, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if part != 0 {
        out.push_str(format!(".{part:06}").trim_end_matches('0'));
    }
}

/// So many days since 2000, by the Gregorian calendar: years are counted from March, so that leap days come last.
fn date(days: i64, out: &mut String) {
    let days = days + 730_425;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let year = year + 400 * era + i64::from(month >= 10);
    let month = if month < 10 { month + 3 } else { month - 9 };
    let (year, suffix) = if year > 0 { (year, "") } else { (1 - year, " BC") };
    let _ = write!(out, "{year:04}-{month:02}-{day:02}{suffix}");
}

/// A number of any length: groups of four digits.
fn numeric(raw: &[u8], out: &mut String) -> Option<()> {
    let word = |index: usize| Some(u16::from_be_bytes(raw.get(2 * index..2 * index + 2)?.try_into().ok()?));
    let (count, weight, sign, scale) = (i32::from(word(0)?), i32::from(word(1)? as i16), word(2)?, word(3)?);
    match sign {
        0 => {}
        0x4000 => out.push('-'),
        0xD000 => out.push_str("Infinity"),
        0xF000 => out.push_str("-Infinity"),
        _ => out.push_str("NaN"),
    }
    if sign > 0x4000 {
        return Some(());
    }
    let group = |place: i32| -> Option<u16> {
        let index = weight - place;
        if (0..count).contains(&index) { word(4 + index as usize) } else { Some(0) }
    };
    for place in (0..=weight.max(0)).rev() {
        let group = group(place)?;
        let is_first = place == weight.max(0);
        let _ = if is_first { write!(out, "{group}") } else { write!(out, "{group:04}") };
    }
    if scale > 0 {
        let mut digits = String::new();
        for place in 1..=i32::from(scale.div_ceil(4)) {
            let _ = write!(digits, "{:04}", group(-place)?);
        }
        out.push('.');
        out.push_str(&digits[..scale.into()]);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(write: impl FnOnce(&mut String)) -> String {
        let mut text = String::new();
        write(&mut text);
        text
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (days, expected) in [
            (0, "2000-01-01"),
            (-1, "1999-12-31"),
            (59, "2000-02-29"),
            (60, "2000-03-01"),
            (366 + 59, "2001-03-01"),
            (-730_119, "0001-01-01"),
            (-730_120, "0001-12-31 BC"),
            (9_530, "2026-02-03"),
        ] {
            assert_eq!(shown(|out| date(days, out)), expected, "{days}");
        }
        assert_eq!(shown(|out| moment(-1, true, out)), "1999-12-31 23:59:59.999999+00");
        assert_eq!(shown(|out| moment(3_600_500_000, false, out)), "2000-01-01 01:00:00.5");
    }

    #[test]
    fn numbers_of_any_length_are_written() {
        let of = |words: &[u16]| {
            let raw: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
            shown(|out| numeric(&raw, out).expect("it is whole"))
        };
        assert_eq!(of(&[0, 0, 0, 0]), "0");
        assert_eq!(of(&[2, 0, 0, 2, 12, 3400]), "12.34");
        assert_eq!(of(&[1, 1, 0x4000, 0, 7]), "-70000");
        assert_eq!(of(&[1, 0xFFFF, 0, 5, 12]), "0.00120");
        assert_eq!(of(&[0, 0, 0xC000, 0]), "NaN");
        assert!(numeric(&[0, 9, 0, 0], &mut String::new()).is_none());
    }
}
