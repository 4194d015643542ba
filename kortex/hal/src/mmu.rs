//! Page tables, and the processor's cache of them (the TLB). The kernel's own address space maps all memory to its
//! physical addresses, so a table's address is a pointer. Pages have 4096 bytes or 2 MiB.

use core::arch::asm;

use x86_64::registers::control::{Cr0, Cr0Flags, Cr2, Cr4, Cr4Flags, Efer, EferFlags};

use crate::processor;

/// Bytes of a page, and of a page table.
pub const PAGE: usize = 4096;
/// Bytes of a large page.
pub const LARGE: usize = 2 << 20;

/// A page table.
#[repr(C, align(4096))]
#[derive(Debug)]
pub struct Table([u64; 512]);

impl Table {
    /// An empty table.
    pub const fn new() -> Table {
        Table([0; 512])
    }
}

impl Table {
    /// Maps the page at `frame` to `address`, in the lowest-level [table](AddressSpace::table) for that address.
    /// `false`: a page is mapped there already. Both addresses are page-aligned.
    ///
    /// # Safety
    /// As for [`AddressSpace::map`]; `access` doesn't allow both writing and execution.
    #[inline]
    pub unsafe fn put(&mut self, address: usize, frame: usize, access: Access) -> bool {
        let entry = &mut self.0[address >> 12 & 511];
        let is_free = *entry & PRESENT == 0;
        if is_free {
            *entry = frame as u64 | access.bits();
        }
        is_free
    }
}

impl Default for Table {
    fn default() -> Table {
        Table::new()
    }
}

const PRESENT: u64 = 1;
const WRITABLE: u64 = 1 << 1;
const USERS: u64 = 1 << 2;
const UNCACHED: u64 = 1 << 4;
const IS_LARGE: u64 = 1 << 7;
/// Marks a lent page, in a bit that the processor leaves to the kernel.
const LENT: u64 = 1 << 9;
const NOT_CODE: u64 = 1 << 63;
const ADDRESS: u64 = 0x000f_ffff_ffff_f000;

/// The access that a page allows. It may always be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// It may be written.
    pub write: bool,
    /// It may be executed. No page may be both written and executed.
    pub execute: bool,
    /// Users may access it, too.
    pub user: bool,
    /// It is a device's memory: it isn't cached.
    pub device: bool,
    /// It is lent: it belongs to another owner, and isn't freed with the address space.
    pub lent: bool,
}

impl Access {
    /// The kernel may read.
    pub const READ: Access = Access { write: false, execute: false, user: false, device: false, lent: false };
    /// The kernel may read and write.
    pub const WRITE: Access = Access { write: true, ..Access::READ };
    /// The kernel may execute.
    pub const EXECUTE: Access = Access { execute: true, ..Access::READ };
    /// A device's registers, for the kernel.
    pub const DEVICE: Access = Access { device: true, ..Access::WRITE };

    /// The same access, for users too.
    pub const fn of_users(self) -> Access {
        Access { user: true, ..self }
    }

    /// The same access, to lent memory.
    pub const fn lent(self) -> Access {
        Access { lent: true, ..self }
    }

    fn bits(self) -> u64 {
        let Access { write, execute, user, device, lent } = self;
        let bit = |is_set: bool, bit: u64| if is_set { bit } else { 0 };
        PRESENT
            | bit(write, WRITABLE)
            | bit(!execute, NOT_CODE)
            | bit(user, USERS)
            | bit(device, UNCACHED)
            | bit(lent, LENT)
    }
}

/// Why a page can't be mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// A page is mapped there already.
    Used,
    /// The page would be both writable and executable.
    WritableCode,
    /// The address isn't page-aligned.
    Unaligned,
    /// There is no memory for a table.
    NoMemory,
}

/// An address space: a tree of page tables.
#[derive(Debug)]
pub struct AddressSpace {
    root: *mut Table,
}

impl AddressSpace {
    /// The address space with the top-level table `root`.
    ///
    /// # Safety
    /// It and the tables to which it leads belong to this address space alone, or are never changed.
    pub const unsafe fn new(root: *mut Table) -> AddressSpace {
        AddressSpace { root }
    }

    /// The top-level table.
    pub fn root(&self) -> *mut Table {
        self.root
    }

    /// Maps the page at `frame` to `address`. `tables` gives the tables that are needed, which are empty.
    ///
    /// # Safety
    /// If this address space is or becomes active, it still maps what the kernel needs.
    pub unsafe fn map(
        &self,
        address: usize,
        frame: usize,
        size: usize,
        access: Access,
        tables: &mut dyn FnMut() -> Option<*mut Table>,
    ) -> Result<(), Refused> {
        if access.write && access.execute {
            return Err(Refused::WritableCode);
        }
        if !(address | frame).is_multiple_of(size) {
            return Err(Refused::Unaligned);
        }
        let mut table = self.root;
        for shift in [39, 30, 21, 12] {
            // SAFETY: tables that are reached are this address space's, or shared and never freed.
            let entry = unsafe { &mut (*table).0[address >> shift & 511] };
            if 1 << shift == size {
                if *entry & PRESENT != 0 {
                    return Err(Refused::Used);
                }
                *entry = frame as u64 | access.bits() | if size == PAGE { 0 } else { IS_LARGE };
                return Ok(());
            }
            if *entry & PRESENT == 0 {
                // Tables allow everything; the pages' entries restrict it.
                *entry = tables().ok_or(Refused::NoMemory)? as u64 | PRESENT | WRITABLE | USERS;
            } else if *entry & IS_LARGE != 0 {
                return Err(Refused::Used);
            }
            table = (*entry & ADDRESS) as *mut Table;
        }
        Err(Refused::Unaligned)
    }

