//! Emulates privileged instructions, and those that access devices.
//!
//! # Soundness
//!
//! The assembly here computes with registers only.

use std::arch::asm;

use iced_x86::{
    Code, Decoder, DecoderOptions, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
};

use crate::ending::stop;
use crate::machine::Machine;
use crate::processor::{Exception, PROTECTION, Processor, STAR, Table, Use};
use crate::registers::{R11, RAX, RCX, RDX, RSP};

const LONGEST: usize = 15;

/// The instruction at which the guest has stopped.
fn decode(machine: &Machine) -> Instruction {
    let Machine { processor, memory, .. } = machine;
    let at = processor.registers.rip;
    let bytes: Vec<u8> =
        (at..).take(LONGEST).map_while(|at| processor.read::<1>(memory, at)).flatten().collect();
    let width = if processor.is_long { 64 } else { 32 };
    Decoder::with_ip(width, &bytes, at, DecoderOptions::NONE).decode()
}

/// The address of an operand in memory.
fn address(processor: &Processor, instruction: &Instruction, operand: u32) -> u64 {
    let register = |register: Register, _, _| {
        // Segments begin at 0.
        Some(if register.is_segment_register() { 0 } else { processor.registers.get(register) })
    };
    instruction.virtual_address(operand, 0, register).unwrap_or(0)
}

/// The access of a user's instruction that faulted at this address.
pub fn use_of(machine: &Machine, address: u64) -> Use {
    let at = machine.processor.registers.rip;
    let instruction = decode(machine);
    // The instruction isn't there, or extends into an unmapped page.
    let end = at + LONGEST as u64;
    if instruction.is_invalid() && (at..end).contains(&address)
        || address == at && {
            let page = machine.processor.look_up(&machine.memory, at);
            page.is_none_or(|page| !page.rights.execute || !page.rights.user)
        }
    {
        return Use::Fetch;
    }
    let registers = &machine.processor.registers;
    let mut factory = InstructionInfoFactory::new();
    let writes = factory.info(&instruction).used_memory().iter().any(|used| {
        let is_written = matches!(
            used.access(),
            OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
        );
        let value = |register: Register, _, _| {
            Some(if register.is_segment_register() { 0 } else { registers.get(register) })
        };
        let place = used.virtual_address(0, value);
        let size = used.memory_size().size().max(1) as u64;
        is_written && place.is_some_and(|place| address.wrapping_sub(place) < size)
    });
    match writes {
        true => Use::Write,
        // The instruction is present and has no operands: the fault is a fetch.
        false if address == at && !instruction.is_invalid() && instruction.op_count() == 0 => Use::Fetch,
        false => Use::Read,
    }
}

/// A general protection fault of a user. If the instruction raises an exception, the guest may allow that.
pub fn protected(machine: &mut Machine) -> Result<(), Exception> {
    let instruction = decode(machine);
    match instruction.mnemonic() {
        Mnemonic::Int => Err(interrupt(machine, &instruction)),
        _ => Err(Exception::with(PROTECTION, 0)),
    }
}

/// The outcome of an instruction that raises an exception.
fn interrupt(machine: &mut Machine, instruction: &Instruction) -> Exception {
    let vector = instruction.immediate8();
    if !machine.processor.may_raise(&machine.memory, vector) {
        return Exception::with(PROTECTION, u64::from(vector) * 8 + 2);
    }
    machine.processor.registers.rip = instruction.next_ip();
    Exception::of(vector)
}

