//! The same tests with few fields and few values, so that filters overlap, fields lie behind headers of variable
//! length, and packets end everywhere.

use alloc::vec::Vec;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::super::*;
use super::filters::{Action, All};

fn cell() -> impl Strategy<Value = Cell> {
    let behind = |header, offset, size| Cell::Behind { header, offset, size };
    prop::sample::select(alloc::vec![
        Cell::half(0),
        Cell::byte(2),
        Cell::word(1),
        Cell::byte(4),
        behind(0, 1, Size::Byte),
        behind(0, 2, Size::Half),
        behind(1, 1, Size::Byte),
        behind(1, 3, Size::Half),
        behind(3, 0, Size::Byte),
        Cell::Length,
    ])
}

fn value(cell: Cell) -> impl Strategy<Value = u32> {
    prop::array::uniform4(0..3u32).prop_map(move |[a, b, c, d]| match cell {
        Cell::Length => a * 9 + b * 3 + c,
        _ => (a << 24 | b << 16 | c << 8 | d) & cell.mask(),
    })
}

fn test() -> impl Strategy<Value = Test> {
    let mask = prop_oneof![6 => Just(u32::MAX), 1 => Just(0x0101_0101u32), 1 => Just(0xff)];
    let kind = prop::sample::select(alloc::vec![0, 0, 0, 1, 2]);
    (cell(), mask, kind).prop_flat_map(|(cell, mask, kind)| {
        (value(cell), value(cell)).prop_map(move |(one, other)| {
            let condition = match kind {
                0 => Condition::Is(one & mask),
                1 => Condition::IsNot(one & mask),
                _ => Condition::Between(one.min(other), one.max(other)),
            };
            Test { cell, mask, condition }
        })
    })
}

fn action() -> impl Strategy<Value = Action> {
    let priority = prop_oneof![8 => Just(0), 1 => -1..2i32];
    let filter = prop::collection::vec(test(), 0..4).prop_map(Filter::all_of);
    prop_oneof![
        5 => (priority, filter).prop_map(|(priority, filter)| Action::Insert(priority, filter)),
        1 => any::<usize>().prop_map(Action::Remove),
    ]
}

fn packet() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(0..3u8, 0..20)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2 * super::cases()))]

    #[test]
    fn who_wins_in_a_small_world_is_who_would_in_a_list(
        actions in prop::collection::vec(action(), 1..40),
        packets in prop::collection::vec(packet(), 100),
    ) {
        let mut all = All::new();
        for (action, packet) in actions.iter().zip(&packets) {
            all.act(action);
            all.agree_on(packet)?;
        }
        for packet in &packets {
            all.agree_on(packet)?;
        }
    }
}

#[test]
fn one_shape_may_have_fields_behind_several_headers() {
    let byte = |header, offset| Cell::Behind { header, offset, size: Size::Byte };
    let mut all = All::new();
    for number in 0..81 {
        let digit = |place| number / 3u32.pow(place) % 3;
        let tests = [
            Test::is(byte(0, 1), digit(0)),
            Test::is(byte(1, 2), digit(1)),
            Test::is_not(byte(0, 2), digit(2)),
            Test::between(byte(1, 1), digit(3) / 2, digit(3)),
        ];
        all.act(&Action::Insert(0, Filter::all_of(tests)));
    }
    let mut runner = TestRunner::deterministic();
    for _ in 0..10_000 {
        all.agree_on(&packet().new_tree(&mut runner).unwrap().current()).unwrap();
    }
}