    /// The lowest-level table for an address, which maps [`LARGE`] bytes. `tables` gives the tables that are needed,
    /// which are empty. The table stays as long as this address space.
    ///
    /// # Errors
    /// A large page is mapped there, or there is no memory for a table.
    ///
    /// # Safety
    /// As for [`map`](AddressSpace::map).
    pub unsafe fn table(
        &self,
        address: usize,
        tables: &mut dyn FnMut() -> Option<*mut Table>,
    ) -> Result<*mut Table, Refused> {
        let mut table = self.root;
        for shift in [39, 30, 21] {
            // SAFETY: tables that are reached are this address space's, or shared and never freed.
            let entry = unsafe { &mut (*table).0[address >> shift & 511] };
            if *entry & PRESENT == 0 {
                *entry = tables().ok_or(Refused::NoMemory)? as u64 | PRESENT | WRITABLE | USERS;
            } else if *entry & IS_LARGE != 0 {
                return Err(Refused::Used);
            }
            table = (*entry & ADDRESS) as *mut Table;
        }
        Ok(table)
    }

    /// The entry that maps an address, and the size of its page.
    fn find(&self, address: usize) -> Option<(*mut u64, usize)> {
        let mut table = self.root;
        for shift in [39, 30, 21, 12] {
            // SAFETY: tables that are reached are this address space's, or shared and never freed.
            let (place, entry) = unsafe {
                let place = &raw mut (*table).0[address >> shift & 511];
                (place, place.read())
            };
            if entry & PRESENT == 0 {
                return None;
            }
            if shift == 12 || entry & IS_LARGE != 0 {
                return Some((place, 1 << shift));
            }
            table = (entry & ADDRESS) as *mut Table;
        }
        None
    }

    /// Unmaps the page at an address, and returns its frame.
    ///
    /// # Safety
    /// As for [`map`](AddressSpace::map).
    pub unsafe fn unmap(&self, address: usize) -> Option<usize> {
        let (entry, _) = self.find(address)?;
        // SAFETY: the entry is this address space's; `invlpg` only drops a TLB entry.
        unsafe {
            let frame = entry.replace(0) & ADDRESS;
            asm!("invlpg [{}]", in(reg) address, options(nostack, preserves_flags));
            Some(frame as usize)
        }
    }

    /// The physical address for an address, and the access allowed there.
    pub fn look_up(&self, address: usize) -> Option<(usize, Access)> {
        let (entry, size) = self.find(address)?;
        // SAFETY: the entry is this address space's.
        let entry = unsafe { entry.read() };
        let access = Access {
            write: entry & WRITABLE != 0,
            execute: entry & NOT_CODE == 0,
            user: entry & USERS != 0,
            device: entry & UNCACHED != 0,
            lent: entry & LENT != 0,
        };
        Some(((entry & ADDRESS) as usize | address & (size - 1), access))
    }

    /// Makes another top-level table share all that this one maps before `start`, for good.
    ///
    /// # Safety
    /// `root` is an empty table; the tables for addresses before `start` are never freed.
    pub unsafe fn share(&self, root: *mut Table, start: usize) {
        let shared = start >> 39;
        // SAFETY: the caller promises that `root` is an empty table, and that the shared tables are never freed.
        unsafe { (&mut (*root).0)[..shared].copy_from_slice(&(&(*self.root).0)[..shared]) };
    }

    /// Gives all tables, and all pages from `start` on that aren't lent, to `free`. None of the pages is large.
    ///
    /// # Safety
    /// The address space isn't active or used any more, and all that is freed is its own.
    pub unsafe fn take_apart(self, start: usize, free: &mut dyn FnMut(usize)) {
        // SAFETY: the caller promises that the address space isn't used any more, and that all its tables and pages are
        // its own.
        unsafe { take_apart(self.root, 39, start >> 39, free) };
    }
}

/// # Safety
/// As for [`AddressSpace::take_apart`], for one table from entry `from` on. Each entry maps `1 << shift` bytes.
unsafe fn take_apart(table: *mut Table, shift: usize, from: usize, free: &mut dyn FnMut(usize)) {
    // SAFETY: the caller promises that the table belongs to an address space that isn't used any more.
    for entry in unsafe { &(&(*table).0)[from..] } {
        let at = (entry & ADDRESS) as usize;
        match shift {
            _ if entry & PRESENT == 0 => {}
            12 if entry & LENT != 0 => {}
            12 => free(at),
            // SAFETY: the entry leads to a table of the same address space.
            _ => unsafe { take_apart(at as *mut Table, shift - 9, 0, free) },
        }
    }
    free(table as usize);
}

