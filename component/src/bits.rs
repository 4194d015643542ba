//! SHIFT and ROTATE of the 64 bits of an INTEGER, for the compiler's constants and for shipped code alike.

/// `SHIFT(x, n)`: by n to the left, or by -n to the right. Zeros come in on both sides; bits that fall out are lost.
pub fn shift(x: i64, n: i64) -> i64 {
    let distance = u32::try_from(n.unsigned_abs()).unwrap_or(u32::MAX);
    let bits = x as u64;
    let shifted = if n < 0 { bits.checked_shr(distance) } else { bits.checked_shl(distance) };
    shifted.unwrap_or(0) as i64
}

/// `ROTATE(x, n)`: by n to the left, or by -n to the right; bits that fall out come in on the other side.
pub fn rotate(x: i64, n: i64) -> i64 {
    x.rotate_left(n.rem_euclid(64) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifting_by_64_or_more_leaves_nothing() {
        let shifted = [63, 64, 65, i64::MAX, -63, -64, i64::MIN, 0].map(|n| shift(-1, n));
        assert_eq!(shifted, [i64::MIN, 0, 0, 0, 1, 0, 0, -1]);
        assert_eq!(shift(1, 1 << 32), 0);
    }

    #[test]
    fn rotating_counts_modulo_64() {
        let rotated = [1, 64, 65, -1, -65, i64::MIN].map(|n| rotate(3, n));
        assert_eq!(rotated, [6, 3, 6, i64::MIN + 1, i64::MIN + 1, 3]);
    }
}
