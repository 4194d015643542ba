//! Abstract states: what is known at a point of a program.

use alloc::vec::Vec;

use super::contract::Region;
use super::frame::Frame;
use super::number::Number;
use super::value::{Kind, Value};
use crate::bytecode::{Operand, Register};

/// A set of states of a program.
#[derive(Clone, Debug)]
pub(crate) struct State {
    registers: [Value; Register::COUNT],
    /// The least size of the region with an end pointer.
    pub packet: u32,
    /// The regions that were moved since the function began, a bit each.
    pub moved: u64,
    /// The frame of the current function.
    pub frame: Frame,
    /// The frames of its callers, the outermost one's first.
    pub callers: Vec<Outer>,
}

/// A caller's frame, as a callee sees it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outer {
    pub frame: Frame,
    /// Cells that the callee may have changed.
    pub changed: u64,
}

/// How two states are merged.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Merge<'a> {
    /// Join.
    Join,
    /// Widening: a bound that grows goes to the next of these landmarks.
    Widen(&'a [i64]),
    /// Whatever grows becomes unknown.
    GiveUp,
}

/// The tie of copies that the instruction at a slot makes.
pub(super) fn tie_of(at: usize) -> u32 {
    at as u32 + 1
}

/// Landmarks for the distances of pointers: a frame below, packets above.
const DISTANCES: [i64; 6] = [-(crate::FRAME as i64), 0, 0xffff, 0xf_ffff, 0xff_ffff, super::value::NEAR / 2];

impl State {
    /// The state at the beginning of a function, so many calls deep, of which only r10 is known.
    pub fn new(depth: usize) -> State {
        let mut registers = [Value::UNSET; Register::COUNT];
        registers[Register::FRAME.index()] = Value::frame(depth);
        State { registers, packet: 0, moved: 0, frame: Frame::default(), callers: Vec::new() }
    }

    /// Becomes a copy of another state, reusing memory.
    pub fn become_copy_of(&mut self, other: &State) {
        let State { registers, packet, moved, frame, callers } = other;
        (self.registers, self.packet, self.moved) = (*registers, *packet, *moved);
        self.frame.clone_from(frame);
        self.callers.clone_from(callers);
    }

    /// How many calls deep it is.
    pub fn depth(&self) -> usize {
        self.callers.len()
    }

    pub fn get(&self, register: Register) -> &Value {
        &self.registers[register.index()]
    }

    pub fn set(&mut self, register: Register, value: Value) {
        self.registers[register.index()] = value;
    }

    /// After a call: its result is in r0, and r1 to r5 are undefined.
    pub fn come_back(&mut self, result: Value) {
        self.registers[0] = result;
        self.registers[1..6].fill(Value::UNSET);
    }

    pub fn registers(&self) -> &[Value] {
        &self.registers
    }

    /// An operand's value.
    pub fn operand(&self, operand: Operand) -> Value {
        match operand {
            Operand::Register(register) => *self.get(register),
            Operand::Immediate(immediate) => Value::number(Number::exactly(immediate as i64 as u64)),
        }
    }

    /// The frame of the function at a depth.
    pub fn frame_at(&self, depth: u8) -> &Frame {
        self.callers.get(usize::from(depth)).map_or(&self.frame, |outer| &outer.frame)
    }

    /// Changes the frame of the function at a depth. The closure returns which cells it changed.
    pub fn change_frame(&mut self, depth: u8, change: impl FnOnce(&mut Frame) -> u64) {
        match self.callers.get_mut(usize::from(depth)) {
            Some(outer) => outer.changed |= change(&mut outer.frame),
            None => _ = change(&mut self.frame),
        }
    }

    /// Merges another state of the same point into this one. Returns whether this one changed.
    pub fn merge(&mut self, other: &State, how: Merge) -> bool {
        let combine = |mine: &Value, other: &Value| match how {
            Merge::Join => mine.join(other),
            Merge::Widen(landmarks) if mine.is_number() => mine.widen(other, landmarks),
            Merge::Widen(_) => mine.widen(other, &DISTANCES),
            Merge::GiveUp => mine.give_up(other),
        };
        let mut changed = false;
        for (mine, other) in self.registers.iter_mut().zip(&other.registers) {
            if mine == other {
                continue;
            }
            let merged = combine(mine, other);
            changed |= merged != *mine;
            *mine = merged;
        }
        changed |= self.frame.merge(&other.frame, combine);
        for (mine, other) in self.callers.iter_mut().zip(&other.callers) {
            changed |= mine.frame.merge(&other.frame, combine);
            changed |= other.changed & !mine.changed != 0;
            mine.changed |= other.changed;
        }
        changed |= other.packet < self.packet || other.moved & !self.moved != 0;
        self.moved |= other.moved;
        self.packet = self.packet.min(other.packet);
        changed
    }

    /// Changes all values that fulfil a condition, in registers and frames.
    pub fn change_all(&mut self, which: impl Fn(&Value) -> bool, mut change: impl FnMut(&mut Value)) {
        self.registers.iter_mut().filter(|value| which(value)).for_each(&mut change);
        self.frame.change(&which, &mut change);
        for outer in &mut self.callers {
            outer.frame.change(&which, &mut change);
        }
    }

    /// Ties a register's value to the copy that is about to be made. Each tie belongs to one instruction. No other
    /// value has it at that point: on every cycle through the instruction paths meet of which one hasn't passed it, so
    /// that the join has removed the tie.
    pub fn tie(&mut self, register: Register, tie: u32) {
        let value = &mut self.registers[register.index()];
        if value.tie == 0 && !(value.is_number() && value.number.constant().is_some()) {
            (value.tie, value.since) = (tie, 0);
        }
    }

    /// Removes all ties, which are valid within one function.
    pub fn untie_all(&mut self) {
        self.change_all(|value| value.tie != 0, |value| (value.tie, value.since) = (0, 0));
    }

    /// Refines the number in a register, and with it the values tied to it. Returns whether the state is still
    /// possible.
    pub fn refine(&mut self, register: Register, number: Number) -> bool {
        let Some(number) = self.get(register).number.meet(number) else { return false };
        self.registers[register.index()].number = number;
        let refined = *self.get(register);
        let mut possible = true;
        self.change_tied(&refined, |value| {
            let apart = i64::from(value.since) - i64::from(refined.since);
            match value.number.meet(number + Number::exactly(apart as u64)) {
                Some(number) => value.number = number,
                None => possible = false,
            }
        });
        possible
    }

    /// Changes the copies of a value, but not those that became constants.
    pub fn change_tied(&mut self, value: &Value, change: impl FnMut(&mut Value)) {
        if value.tie != 0 {
            let (tie, kind) = (value.tie, value.kind);
            self.change_all(|value| value.tie == tie && value.kind == kind, change);
        }
    }

    /// Forgets pointers to regions that were moved, a bit each.
    pub fn forget(&mut self, moved: u64) {
        if moved == 0 {
            return;
        }
        let leads_there = |value: &Value| match value.kind {
            Kind::Region(it) | Kind::RegionOrNull(it) | Kind::End(it) => moved & bit(it) != 0,
            _ => false,
        };
        // An invalidated pointer in the stack still holds an address.
        self.change_all(leads_there, |value| *value = Value::MIXED);
        self.moved |= moved;
        self.packet = 0;
    }
}

/// The bit of a region that may move; 0 for regions from number 64 on, which can't.
pub(super) fn bit(region: Region) -> u64 {
    1u64.checked_shl(region.into()).unwrap_or(0)
}
