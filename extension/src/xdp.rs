//! Linux's numbers that handlers are made of: verdicts, helpers, and where the fields of the context are.
//!
//! Engines and the compiler of responders take them from here. C has them in `handler.h`, which a test compares.

/// What becomes of a message: `enum xdp_action`.
pub const DROP: u32 = 1;
pub const PASS: u32 = 2;
pub const TRANSMIT: u32 = 3;

/// Helpers: `enum bpf_func_id`.
pub const LOOKUP: u32 = 1;
pub const UPDATE: u32 = 2;
pub const DELETE: u32 = 3;
pub const TIME: u32 = 5;
pub const RANDOM: u32 = 7;
pub const PROCESSOR: u32 = 8;
pub const ADJUST_HEAD: u32 = 44;
pub const ADJUST_TAIL: u32 = 65;
pub const OUTPUT: u32 = 130;
pub const LOAD_BYTES: u32 = 189;
pub const STORE_BYTES: u32 = 190;

/// Where a field of `struct xdp_md` is, which has 32 bits.
pub mod context {
    pub const DATA: u32 = 0;
    pub const DATA_END: u32 = 4;
    pub const INTERFACE: u32 = 12;
    pub const QUEUE: u32 = 16;
    pub const EGRESS: u32 = 20;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::vec::Vec;

    use super::*;

    const HEADER: &str = include_str!("../include/drystone/handler.h");

    /// What stands between two strings.
    fn between<'a>(text: &'a str, begin: &str, end: &str) -> Option<&'a str> {
        text.split_once(begin)?.1.split_once(end).map(|(found, _)| found)
    }

    #[test]
    fn the_header_has_these_verdicts() {
        let verdicts =
            between(HEADER, "ABORTED = 0,", "};").expect("the header has an enumeration of verdicts");
        let numbers: Vec<(&str, u32)> = (verdicts.lines())
            .filter_map(|line| line.trim().split_once(" = "))
            .map(|(name, rest)| (name, rest.split(',').next().unwrap().parse().unwrap()))
            .collect();
        assert_eq!(numbers, [("DROP", DROP), ("PASS", PASS), ("TRANSMIT", TRANSMIT)]);
    }

    #[test]
    fn the_header_calls_these_helpers() {
        let numbers: BTreeMap<&str, u32> = HEADER
            .lines()
            .filter_map(|line| {
                Some((between(line, "(*const ", ")")?, between(line, "(void *)", ";")?.parse().ok()?))
            })
            .collect();
        let expected = [
            ("look_up", LOOKUP),
            ("put", UPDATE),
            ("take_out", DELETE),
            ("time_now", TIME),
            ("random_number", RANDOM),
            ("adjust_head", ADJUST_HEAD),
            ("adjust_tail", ADJUST_TAIL),
            ("put_bytes", STORE_BYTES),
            ("say", OUTPUT),
        ];
        assert_eq!(numbers, BTreeMap::from(expected));
    }

    #[test]
    fn the_header_has_the_context_laid_out_so() {
        let fields = between(HEADER, "struct message {", "};").expect("the header has the context");
        let names =
            fields.lines().filter_map(|line| between(line, "u32 ", ";")).flat_map(|it| it.split(", "));
        let places: BTreeMap<&str, u32> = names.zip((0..).step_by(4)).collect();
        use context::*;
        let expected = [
            ("data", DATA),
            ("data_end", DATA_END),
            ("interface", INTERFACE),
            ("queue", QUEUE),
            ("egress", EGRESS),
        ];
        assert_eq!(places.len(), expected.len() + 1);
        assert!(expected.iter().all(|(name, place)| places.get(name) == Some(place)), "{places:?}");
    }
}
