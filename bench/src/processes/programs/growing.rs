//! Programs with sizes from a thousand to ten million, of which peers have equivalents.

use super::{BYTES, COMMON, CREATION, Messages, Program};

/// One size of the curves.
pub struct Size {
    /// The number of servers.
    pub n: u32,
    /// Servers alive at the same time.
    pub bytes: Program,
    /// Servers one after another.
    pub creation: Program,
}

macro_rules! size {
    ($n:literal, $languages:expr) => {
        Size {
            n: $n,
            bytes: Program {
                row: concat!("growth ", $n, ": bytes"),
                sizes: &[("N", $n)],
                languages: $languages,
                ..BYTES
            },
            creation: Program {
                row: concat!("growth ", $n, ": creation"),
                sizes: &[("N", $n)],
                writes: Some(concat!($n, " answers\n")),
                messages: Messages::exactly(2 * $n),
                is_heavy: $n >= 1_000_000,
                languages: $languages,
                ..CREATION
            },
        }
    };
}

/// From the smallest to the largest, for which peers lack memory or time.
pub const SIZES: [Size; 5] = [
    size!(1000, COMMON.languages),
    size!(10000, COMMON.languages),
    size!(100000, COMMON.languages),
    size!(1000000, COMMON.languages),
    size!(10000000, &[]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_programs_have_the_size_that_they_are_named_for() {
        for Size { n, bytes, creation } in &SIZES {
            assert_eq!(bytes.row, format!("growth {n}: bytes"));
            assert_eq!(creation.expected().unwrap(), format!("{n} answers\n"));
            assert!(creation.messages.contains(2 * u64::from(*n)));
            assert_eq!(creation.flags(), ["-n".to_string(), n.to_string()]);
        }
    }
}
