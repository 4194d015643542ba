//! Generated programs.
#![allow(dead_code)]

use drystone_extension::bytecode::*;
use proptest::prelude::*;
use proptest::sample::select;

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

/// What computes in registers only, and writes r0 to some one.
pub fn computation(writable: u8) -> impl Strategy<Value = Instruction> {
    let order = select(vec![Order::Little, Order::Big, Order::Swapped]);
    let extension = prop_oneof![
        Just((Width::W32, Size::Byte)),
        Just((Width::W32, Size::Half)),
        Just((Width::W64, Size::Byte)),
        Just((Width::W64, Size::Half)),
        Just((Width::W64, Size::Word)),
    ];
    prop_oneof![
        8 => (width(), select(Alu::ALL.to_vec()), register(writable), operand()).prop_map(
            |(width, operation, destination, source)| Instruction::Alu { width, operation, destination, source }
        ),
        1 => (width(), register(writable)).prop_map(|(width, destination)| Instruction::Negate { width, destination }),
        2 => (extension, register(writable), register(10)).prop_map(|((width, from), destination, source)| {
            Instruction::Extend { width, from, destination, source }
        }),
        2 => (order, size(), register(writable)).prop_filter_map("bytes", |(order, size, destination)| {
            (size != Size::Byte).then_some(Instruction::Swap { order, size, destination })
        }),
        2 => (register(writable), prop_oneof![any::<u64>(), immediate().prop_map(|it| it as u64)]).prop_map(
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
    writable: u8,
    base: B,
    offset: impl Strategy<Value = i16> + Clone,
) -> impl Strategy<Value = Instruction> {
    prop_oneof![
        (sign_and_size(), register(writable), base.clone(), offset.clone()).prop_map(
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
        (width(), select(Atomic::ALL.to_vec()), base, offset, register(writable)).prop_map(
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
    (width(), select(Condition::ALL.to_vec()), register(9), operand(), offset).prop_map(
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
        4 => computation(9),
        3 => access(9, register(10), any::<i16>()),
        3 => control(),
        2 => near,
        2 => jump_if(-3i16..4),
        1 => reference(),
    ];
    prop::collection::vec(instruction, 0..40)
}

/// Part of a program that makes sense; where it goes is the number of another part.
#[derive(Clone, Debug)]
pub enum Part {
    Plain(Instruction),
    /// A jump, a call or an address of code.
    To(Instruction, usize),
    /// What it calls leaves r1 to r5 undefined: they get numbers.
    Call(Instruction, Option<usize>),
}

/// Programs that keep the address of 64 bytes of memory in r9, and mostly access only these and their stack. They may
/// not end.
pub fn that_make_sense() -> impl Strategy<Value = Vec<Slot>> {
    let jump = prop_oneof![
        1 => width().prop_map(|width| Instruction::Jump { width, offset: 0 }),
        5 => jump_if(Just(0)),
    ];
    let code = Constant::Code(0);
    let part = prop_oneof![
        10 => computation(8).prop_map(Part::Plain),
        6 => near_access().prop_map(Part::Plain),
        3 => (jump, any::<usize>()).prop_map(|(jump, to)| Part::To(jump, to)),
        1 => any::<usize>().prop_map(|to| Part::Call(Instruction::CallLocal { offset: 0 }, Some(to))),
        1 => any::<usize>().prop_map(move |to| {
            let destination = Register::new(6).unwrap();
            Part::To(Instruction::Constant { destination, constant: code }, to)
        }),
        1 => prop_oneof![Just(6u8), 0..10u8].prop_map(|target| {
            Part::Call(Instruction::CallRegister { target: Register::new(target).unwrap() }, None)
        }),
        2 => (0..3u32).prop_map(|number| Part::Call(Instruction::CallHelper { number }, None)),
        1 => Just(Part::Plain(Instruction::Exit)),
    ];
    (prop::collection::vec(any::<u64>(), 9), prop::collection::vec(part, 1..60))
        .prop_map(|(numbers, parts)| laid_out(&numbers, &parts))
}

/// In the 64 bytes at r9, in the stack, or (seldom) anywhere.
fn near_access() -> impl Strategy<Value = Instruction> {
    let at = |number| Just(Register::new(number).unwrap());
    prop_oneof![
        10 => access(8, at(9), 0i16..57),
        10 => access(8, at(10), (-64i16)..-8),
        1 => access(8, register(10), any::<i16>()),
    ]
}

pub fn laid_out(numbers: &[u64], parts: &[Part]) -> Vec<Slot> {
    let mut slots = Vec::new();
    let set = |slots: &mut Vec<Slot>, register: u8, number| {
        let (destination, constant) = (Register::new(register).unwrap(), Constant::Number(number));
        Instruction::Constant { destination, constant }.encode(slots);
    };
    let mov = |destination, source| Instruction::Alu {
        width: Width::W64,
        operation: Alu::Mov,
        destination: Register::new(destination).unwrap(),
        source: Operand::Register(Register::new(source).unwrap()),
    };
    mov(9, 1).encode(&mut slots);
    for (register, number) in numbers.iter().enumerate() {
        set(&mut slots, register as u8, *number);
    }
    let mut begins = Vec::new();
    let mut jumps = Vec::new();
    for part in parts {
        begins.push(slots.len());
        let (instruction, to) = match part {
            Part::Plain(instruction) => (*instruction, None),
            Part::To(instruction, to) => (*instruction, Some(*to)),
            Part::Call(instruction, to) => (*instruction, *to),
        };
        jumps.extend(to.map(|to| (slots.len(), instruction, to)));
        instruction.encode(&mut slots);
        if matches!(part, Part::Call(..)) {
            (1..=5).for_each(|register| set(&mut slots, register, numbers[register as usize] ^ 1));
        }
    }
    Instruction::Exit.encode(&mut slots);
    for (at, instruction, to) in jumps {
        let offset = begins[to % begins.len()] as i32 - at as i32 - 1;
        let mut again = Vec::new();
        match instruction {
            Instruction::Jump { width, .. } => Instruction::Jump { width, offset },
            Instruction::JumpIf { width, condition, left, right, .. } => {
                Instruction::JumpIf { width, condition, left, right, offset: offset as i16 }
            }
            Instruction::Constant { destination, .. } => {
                Instruction::Constant { destination, constant: Constant::Code(offset) }
            }
            _ => Instruction::CallLocal { offset },
        }
        .encode(&mut again);
        slots[at..at + again.len()].copy_from_slice(&again);
    }
    slots
}