/// Executes an instruction of the kernel.
pub fn run(machine: &mut Machine) -> Result<(), Exception> {
    let instruction = decode(machine);
    let next = instruction.next_ip();
    let operand = |number| instruction.op_register(number);
    let low = |machine: &Machine, register: usize| machine.processor.registers.whole[register] & 0xffff_ffff;
    match instruction.mnemonic() {
        Mnemonic::Cli => machine.processor.takes_interrupts = false,
        Mnemonic::Sti => {
            machine.processor.takes_interrupts = true;
            machine.processor.registers.rip = next;
            // An interrupt from now on ends the wait at once: none can come between the two instructions.
            let after = decode(machine);
            if after.mnemonic() == Mnemonic::Hlt {
                machine.processor.registers.rip = after.next_ip();
                machine.halt();
            }
            return Ok(());
        }
        Mnemonic::Hlt => {
            machine.processor.registers.rip = next;
            machine.halt();
            return Ok(());
        }
        Mnemonic::In => {
            let port = port(&machine.processor, &instruction, 1);
            let value = machine.ports.read(port, operand(0).size(), &machine.clock);
            machine.processor.registers.set(operand(0), value.into());
        }
        Mnemonic::Out => {
            let port = port(&machine.processor, &instruction, 0);
            let value = machine.processor.registers.get(operand(1)) as u32;
            if let Some(status) = machine.ports.write(port, value, &machine.clock) {
                crate::ending::end(status);
            }
        }
        Mnemonic::Lgdt | Mnemonic::Lidt => {
            let place = address(&machine.processor, &instruction, 0);
            let table = table(machine, place)?;
            match instruction.mnemonic() {
                Mnemonic::Lgdt => machine.processor.segments = table,
                _ => machine.processor.vectors = table,
            }
        }
        Mnemonic::Ltr => {
            let selector = word_of(machine, &instruction)?;
            let place = machine.processor.segments.base + (selector & 0xfff8);
            let low = read(machine, place)?;
            let base = low >> 16 & 0xff_ffff | low >> 32 & 0xff00_0000;
            machine.processor.task = base | read(machine, place + 8)? << 32;
        }
        Mnemonic::Lldt | Mnemonic::Wbinvd | Mnemonic::Invd | Mnemonic::Xsetbv | Mnemonic::Clts => {}
        Mnemonic::Mov => move_special(machine, &instruction)?,
        Mnemonic::Invlpg => machine.pages_changed(),
        Mnemonic::Stac => machine.processor.may_touch_users = true,
        Mnemonic::Clac => {
            machine.processor.may_touch_users = false;
            machine.own.leave_users();
        }
        Mnemonic::Rdmsr => {
            let number = low(machine, RCX) as u32;
            let value = machine.processor.specific.get(&number).copied().unwrap_or(0);
            let registers = &mut machine.processor.registers.whole;
            (registers[RAX], registers[RDX]) = (value & 0xffff_ffff, value >> 32);
        }
        Mnemonic::Wrmsr => {
            let value = low(machine, RDX) << 32 | low(machine, RAX);
            machine.processor.specific.insert(low(machine, RCX) as u32, value);
        }
        Mnemonic::Retf => return far_return(machine, &instruction),
        Mnemonic::Iretq => return interrupt_return(machine),
        Mnemonic::Sysretq => {
            let star = machine.processor.specific.get(&STAR).copied().unwrap_or(0) >> 48;
            let registers = machine.processor.registers.whole;
            machine.processor.set_flags(registers[R11]);
            machine.processor.registers.rip = registers[RCX];
            (machine.processor.code, machine.processor.stack) = ((star + 16) | 3, (star + 8) | 3);
            return Ok(());
        }
        Mnemonic::Int => return Err(interrupt(machine, &instruction)),
        _ if instruction.is_invalid() || instruction.mnemonic() == Mnemonic::Ud2 => {
            return Err(Exception::of(6));
        }
        // An unprivileged instruction with a wrong operand.
        _ => return Err(Exception::with(PROTECTION, 0)),
    }
    machine.processor.registers.rip = next;
    Ok(())
}

fn port(processor: &Processor, instruction: &Instruction, operand: u32) -> u16 {
    match instruction.op_kind(operand) {
        OpKind::Immediate8 => instruction.immediate8().into(),
        _ => processor.registers.whole[RDX] as u16,
    }
}

fn read(machine: &Machine, place: u64) -> Result<u64, Exception> {
    machine.processor.word(&machine.memory, place).ok_or(Exception::with(PROTECTION, 0))
}

fn table(machine: &Machine, place: u64) -> Result<Table, Exception> {
    let limit = read(machine, place)? as u16;
    let base = read(machine, place + 2)?;
    Ok(Table { limit, base: if machine.processor.is_long { base } else { base & 0xffff_ffff } })
}

/// The first operand, of 16 bits.
fn word_of(machine: &Machine, instruction: &Instruction) -> Result<u64, Exception> {
    match instruction.op0_kind() {
        OpKind::Memory => Ok(read(machine, address(&machine.processor, instruction, 0))? & 0xffff),
        _ => Ok(machine.processor.registers.get(instruction.op0_register()) & 0xffff),
    }
}

/// Moves to and from registers that processes don't have.
fn move_special(machine: &mut Machine, instruction: &Instruction) -> Result<(), Exception> {
    let (to, from) = (instruction.op0_register(), instruction.op1_register());
    if from.is_cr() {
        let value = machine.processor.control[from.number()];
        machine.processor.registers.set(to, value);
    } else if to.is_cr() {
        machine.processor.control[to.number()] = machine.processor.registers.get(from);
        machine.pages_changed();
    } else if from.is_dr() {
        machine.processor.registers.set(to, 0);
    } else if to == Register::SS {
        machine.processor.stack = machine.processor.registers.get(from) & 0xffff;
    } else if !to.is_dr() && !to.is_segment_register() {
        return Err(Exception::with(PROTECTION, 0));
    }
    Ok(())
}

