//! Times in master files: seconds, or numbers with units.

/// The seconds of a time such as `1w2d3h4m5s`; a number without a unit is seconds. `None` if it is no time, or longer
/// than RFC 2181 allows.
pub fn read(word: &str) -> Option<u32> {
    let (mut sum, mut number) = (0u64, None::<u64>);
    if !word.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    for letter in word.bytes() {
        let unit = match letter.to_ascii_lowercase() {
            digit @ b'0'..=b'9' => {
                number = Some(number.unwrap_or(0).checked_mul(10)?.checked_add(u64::from(digit - b'0'))?);
                continue;
            }
            b's' => 1,
            b'm' => 60,
            b'h' => 60 * 60,
            b'd' => 60 * 60 * 24,
            b'w' => 60 * 60 * 24 * 7,
            _ => return None,
        };
        sum = sum.checked_add(number.take()?.checked_mul(unit)?)?;
    }
    let seconds = u32::try_from(sum.checked_add(number.unwrap_or(0))?).ok()?;
    (seconds <= i32::MAX as u32).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn times_have_units() {
        let told = ["0", "3600", "1h", "1H30m", "1w2d3h4m5s", "2d7", "2147483647"].map(read);
        assert_eq!(told, [0, 3600, 3600, 5400, 788_645, 172_807, 2_147_483_647].map(Some));
        for wrong in ["", "h", "1x", "1hh", "-1", "2147483648", "99999999999999999999w", "1 h", "A"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
