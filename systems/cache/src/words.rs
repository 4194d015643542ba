//! Parses words and numbers as memcached does: numbers like C's library.

/// A line's words. Like a C string, a line ends at a 0.
pub fn of(line: &[u8]) -> Vec<&[u8]> {
    let line = line.split(|byte| *byte == 0).next().unwrap_or_default();
    line.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).collect()
}

fn is_space(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

/// A sign and digits up to the word's end or a space. `None` also for more than 64 bits.
fn whole(word: &[u8]) -> Option<(bool, u64)> {
    let begin = word.iter().position(|byte| !is_space(byte))?;
    let (is_negative, digits) = match word[begin..].split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, &word[begin..]),
    };
    let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_end = digits.get(count).is_none_or(|byte| is_space(byte) || *byte == 0);
    let number = digits[..count]
        .iter()
        .try_fold(0u64, |number, digit| number.checked_mul(10)?.checked_add(u64::from(digit - b'0')))?;
    (count > 0 && is_end).then_some((is_negative, number))
}

/// As `strtol`, of whose result memcached takes the lower 32 bits.
pub fn signed(word: &[u8]) -> Option<i32> {
    let (is_negative, number) = whole(word)?;
    let number = i64::try_from(number).ok()?;
    Some(if is_negative { -number } else { number } as i32)
}

/// As `strtoull`: a small negative number becomes a large one, which is refused.
pub fn unsigned(word: &[u8]) -> Option<u64> {
    let (is_negative, number) = whole(word)?;
    let value = if is_negative { number.wrapping_neg() } else { number };
    let is_wrapped = (value as i64) < 0 && word.contains(&b'-');
    (!is_wrapped).then_some(value)
}

/// A client's flags for an item: the lower 32 bits.
pub fn flags(word: &[u8]) -> Option<u32> {
    unsigned(word).map(|number| number as u32)
}

#[cfg(test)]
mod tests {
    use super::{flags, of, signed, unsigned};

    #[test]
    fn numbers_are_as_c_reads_them() {
        assert_eq!(
            [&b"12"[..], b"-3", b"+4", b"\t5", b"6\tx", b"2147483647"].map(signed),
            [12, -3, 4, 5, 6, i32::MAX].map(Some)
        );
        assert_eq!([&b""[..], b"-", b"x", b"1x", b"99999999999999999999"].map(signed), [None; 5]);
        assert_eq!(
            [&b"18446744073709551615"[..], b"-18446744073709551615", b"-0"].map(unsigned),
            [u64::MAX, 1, 0].map(Some)
        );
        assert_eq!([&b"-1"[..], b"18446744073709551616", b""].map(unsigned), [None; 3]);
        assert_eq!(
            [flags(b"4294967295"), flags(b"4294967297"), flags(b"-1")],
            [Some(u32::MAX), Some(1), None]
        );
        assert_eq!(of(b" a  b\0c d"), [b"a", b"b"]);
    }
}