/// The interface of this component: which address space is active.
pub trait Mmu {
    /// Activates an address space.
    ///
    /// # Safety
    /// It maps the kernel as the one that was active.
    unsafe fn activate(&self, space: &AddressSpace);

    /// Flushes the TLB's entries of the active address space.
    fn forget(&self);

    /// The address of the last page fault.
    fn fault_address(&self) -> u64;
}

/// The processor's MMU.
#[derive(Clone, Copy, Debug, Default)]
pub struct Paging;

impl Paging {
    /// The only one.
    pub const fn new() -> Paging {
        Paging
    }
}

impl Mmu for Paging {
    unsafe fn activate(&self, space: &AddressSpace) {
        // SAFETY: the caller promises that the address space maps the kernel.
        unsafe { asm!("mov cr3, {}", in(reg) space.root, options(nostack, preserves_flags)) };
    }

    fn forget(&self) {
        // SAFETY: the same address space stays active.
        unsafe {
            asm!("mov {0}, cr3", "mov cr3, {0}", out(reg) _, options(nostack, preserves_flags));
        }
    }

    #[inline]
    fn fault_address(&self) -> u64 {
        Cr2::read_raw()
    }
}

/// Makes page protection bind the kernel too: it can't write read-only pages and, if the processor supports that,
/// neither execute nor access users' pages.
///
/// # Safety
/// The active address space allows all that the kernel needs.
pub unsafe fn protect() {
    let leaf = core::arch::x86_64::__cpuid_count(7, 0);
    let mut wanted = Cr4Flags::empty();
    wanted.set(Cr4Flags::SUPERVISOR_MODE_EXECUTION_PROTECTION, leaf.ebx & 1 << 7 != 0);
    wanted.set(Cr4Flags::SUPERVISOR_MODE_ACCESS_PREVENTION, processor::has_access_prevention());
    wanted.set(Cr4Flags::USER_MODE_INSTRUCTION_PREVENTION, leaf.ecx & 1 << 2 != 0);
    // SAFETY: the caller promises that the active address space allows all that the kernel needs.
    unsafe {
        Efer::update(|flags| flags.insert(EferFlags::NO_EXECUTE_ENABLE));
        Cr0::update(|flags| flags.insert(Cr0Flags::WRITE_PROTECT));
        Cr4::update(|flags| flags.insert(wanted));
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::boxed::Box;

    fn space() -> AddressSpace {
        // SAFETY: a table of its own.
        unsafe { AddressSpace::new(Box::leak(Box::default())) }
    }

    fn table() -> Option<*mut Table> {
        Some(Box::leak(Box::default()))
    }

    #[test]
    fn what_was_mapped_is_found_and_what_was_not_is_not() {
        let space = space();
        // SAFETY: it is never active.
        unsafe {
            space.map(0x40_0000, 0x20_0000, LARGE, Access::WRITE, &mut table).expect("it is free");
            space.map(0x1234_5000, 0x7000, PAGE, Access::EXECUTE.of_users(), &mut table).expect("so is this");
        }
        assert_eq!(space.look_up(0x41_2345), Some((0x21_2345, Access::WRITE)));
        assert_eq!(space.look_up(0x1234_5678), Some((0x7678, Access::EXECUTE.of_users())));
        assert_eq!(space.look_up(0x1234_6000), None);
        assert_eq!(space.look_up(0x60_0000), None);
    }

    #[test]
    fn what_is_lent_stays_when_all_else_is_taken() {
        let space = space();
        let root = space.root() as usize;
        let mut taken = std::vec::Vec::new();
        // SAFETY: it is never active.
        unsafe {
            space.map(1 << 39, 0x7000, PAGE, Access::WRITE.of_users(), &mut table).expect("it is free");
            space
                .map((1 << 39) + PAGE, 0x8000, PAGE, Access::READ.of_users().lent(), &mut table)
                .expect("so is this");
            space.take_apart(1 << 39, &mut |page| taken.push(page));
        }
        // The root and three tables below it.
        assert_eq!((taken.len(), taken[0], taken[4]), (5, 0x7000, root));
    }

    #[test]
    fn what_is_wrong_is_refused() {
        let space = space();
        let both = Access { execute: true, ..Access::WRITE };
        // SAFETY: as above.
        unsafe {
            assert_eq!(space.map(0, 0, PAGE, both, &mut table), Err(Refused::WritableCode));
            assert_eq!(space.map(0x1000, 0, LARGE, Access::READ, &mut table), Err(Refused::Unaligned));
            assert_eq!(space.map(0, 0, PAGE, Access::READ, &mut || None), Err(Refused::NoMemory));
            assert_eq!(space.map(0, 0, LARGE, Access::READ, &mut table), Ok(()));
            assert_eq!(space.map(0, 0, LARGE, Access::READ, &mut table), Err(Refused::Used));
            assert_eq!(space.map(0x1000, 0, PAGE, Access::READ, &mut table), Err(Refused::Used));
        }
    }
}
