//! Abstract arithmetic contains the results of concrete arithmetic.

use alloc::{format, vec};

use proptest::prelude::*;

use super::super::bits::Bits;
use super::super::compare;
use super::super::number::Number;
use super::arithmetic as machine;
use crate::bytecode::{Alu, Condition, Order, Size, Width};

/// Numbers near the ends of ranges are more likely.
fn any_number() -> impl Strategy<Value = u64> {
    let edges =
        [0u64, 1, 2, 7, 8, 63, 64, 0x7f, 0x80, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1 << 32];
    let edge = (proptest::sample::select(edges.to_vec()), -2i64..3, any::<bool>());
    prop_oneof![
        any::<u64>(),
        edge.prop_map(|(edge, apart, negative)| {
            let number = (edge as i64).wrapping_add(apart);
            (if negative { number.wrapping_neg() } else { number }) as u64
        }),
        (0u32..64, any::<u64>()).prop_map(|(shift, number)| number >> shift),
        proptest::sample::select(vec![1u64 << 63, u64::MAX >> 1, u64::MAX]),
    ]
}

/// A number, and something that contains it.
fn known() -> impl Strategy<Value = (u64, Number)> {
    let shapes = (any_number(), any_number(), any_number(), any::<u64>(), 0u8..7);
    shapes.prop_map(|(number, one, other, mask, shape)| {
        let known = match shape {
            0 => Number::exactly(number),
            1 => Number::between(number.min(one), number.max(one)),
            2 => {
                let (number, one) = (number as i64, one as i64);
                Number::between_signed(number.min(one), number.max(one))
            }
            3 => Number::of_bits(Bits { value: number & !mask, unknown: mask }),
            4 => Number::exactly(number).join(Number::exactly(one)).join(Number::exactly(other)),
            5 => {
                let range = Number::between(number.min(one), number.max(one));
                range.meet(Number::of_bits(Bits { value: number & !mask, unknown: mask })).unwrap()
            }
            _ => {
                let signed = Number::between_signed(
                    (number as i64).min(other as i64),
                    (number as i64).max(other as i64),
                );
                signed.meet(Number::between(number.min(one), number.max(one))).unwrap()
            }
        };
        (number, known)
    })
}

fn width(narrow: bool) -> Width {
    if narrow { Width::W32 } else { Width::W64 }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn strategies_say_the_truth((number, known) in known()) {
        prop_assert!(known.contains(number));
    }

    #[test]
    fn arithmetic((a, left) in known(), (b, right) in known(), narrow: bool) {
        for operation in Alu::ALL {
            let result = machine::compute(operation, width(narrow), a, b);
            let said = Number::computed(operation, width(narrow), left, right);
            prop_assert!(said.contains(result), "{operation:?} {a:#x} {b:#x}: {result:#x} isn't in {said:?}");
        }
        let negated = machine::compute(Alu::Sub, width(narrow), 0, a);
        prop_assert!(left.negated(width(narrow)).contains(negated));
    }

    #[test]
    fn constants_are_computed_exactly(a in any_number(), b in any_number(), narrow: bool) {
        for operation in Alu::ALL {
            let result = machine::compute(operation, width(narrow), a, b);
            let said = Number::computed(operation, width(narrow), Number::exactly(a), Number::exactly(b));
            prop_assert_eq!(said.constant(), Some(result), "{:?}", operation);
        }
    }

    #[test]
    fn parts((number, known) in known()) {
        for bits in [8, 16, 32] {
            let low = number & ((1 << bits) - 1);
            prop_assert!(known.low(bits).contains(low));
            let shift = 64 - bits;
            prop_assert!(known.low_signed(bits).contains(((number << shift) as i64 >> shift) as u64));
        }
        for (size, shift) in [(Size::Half, 48), (Size::Word, 32), (Size::Double, 0)] {
            prop_assert!(known.swapped(Order::Big, size).contains(number.swap_bytes() >> shift));
            prop_assert!(known.swapped(Order::Little, size).contains(number << shift >> shift));
        }
    }

    #[test]
    fn comparisons((a, left) in known(), (b, right) in known(), narrow: bool, same: bool) {
        // Equal numbers are rare else.
        let (b, right) = if same { (a, left) } else { (b, right) };
        for condition in Condition::ALL {
            let holds = machine::holds(condition, width(narrow), a, b);
            let refined = compare::assume(condition, width(narrow), holds, left, right);
            let Some((left, right)) = refined else {
                return Err(TestCaseError::fail(format!("{condition:?} {a:#x} {b:#x} is said to be impossible")));
            };
            prop_assert!(left.contains(a) && right.contains(b), "{condition:?} {a:#x} {b:#x}: {left:?} {right:?}");
        }
    }

    #[test]
    fn joins_and_what_grows(
        (a, left) in known(),
        (b, right) in known(),
        marks in proptest::collection::vec(any::<i64>(), 0..4),
    ) {
        let mut marks = marks;
        marks.sort_unstable();
        for both in [left.join(right), left.widen(right, &marks)] {
            prop_assert!(both.contains(a) && both.contains(b));
        }
        if let Some(meet) = left.meet(right) {
            prop_assert!(!(left.contains(a) && right.contains(a)) || meet.contains(a));
        }
    }

    #[test]
    fn growing_ends(numbers in proptest::collection::vec(known(), 1..200)) {
        let mut steps = 0;
        let mut all = numbers[0].1;
        for (_, number) in &numbers {
            let grown = all.widen(*number, &[0, 100]);
            steps += usize::from(grown != all);
            all = grown;
        }
        prop_assert!(steps < 40, "it grew {steps} times");
    }
}