/// Returns to another segment.
fn far_return(machine: &mut Machine, instruction: &Instruction) -> Result<(), Exception> {
    let size = if instruction.code() == Code::Retfq { 8 } else { 4 };
    let mask = u64::MAX >> (64 - 8 * size);
    let top = machine.processor.registers.whole[RSP];
    let (at, code) = (read(machine, top)? & mask, read(machine, top + size)? & 0xffff);
    const LONG: u64 = 1 << 53;
    let segment = read(machine, machine.processor.segments.base + (code & 0xfff8))?;
    machine.processor.is_long = segment & LONG != 0;
    machine.processor.code = code;
    machine.processor.registers.rip = at;
    machine.processor.registers.whole[RSP] = top + 2 * size;
    Ok(())
}

/// Returns from an interrupt.
fn interrupt_return(machine: &mut Machine) -> Result<(), Exception> {
    let top = machine.processor.registers.whole[RSP];
    let mut frame = [0; 5];
    for (at, word) in (0..).zip(&mut frame) {
        *word = read(machine, top + 8 * at)?;
    }
    let [at, code, flags, stack, stack_segment] = frame;
    machine.processor.set_flags(flags);
    (machine.processor.code, machine.processor.stack) = (code & 0xffff, stack_segment & 0xffff);
    (machine.processor.registers.rip, machine.processor.registers.whole[RSP]) = (at, stack);
    Ok(())
}

/// The kernel accesses a device: executes a read or write of a 32-bit register.
pub fn touch_device(machine: &mut Machine, physical: u64) -> Result<(), Exception> {
    let instruction = decode(machine);
    let unknown = || -> ! {
        let at = instruction.ip();
        stop(&format!("the instruction at {at:#x} touches a device in a way that isn't known here"))
    };
    if instruction.memory_size().size() != 4 {
        unknown();
    }
    let other = |machine: &Machine, kind, register| match kind {
        OpKind::Register => machine.processor.registers.get(register) as u32,
        OpKind::Immediate8to32 => instruction.immediate8to32() as u32,
        OpKind::Immediate32 => instruction.immediate32(),
        _ => unknown(),
    };
    let mnemonic = instruction.mnemonic();
    if instruction.op0_kind() == OpKind::Memory {
        let operand = other(machine, instruction.op1_kind(), instruction.op1_register());
        let old = if mnemonic == Mnemonic::Mov { 0 } else { machine.read_device(physical) };
        let (new, flags) = compute(mnemonic, old, operand).unwrap_or_else(|| unknown());
        set_status(machine, flags);
        if !matches!(mnemonic, Mnemonic::Cmp | Mnemonic::Test) {
            machine.write_device(physical, new);
        }
    } else {
        let register = instruction.op0_register();
        let operand = machine.read_device(physical);
        let old = other(machine, instruction.op0_kind(), register);
        let (new, flags) = compute(mnemonic, old, operand).unwrap_or_else(|| unknown());
        set_status(machine, flags);
        if mnemonic != Mnemonic::Cmp {
            machine.processor.registers.set(register, new.into());
        }
    }
    machine.processor.registers.rip = instruction.next_ip();
    Ok(())
}

/// The result for two words, and the flags, if the instruction sets any.
fn compute(mnemonic: Mnemonic, mut left: u32, right: u32) -> Option<(u32, Option<u64>)> {
    let flags: u64;
    macro_rules! calculate {
        ($instruction:literal) => {
            // SAFETY: registers only; the stack is as before.
            unsafe {
                asm!(concat!($instruction, " {0:e}, {1:e}"), "pushfq", "pop {2}",
                    inout(reg) left, in(reg) right, out(reg) flags)
            }
        };
    }
    match mnemonic {
        Mnemonic::Mov => return Some((right, None)),
        Mnemonic::Add => calculate!("add"),
        Mnemonic::Sub | Mnemonic::Cmp => calculate!("sub"),
        Mnemonic::And | Mnemonic::Test => calculate!("and"),
        Mnemonic::Or => calculate!("or"),
        Mnemonic::Xor => calculate!("xor"),
        _ => return None,
    }
    Some((left, Some(flags)))
}

fn set_status(machine: &mut Machine, flags: Option<u64>) {
    const STATUS: u64 = 0x8d5;
    if let Some(flags) = flags {
        let old = &mut machine.processor.registers.flags;
        *old = *old & !STATUS | flags & STATUS;
    }
}
