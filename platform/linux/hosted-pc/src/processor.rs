//! The part of a processor's state that Linux keeps from processes, and its exceptions.

use std::collections::BTreeMap;

use crate::memory::Memory;
use crate::registers::{RSP, Registers};
use crate::tables::{self, Page, Rights};

pub const PAGING: u64 = 1 << 31;
const WRITE_PROTECT: u64 = 1 << 16;
const SMEP: u64 = 1 << 20;
const SMAP: u64 = 1 << 21;

pub const INTERRUPTS: u64 = 1 << 9;
pub const TRAP: u64 = 1 << 8;
pub const ALIGNMENT: u64 = 1 << 18;
/// Flags that the guest shares with the process.
const OWN: u64 = 0x0020_0dd5;

pub const DOUBLE_FAULT: u8 = 8;
pub const PROTECTION: u8 = 13;
pub const PAGE_FAULT: u8 = 14;

/// Model-specific registers, by number.
pub const EFER: u32 = 0xc000_0080;
pub const STAR: u32 = 0xc000_0081;
pub const LSTAR: u32 = 0xc000_0082;
pub const SFMASK: u32 = 0xc000_0084;
const APIC_BASE: u32 = 0x1b;

/// A descriptor table's address and limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Table {
    pub base: u64,
    pub limit: u16,
}

/// The privileged state of the processor, and the registers.
#[derive(Debug, Default)]
pub struct Processor {
    pub registers: Registers,
    /// cr0 to cr8.
    pub control: [u64; 9],
    pub specific: BTreeMap<u32, u64>,
    pub segments: Table,
    pub vectors: Table,
    /// The address of the task state segment, which holds stacks.
    pub task: u64,
    pub code: u64,
    pub stack: u64,
    /// It runs 64-bit code.
    pub is_long: bool,
    /// Interrupts are on.
    pub takes_interrupts: bool,
    /// The kernel may access users' pages (SMAP is overridden).
    pub may_touch_users: bool,
}

/// A kind of memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    Read,
    Write,
    Fetch,
}

/// A failed access, with the page fault's error code.
#[derive(Clone, Copy, Debug)]
pub struct Fault(pub u64);

/// An exception and its error code, if it has one.
#[derive(Clone, Copy, Debug)]
pub struct Exception {
    pub vector: u8,
    pub error: Option<u64>,
}

impl Exception {
    /// An exception with an error code.
    pub fn with(vector: u8, error: u64) -> Exception {
        Exception { vector, error: Some(error) }
    }

    /// An exception without an error code.
    pub fn of(vector: u8) -> Exception {
        Exception { vector, error: None }
    }
}

/// An exception has no handler.
#[derive(Debug)]
pub struct Dead;

impl Processor {
    /// The state in which a loader leaves it (PVH): 32-bit code, no paging.
    pub fn new() -> Processor {
        let mut control = [0; 9];
        control[0] = 0x11;
        let specific = BTreeMap::from([(APIC_BASE, 0xfee0_0900)]);
        Processor { control, specific, ..Processor::default() }
    }

    /// Whether it runs user code.
    pub fn is_user(&self) -> bool {
        self.code & 3 == 3
    }

    /// The flags, as the guest would save them.
    pub fn flags(&self) -> u64 {
        let bit = |is_set, bit| if is_set { bit } else { 0 };
        self.registers.flags & OWN
            | 2
            | bit(self.takes_interrupts, INTERRUPTS)
            | bit(self.may_touch_users, ALIGNMENT)
    }

    /// Sets the flags.
    pub fn set_flags(&mut self, flags: u64) {
        self.takes_interrupts = flags & INTERRUPTS != 0;
        self.may_touch_users = flags & ALIGNMENT != 0;
        self.registers.flags = flags & OWN | 2 | INTERRUPTS;
    }

    /// Takes over the registers of a stopped user. Its process never resumes with the alignment-check flag, which Linux
    /// obeys and this machine doesn't.
    pub fn user_stopped(&mut self, registers: Registers) {
        self.may_touch_users |= registers.flags & ALIGNMENT != 0;
        self.registers = Registers { flags: registers.flags & !ALIGNMENT, ..registers };
    }

    /// The page at an address, whatever access it allows.
    pub fn look_up(&self, memory: &Memory, address: u64) -> Option<Page> {
        if self.control[0] & PAGING == 0 {
            let size = 2 << 20;
            let start = address & !(size - 1);
            return Some(Page { start, frame: start, size, rights: Rights::ALL });
        }
        tables::look_up(memory, self.control[3], address)
    }

