//! Generated programs.
#![allow(dead_code)]

use drystone_extension::bytecode::*;
use proptest::prelude::*;
use proptest::sample::select;

pub const ALU: [Alu; 14] = [
    Alu::Add,
    Alu::Sub,
    Alu::Mul,
    Alu::Div,
    Alu::SignedDiv,
    Alu::Mod,
    Alu::SignedMod,
    Alu::Or,
    Alu::And,
    Alu::Xor,
    Alu::ShiftLeft,
    Alu::ShiftRight,
    Alu::ShiftRightSigned,
    Alu::Mov,
];

pub const CONDITIONS: [Condition; 11] = [
    Condition::Equal,
    Condition::NotEqual,
    Condition::AnyBit,
    Condition::Above,
    Condition::AboveOrEqual,
    Condition::Below,
    Condition::BelowOrEqual,
    Condition::SignedGreater,
    Condition::SignedGreaterOrEqual,
    Condition::SignedLess,
    Condition::SignedLessOrEqual,
];

pub const ATOMICS: [Atomic; 10] = [
    Atomic::Add,
    Atomic::Or,
    Atomic::And,
    Atomic::Xor,
    Atomic::FetchAdd,
    Atomic::FetchOr,
    Atomic::FetchAnd,
    Atomic::FetchXor,
    Atomic::Exchange,
    Atomic::CompareExchange,
];

pub fn register(up_to: u8) -> impl Strategy<Value = Register> + Clone {
    (0..=up_to).prop_map(|number| Register::new(number).unwrap())
}

pub fn width() -> impl Strategy<Value = Width> {
    select(vec![Width::W32, Width::W64])
}

pub fn size() -> impl Strategy<Value = Size> {
    select(vec![Size::Byte, Size::Half, Size::Word, Size::Double])
}

/// Numbers near those where something changes, and any others.
pub fn immediate() -> impl Strategy<Value = i32> {
    prop_oneof![
        select(vec![0, 1, 2, -1, -2, 31, 32, 33, 63, 64, 65, 0xff, 0x8000, i32::MIN, i32::MAX, i32::MIN + 1]),
        any::<i32>(),
    ]
}

pub fn operand() -> impl Strategy<Value = Operand> {
    prop_oneof![register(10).prop_map(Operand::Register), immediate().prop_map(Operand::Immediate)]
}

/// What computes in registers only.
pub fn computation() -> impl Strategy<Value = Instruction> {
    let order = select(vec![Order::Little, Order::Big, Order::Swapped]);
    let extension = prop_oneof![
        Just((Width::W32, Size::Byte)),
        Just((Width::W32, Size::Half)),
        Just((Width::W64, Size::Byte)),
        Just((Width::W64, Size::Half)),
        Just((Width::W64, Size::Word)),
    ];
    prop_oneof![
        8 => (width(), select(ALU.to_vec()), register(9), operand()).prop_map(
            |(width, operation, destination, source)| Instruction::Alu { width, operation, destination, source }
        ),
        1 => (width(), register(9)).prop_map(|(width, destination)| Instruction::Negate { width, destination }),
        2 => (extension, register(9), register(10)).prop_map(|((width, from), destination, source)| {
            Instruction::Extend { width, from, destination, source }
        }),
        2 => (order, size(), register(9)).prop_filter_map("bytes", |(order, size, destination)| {
            (size != Size::Byte).then_some(Instruction::Swap { order, size, destination })
        }),
        2 => (register(9), prop_oneof![any::<u64>(), immediate().prop_map(|it| it as u64)]).prop_map(
            |(destination, number)| Instruction::Constant { destination, constant: Constant::Number(number) }
        ),
    ]
}

pub fn sign_and_size() -> impl Strategy<Value = (Sign, Size)> {
    prop_oneof![
        size().prop_map(|size| (Sign::Zero, size)),
        select(vec![Size::Byte, Size::Half, Size::Word]).prop_map(|size| (Sign::Extend, size)),
    ]
}

/// What accesses memory through given bases.
pub fn access<B: Strategy<Value = Register> + Clone>(
    base: B,
    offset: impl Strategy<Value = i16> + Clone,
) -> impl Strategy<Value = Instruction> {
    prop_oneof![
        (sign_and_size(), register(9), base.clone(), offset.clone()).prop_map(
            |((sign, size), destination, base, offset)| Instruction::Load {
                sign,
                size,
                destination,
                base,
                offset
            }
        ),
        (size(), base.clone(), offset.clone(), operand())
            .prop_map(|(size, base, offset, source)| Instruction::Store { size, base, offset, source }),
        (width(), select(ATOMICS.to_vec()), base, offset, register(9)).prop_map(
            |(width, operation, base, offset, source)| Instruction::Atomic {
                width,
                operation,
                base,
                offset,
                source
            }
        ),
    ]
}

/// What goes elsewhere.
pub fn control() -> impl Strategy<Value = Instruction> {
    prop_oneof![
        any::<i16>().prop_map(|offset| Instruction::Jump { width: Width::W64, offset: offset.into() }),
        any::<i32>().prop_map(|offset| Instruction::Jump { width: Width::W32, offset }),
        jump_if(any::<i16>()),
        any::<u32>().prop_map(|number| Instruction::CallHelper { number }),
        any::<i32>().prop_map(|offset| Instruction::CallLocal { offset }),
        register(10).prop_map(|target| Instruction::CallRegister { target }),
        Just(Instruction::Exit),
    ]
}

pub fn jump_if(offset: impl Strategy<Value = i16>) -> impl Strategy<Value = Instruction> {
    (width(), select(CONDITIONS.to_vec()), register(9), operand(), offset).prop_map(
        |(width, condition, left, right, offset)| Instruction::JumpIf {
            width,
            condition,
            left,
            right,
            offset,
        },
    )
}

/// Constants that aren't numbers.
pub fn reference() -> impl Strategy<Value = Instruction> {
    let constant = prop_oneof![
        any::<i32>().prop_map(Constant::MapByFd),
        any::<(i32, i32)>().prop_map(|(map, offset)| Constant::ValueByFd { map, offset }),
        any::<i32>().prop_map(Constant::Variable),
        any::<i32>().prop_map(Constant::Code),
        any::<i32>().prop_map(Constant::MapByIndex),
        any::<(i32, i32)>().prop_map(|(map, offset)| Constant::ValueByIndex { map, offset }),
    ];
    (register(10), constant)
        .prop_map(|(destination, constant)| Instruction::Constant { destination, constant })
}

/// Any sequence, whether it makes sense or not.
pub fn of_any_instructions() -> impl Strategy<Value = Vec<Instruction>> {
    let near = (-3i16..4).prop_map(|offset| Instruction::Jump { width: Width::W64, offset: offset.into() });
    let instruction = prop_oneof![
        4 => computation(),
        3 => access(register(10), any::<i16>()),
        3 => control(),
        2 => near,
        2 => jump_if(-3i16..4),
        1 => reference(),
    ];
    prop::collection::vec(instruction, 0..40)
}
