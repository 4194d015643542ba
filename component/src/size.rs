//! Amounts of memory, as people write them on a command line or in an environment variable.

/// The bytes that `text` stands for: a number of them, or of 1024 (`64K`), 1024² (`200M`) or 1024³ (`1G`), with a small
/// letter too. `None` if it is no such amount, or more than fits.
pub fn bytes(text: &str) -> Option<usize> {
    let (digits, unit) = match text.as_bytes().split_last()? {
        (b'K' | b'k', digits) => (digits, 1 << 10),
        (b'M' | b'm', digits) => (digits, 1 << 20),
        (b'G' | b'g', digits) => (digits, 1 << 30),
        _ => (text.as_bytes(), 1),
    };
    let is_number = digits.iter().all(u8::is_ascii_digit);
    let number = str::from_utf8(digits).ok().filter(|_| is_number)?;
    number.parse::<usize>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::bytes;

    #[test]
    fn a_letter_stands_for_a_power_of_1024() {
        let amounts = ["0", "4096", "64K", "64k", "200M", "1g", "007m"];
        let expected = [0, 4096, 65_536, 65_536, 209_715_200, 1_073_741_824, 7_340_032];
        assert_eq!(amounts.map(bytes), expected.map(Some));
    }

    #[test]
    fn anything_else_is_no_amount() {
        let most = usize::MAX.to_string();
        assert_eq!(bytes(&most), Some(usize::MAX));
        for text in
            ["", "M", "-1", "+1", "1.5G", "1 K", "K1", "1KB", "1T", "1µ", "99999999999G", &(most + "0")]
        {
            assert_eq!(bytes(text), None, "{text}");
        }
    }
}