    /// The access that the processor has to a page now; `None`: none.
    pub fn rights(&self, page: Page) -> Option<Rights> {
        let rights = page.rights;
        if self.is_user() {
            return rights.user.then_some(rights);
        }
        if self.control[0] & PAGING == 0 {
            return Some(rights);
        }
        if rights.user && self.control[4] & SMAP != 0 && !self.may_touch_users {
            return None;
        }
        let execute = rights.execute && !(rights.user && self.control[4] & SMEP != 0);
        let write = rights.write || self.control[0] & WRITE_PROTECT == 0;
        Some(Rights { write, execute, ..rights })
    }

    /// The page at an address, with the access that the processor has now; `None`: none.
    pub fn page(&self, memory: &Memory, address: u64) -> Option<Page> {
        let page = self.look_up(memory, address)?;
        Some(Page { rights: self.rights(page)?, ..page })
    }

    /// The page at an address, if it allows this access.
    pub fn check(&self, memory: &Memory, address: u64, what: Use) -> Result<Page, Fault> {
        let user = if self.is_user() { 1 << 2 } else { 0 };
        let doing = user
            | match what {
                Use::Read => 0,
                Use::Write => 1 << 1,
                Use::Fetch => 1 << 4,
            };
        let page = self.look_up(memory, address).ok_or(Fault(doing))?;
        let rights = self.rights(page).ok_or(Fault(doing | 1))?;
        let may = match what {
            Use::Read => true,
            Use::Write => rights.write,
            Use::Fetch => rights.execute,
        };
        if may { Ok(Page { rights, ..page }) } else { Err(Fault(doing | 1)) }
    }

    /// Reads bytes at an address, regardless of rights, for code and descriptor tables.
    pub fn read<const BYTES: usize>(&self, memory: &Memory, address: u64) -> Option<[u8; BYTES]> {
        let mut bytes = [0; BYTES];
        for (at, byte) in (address..).zip(&mut bytes) {
            let page = self.look_up(memory, at)?;
            [*byte] = memory.read(page.physical(at))?;
        }
        Some(bytes)
    }

    /// Reads a word at an address, regardless of rights.
    pub fn word(&self, memory: &Memory, address: u64) -> Option<u64> {
        self.read(memory, address).map(u64::from_le_bytes)
    }

    /// Raises an exception: saves the interrupted registers on its handler's stack, and goes on in the handler.
    pub fn raise(&mut self, memory: &Memory, exception: Exception) -> Result<(), Dead> {
        let fatal = Exception::with(DOUBLE_FAULT, 0);
        self.enter(memory, exception).or_else(|| self.enter(memory, fatal)).ok_or(Dead)
    }

    fn enter(&mut self, memory: &Memory, Exception { vector, error }: Exception) -> Option<()> {
        let Gate { low, address } = self.gate(memory, vector)?;
        let (was_user, number) = (self.is_user(), low >> 32 & 7);
        let old = self.registers.whole[RSP];
        let mut top = match number {
            0 if was_user => self.word(memory, self.task + 4)?,
            0 => old,
            _ => self.word(memory, self.task + 0x24 + 8 * (number - 1))?,
        } & !15;
        let frame = [self.stack, old, self.flags(), self.code, self.registers.rip];
        for word in frame.into_iter().chain(error) {
            top -= 8;
            let page = self.look_up(memory, top).filter(|page| page.rights.write)?;
            memory.write(page.physical(top), &word.to_le_bytes())?;
        }
        const KEEPS_INTERRUPTS: u64 = 1 << 40;
        self.takes_interrupts &= low & KEEPS_INTERRUPTS != 0;
        self.registers.flags &= !TRAP;
        self.code = low >> 16 & 0xfffc;
        if was_user {
            self.stack = 0;
        }
        (self.registers.rip, self.registers.whole[RSP]) = (address, top);
        Some(())
    }

    /// The gate of a vector, if it is present.
    fn gate(&self, memory: &Memory, vector: u8) -> Option<Gate> {
        const PRESENT: u64 = 1 << 47;
        let place = u64::from(vector) * 16;
        let word = |at| self.word(memory, self.vectors.base + place + at);
        let low = word(0).filter(|low| place < self.vectors.limit.into() && low & PRESENT != 0)?;
        Some(Gate { low, address: low & 0xffff | low >> 32 & 0xffff_0000 | word(8)? << 32 })
    }

    /// Whether the running code may raise this exception by an instruction.
    pub fn may_raise(&self, memory: &Memory, vector: u8) -> bool {
        self.gate(memory, vector).is_some_and(|gate| !self.is_user() || gate.low >> 45 & 3 == 3)
    }
}

/// An entry of the interrupt descriptor table.
struct Gate {
    low: u64,
    address: u64,
}
