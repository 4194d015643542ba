//! Calendars and time zones. An instant is a number of milliseconds since 1970, as `SystemTime` gives it.

use alloc::string::{String, ToString};
use core::str;

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp, Zoned};

/// The zone of a name: "UTC", one of the database such as "Europe/Zurich", or an offset such as "+02:00".
fn zone(name: &[u8]) -> Result<TimeZone, String> {
    let unknown = || alloc::format!("there is no time zone \"{}\"", String::from_utf8_lossy(name));
    let text = str::from_utf8(name).map_err(|_| unknown())?;
    if text.starts_with(['+', '-']) {
        return offset(text).map(TimeZone::fixed).ok_or_else(unknown);
    }
    TimeZone::get(text).map_err(|_| unknown())
}

/// `+hh:mm`
fn offset(text: &str) -> Option<jiff::tz::Offset> {
    let (hours, minutes) = text[1..].split_once(':')?;
    let two = |digits: &str| (digits.len() == 2).then(|| digits.parse::<u8>().ok()).flatten();
    let (hours, minutes) = (i32::from(two(hours)?), i32::from(two(minutes)?));
    let seconds = hours * 3600 + minutes * 60;
    let is_right = hours < 24 && minutes < 60;
    let seconds = if text.starts_with('-') { -seconds } else { seconds };
    is_right.then(|| jiff::tz::Offset::from_seconds(seconds).ok()).flatten()
}

fn at(instant: i64, name: &[u8]) -> Result<Zoned, String> {
    let timestamp = Timestamp::from_millisecond(instant).map_err(|error| error.to_string())?;
    Ok(timestamp.to_zoned(zone(name)?))
}

pub(crate) fn is_zone(name: &[u8]) -> bool {
    zone(name).is_ok()
}

/// A field of an instant in a zone, by its number: as `Time.dry` has them.
pub(crate) fn field(instant: i64, name: &[u8], number: i64) -> Result<i64, String> {
    let at = at(instant, name)?;
    Ok(match number {
        0 => i64::from(at.year()),
        1 => i64::from(at.month()),
        2 => i64::from(at.day()),
        3 => i64::from(at.hour()),
        4 => i64::from(at.minute()),
        5 => i64::from(at.second()),
        6 => i64::from(at.millisecond()),
        7 => i64::from(at.weekday().to_monday_one_offset()),
        8 => i64::from(at.day_of_year()),
        9 => i64::from(at.offset().seconds()) / 60,
        _ => return Err(alloc::format!("a time has no field {number}")),
    })
}

/// The instant of a date and of milliseconds since midnight on the clock; false if there is no such date. A time that
/// the clock skips is read as if it hadn't; of two the first one is meant.
pub(crate) fn instant(
    name: &[u8],
    year: i64,
    month: i64,
    day: i64,
    milliseconds: i64,
    instant: &mut i64,
) -> Result<bool, String> {
    let zone = zone(name)?;
    let small = |number| i8::try_from(number).ok();
    let found = || {
        let date = Date::new(i16::try_from(year).ok()?, small(month)?, small(day)?).ok()?;
        let milliseconds = (0..86_400_000).contains(&milliseconds).then_some(milliseconds)?;
        let time = Time::midnight().checked_add(SignedDuration::from_millis(milliseconds)).ok()?;
        date.to_datetime(time).to_zoned(zone.clone()).ok()
    };
    let found = found();
    if let Some(found) = &found {
        *instant = found.timestamp().as_millisecond();
    }
    Ok(found.is_some())
}

/// Months and days later on the calendar of a zone, at the same time on the clock.
pub(crate) fn added(instant: i64, name: &[u8], months: i64, days: i64) -> Result<i64, String> {
    let span = Span::new().try_months(months).and_then(|span| span.try_days(days));
    let later = span.and_then(|span| {
        at(instant, name)
            .map(|at| at.checked_add(span))
            .unwrap_or_else(|why| Err(jiff::Error::from_args(format_args!("{why}"))))
    });
    later.map(|later| later.timestamp().as_millisecond()).map_err(|error| error.to_string())
}

pub(crate) fn formatted(instant: i64, name: &[u8], pattern: &[u8]) -> Result<String, String> {
    let pattern = str::from_utf8(pattern).map_err(|_| "the pattern is no UTF-8")?;
    let at = at(instant, name)?;
    jiff::fmt::strtime::format(pattern, &at).map_err(|error| error.to_string())
}

/// As RFC 3339 has it, with the zone's offset and as many digits as the milliseconds need.
pub(crate) fn rfc3339(instant: i64, name: &[u8]) -> Result<String, String> {
    let at = at(instant, name)?;
    let offset = at.offset();
    if offset == jiff::tz::Offset::UTC {
        return Ok(at.timestamp().to_string());
    }
    Ok(at.timestamp().display_with_offset(offset).to_string())
}

pub(crate) fn of_rfc3339(text: &[u8], instant: &mut i64) -> bool {
    let parsed = str::from_utf8(text).ok().and_then(|text| text.parse::<Timestamp>().ok());
    if let Some(found) = parsed {
        *instant = found.as_millisecond();
    }
    parsed.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_that_are_put_forward_and_back_are_known() {
        let mut at = 0;
        // 2026-03-29: 02:30 does not exist in Zurich, and is read as 03:30 of summer.
        assert_eq!(instant(b"Europe/Zurich", 2026, 3, 29, 9_000_000, &mut at), Ok(true));
        assert_eq!(rfc3339(at, b"Europe/Zurich").as_deref(), Ok("2026-03-29T03:30:00+02:00"));
        assert_eq!(instant(b"Europe/Zurich", 2026, 10, 25, 9_000_000, &mut at), Ok(true));
        assert_eq!(rfc3339(at, b"Europe/Zurich").as_deref(), Ok("2026-10-25T02:30:00+02:00"));
        assert_eq!(added(at, b"Europe/Zurich", 0, 1).map(|next| next - at), Ok(25 * 3_600_000));
        assert_eq!(instant(b"UTC", 2026, 2, 29, 0, &mut at), Ok(false));
        assert_eq!(instant(b"UTC", 2026, 2, 2, 86_400_000, &mut at), Ok(false));
        assert!(instant(b"Atlantis", 2026, 2, 2, 0, &mut at).is_err());
    }

    #[test]
    fn months_have_their_length() {
        let mut at = 0;
        assert!(of_rfc3339(b"2024-01-31T12:00:00.5Z", &mut at));
        let next = added(at, b"UTC", 1, 0).expect("it is there");
        assert_eq!(rfc3339(next, b"UTC").as_deref(), Ok("2024-02-29T12:00:00.5Z"));
        assert!(added(at, b"UTC", i64::MAX, 0).is_err() && added(i64::MAX, b"UTC", 0, 0).is_err());
        assert_eq!((field(at, b"UTC", 7), field(at, b"+05:30", 9)), (Ok(3), Ok(330)));
        assert_eq!(formatted(at, b"UTC", b"%a %d %b %Y").as_deref(), Ok("Wed 31 Jan 2024"));
        assert!(formatted(at, b"UTC", b"%!").is_err());
    }

    #[test]
    fn what_is_no_time_is_refused() {
        let mut at = 0;
        for wrong in [&b""[..], b"2024-01-31", b"2024-13-01T00:00:00Z", b"\xff", b"2024-01-31T12:00:00"] {
            assert!(!of_rfc3339(wrong, &mut at), "{wrong:?}");
        }
        assert!(!is_zone(b"+25:00") && !is_zone(b"-1:00") && !is_zone(b"+\xc3\xa4:00") && is_zone(b"-08:00"));
    }
}
