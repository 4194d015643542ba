//! The guest's page tables, and which of its pages are mapped in a process.
//!
//! The mapped pages take the place of a TLB. A page is looked up on its first access. When the guest loads cr3 or
//! executes `invlpg`, pages that differ from the tables are unmapped.

use std::collections::BTreeMap;

use crate::memory::{Memory, PAGE};

/// The access that a page allows besides reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights {
    pub write: bool,
    pub execute: bool,
    pub user: bool,
}

impl Rights {
    /// All rights.
    pub const ALL: Rights = Rights { write: true, execute: true, user: true };

    /// The rights that both allow.
    fn and(self, other: Rights) -> Rights {
        Rights {
            write: self.write && other.write,
            execute: self.execute && other.execute,
            user: self.user && other.user,
        }
    }

    /// The rights as `mmap` takes them.
    pub fn access(self) -> i32 {
        let bit = |is_set, bit| if is_set { bit } else { 0 };
        libc::PROT_READ | bit(self.write, libc::PROT_WRITE) | bit(self.execute, libc::PROT_EXEC)
    }
}

/// A page: its address, its frame, its size, and its rights.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    pub start: u64,
    pub frame: u64,
    pub size: u64,
    pub rights: Rights,
}

impl Page {
    /// A smaller page within this one.
    pub fn part(self, address: u64, size: u64) -> Page {
        let size = size.min(self.size);
        let start = address & !(size - 1);
        Page { start, frame: self.frame + (start - self.start), size, ..self }
    }

    /// The physical address for an address in the page.
    pub fn physical(self, address: u64) -> u64 {
        self.frame + (address - self.start)
    }
}

const PRESENT: u64 = 1;
const WRITABLE: u64 = 1 << 1;
const USERS: u64 = 1 << 2;
const IS_LARGE: u64 = 1 << 7;
const NOT_CODE: u64 = 1 << 63;
const ADDRESS: u64 = 0x000f_ffff_ffff_f000;

/// Looks an address up in four levels of tables.
pub fn look_up(memory: &Memory, root: u64, address: u64) -> Option<Page> {
    let is_canonical = (address as i64) << 16 >> 16 == address as i64;
    let mut table = root & ADDRESS;
    let mut rights = Rights::ALL;
    for shift in [39, 30, 21, 12] {
        let entry = memory.word(table + (address >> shift & 511) * 8).filter(|_| is_canonical)?;
        if entry & PRESENT == 0 {
            return None;
        }
        rights = rights.and(Rights {
            write: entry & WRITABLE != 0,
            execute: entry & NOT_CODE == 0,
            user: entry & USERS != 0,
        });
        if shift == 12 || shift < 39 && entry & IS_LARGE != 0 {
            let size = 1 << shift;
            let start = address & !(size - 1);
            return Some(Page { start, frame: entry & ADDRESS & !(size - 1), size, rights });
        }
        table = entry & ADDRESS;
    }
    None
}

/// An address space of a Linux process, into which pages are mapped.
pub trait Space {
    /// Maps a page of the machine's memory.
    fn map(&mut self, page: Page);

    /// Unmaps a page.
    fn unmap(&mut self, page: Page);
}

/// The pages that are mapped in an address space.
#[derive(Default)]
pub struct Mapped(BTreeMap<u64, Page>);

impl Mapped {
    /// Records a page that is mapped already.
    pub fn keep(&mut self, page: Page) {
        self.0.insert(page.start, page);
    }

    /// Maps a page; `false`: it is mapped already, with the same rights.
    pub fn add(&mut self, page: Page, space: &mut impl Space) -> bool {
        let is_there = |old: &Page| (old.frame, old.size, old.rights) == (page.frame, page.size, page.rights);
        if self.0.get(&page.start).is_some_and(is_there) {
            return false;
        }
        let within: Vec<u64> = self.0.range(page.start..page.start + page.size).map(|(&at, _)| at).collect();
        for at in within {
            self.0.remove(&at).into_iter().for_each(|old| space.unmap(old));
        }
        space.map(page);
        self.keep(page);
        true
    }

    /// Unmaps pages that the tables don't allow any more. A page mapped with too few rights is found on its next
    /// access.
    pub fn check(&mut self, now: impl Fn(u64) -> Option<Page>, space: &mut impl Space) {
        self.0.retain(|&at, &mut page| {
            let is_so = now(at).is_some_and(|now| {
                now.physical(at) == page.frame
                    && page.size.is_multiple_of(PAGE)
                    && page.size <= now.size
                    && now.rights.and(page.rights) == page.rights
            });
            if !is_so {
                space.unmap(page);
            }
            is_so
        });
    }
}
