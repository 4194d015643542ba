//! Hash table: elements in no order, any kinds of keys, found in constant time. Open addressing by groups of eight
//! slots, one byte for each slot telling whether it is used and seven bits of the hash.
//!
//! An entry is never further than [`LONGEST`] groups from where its hash says; where that cannot be kept (keys that
//! collide on purpose) the table refuses, so that finding takes constant time whatever the keys are. Full tables grow
//! by half, so that memory is less than twice of what the elements need.
//!
//! # Why this is sound
//! The table is a live block, made here with the same [`Keys`] that are passed to its methods; the entry of a slot
//! is initialised where its byte says that it is used.
#![allow(unsafe_op_in_unsafe_fn)]

use core::cmp::Ordering;
use core::ops::ControlFlow;
use core::ptr;

use super::keys::{Key, Keys};
use super::shape::{Inserted, Shape};
use crate::heap::Heap;

/// A hash table.
pub struct Hash {
    table: *mut Table,
}

/// The head of a table; the slots' bytes follow, then their entries: the keys and the element's cell.
#[repr(C)]
struct Table {
    groups: usize,
    /// Slots in use.
    count: usize,
    /// Slots that were never used since the table was made.
    unused: usize,
    seed: u64,
    /// Where a key was found last: a program that asks for an element often uses it next.
    last: usize,
}

const SLOTS: usize = 8;
/// So many groups are dropped together: among many, the search for more would be longer than that otherwise.
const DROPPED: usize = 1 << 8;
/// So many groups are searched at most.
const LONGEST: usize = 32;

const UNUSED: u8 = 0xFF;
const REMOVED: u8 = 0x80;
/// A one in every byte.
const ONES: u64 = 0x0101_0101_0101_0101;
/// The highest bit of every byte: the slot is free.
const FREE: u64 = 0x80 * ONES;

impl Hash {
    /// A table with room for half as many entries again. `None`: there is no memory.
    pub unsafe fn new(heap: &mut Heap, keys: Keys, entries: usize) -> Option<Hash> {
        let groups = (entries * 12 / 7).div_ceil(SLOTS).max(2);
        let table = heap.allocate(bytes(keys, groups)) as *mut Table;
        if table.is_null() {
            return None;
        }
        let unused = groups * SLOTS;
        // Nobody can foresee the address, so nobody can choose keys that collide.
        let seed = (table as u64).rotate_left(32) ^ 0x243F_6A88_85A3_08D3;
        table.write(Table { groups, count: 0, unused, seed, last: 0 });
        let hash = Hash { table };
        ptr::write_bytes(hash.control(0), UNUSED, unused);
        Some(hash)
    }

    /// The number of elements.
    pub unsafe fn count(&self) -> usize {
        (*self.table).count
    }

    /// The element with a key.
    #[inline]
    pub unsafe fn find(&self, keys: Keys, key: Key) -> Option<*mut u64> {
        if let Some(cell) = self.find_again(keys, key) {
            return Some(cell);
        }
        let slot = self.slot_of(keys, key, keys.hash(key, (*self.table).seed)).ok()?;
        (*self.table).last = slot;
        Some(self.cell(keys, slot))
    }

    /// The element with a key that was found last. A number isn't worth the question.
    #[inline]
    unsafe fn find_again(&self, keys: Keys, key: Key) -> Option<*mut u64> {
        let last = (*self.table).last;
        let is_last = !keys.is_number() && self.is_used(last) && keys.equal(self.key(keys, last), key);
        is_last.then(|| self.cell(keys, last))
    }

    /// Finds or makes the element with a key. The caller sees to it that a new key holds its texts. `None`: the table
    /// is full, or too many keys have nearly the same hash; [`Hash::rebuild`] may help.
    pub unsafe fn insert(&mut self, keys: Keys, key: Key) -> Option<Inserted> {
        if let Some(cell) = self.find_again(keys, key) {
            return Some(Inserted { cell, is_new: false });
        }
        let hash = keys.hash(key, (*self.table).seed);
        match self.slot_of(keys, key, hash) {
            Ok(slot) => Some(Inserted { cell: self.cell(keys, slot), is_new: false }),
            Err(free) => Some(Inserted { cell: self.use_slot(keys, key, hash, free?)?, is_new: true }),
        }
    }

    /// Puts a new key into a free slot. `None`: the table is full.
    #[inline]
    unsafe fn use_slot(&mut self, keys: Keys, key: Key, hash: u64, slot: usize) -> Option<*mut u64> {
        let table = &mut *self.table;
        if *self.control(slot) == UNUSED {
            if table.unused <= table.groups {
                return None;
            }
            table.unused -= 1;
        }
        table.count += 1;
        *self.control(slot) = tag(hash);
        ptr::copy_nonoverlapping(key, self.key(keys, slot), keys.width());
        let cell = self.cell(keys, slot);
        *cell = 0;
        Some(cell)
    }

    /// Removes the element with a key and answers what it held.
    pub unsafe fn remove(&mut self, heap: &mut Heap, keys: Keys, key: Key) -> Option<u64> {
        let slot = self.slot_of(keys, key, keys.hash(key, (*self.table).seed)).ok()?;
        let word = *self.cell(keys, slot);
        keys.drop(heap, self.key(keys, slot));
        let table = &mut *self.table;
        table.count -= 1;
        // Where the search for others ends in this group anyway, none can have gone past this slot.
        let group = self.group(slot / SLOTS);
        if group & (group << 1) & FREE != 0 {
            *self.control(slot) = UNUSED;
            table.unused += 1;
        } else {
            *self.control(slot) = REMOVED;
        }
        if table.groups > 4 && table.count < table.groups * SLOTS / 4 {
            // If there is no memory for a smaller table, the large one stays.
            let _ = self.rebuild(heap, keys);
        }
        Some(word)
    }

    /// Makes a table of the proper size for what it holds. The error says why it could not.
    pub unsafe fn rebuild(&mut self, heap: &mut Heap, keys: Keys) -> Result<(), Rebuilding> {
        let mut new = Hash::new(heap, keys, self.count() + 1).ok_or(Rebuilding::Memory)?;
        for slot in 0..(*self.table).groups * SLOTS {
            if self.is_used(slot) && new.put_new(keys, self.key(keys, slot), *self.cell(keys, slot)).is_none()
            {
                new.free(heap, keys);
                return Err(Rebuilding::Crowded);
            }
        }
        core::mem::replace(self, new).free(heap, keys);
        Ok(())
    }

    /// Inserts an element whose key is not in the table. `None`: see [`Hash::insert`].
    #[inline]
    pub unsafe fn put_new(&mut self, keys: Keys, key: Key, word: u64) -> Option<()> {
        let hash = keys.hash(key, (*self.table).seed);
        let groups = (*self.table).groups;
        let mut number = home(hash, groups);
        for _ in 0..LONGEST.min(groups) {
            let free = self.group(number) & FREE;
            if free != 0 {
                *self.use_slot(keys, key, hash, number * SLOTS + lowest(free))? = word;
                return Some(());
            }
            number = if number + 1 == groups { 0 } else { number + 1 };
        }
        None
    }

    /// The entry with the smallest key above `key`, or of all, found by looking at each.
    pub unsafe fn after(&self, keys: Keys, key: Option<Key>) -> Option<(Key, *mut u64)> {
        let mut best: Option<(Key, *mut u64)> = None;
        let _ = self.visit::<()>(keys, &mut |other, cell| {
            let is_above = key.is_none_or(|key| keys.compare(other, key) == Ordering::Greater);
            if is_above && best.is_none_or(|(best, _)| keys.compare(other, best) == Ordering::Less) {
                best = Some((other, cell));
            }
            ControlFlow::Continue(())
        });
        best
    }

    /// Shows every entry until told to stop.
    pub unsafe fn visit<B>(
        &self,
        keys: Keys,
        show: &mut dyn FnMut(Key, *mut u64) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        for slot in 0..(*self.table).groups * SLOTS {
            if self.is_used(slot) {
                show(self.key(keys, slot), self.cell(keys, slot))?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Drops some of the entries, with what they own; whether there are more.
    pub unsafe fn drop_some(&mut self, heap: &mut Heap, shape: Shape) -> bool {
        let keys = shape.keys;
        let mut dropped = 0;
        let used = (0..(*self.table).groups).filter(|&number| self.group(number) & FREE != FREE);
        for number in used.take(DROPPED) {
            for slot in (number * SLOTS..(number + 1) * SLOTS).filter(|&slot| self.is_used(slot)) {
                keys.drop(heap, self.key(keys, slot));
                shape.drop_word(heap, *self.cell(keys, slot));
                *self.control(slot) = REMOVED;
                dropped += 1;
            }
        }
        (*self.table).count -= dropped;
        (*self.table).count > 0
    }

    /// Frees the table; the entries have gone elsewhere, or what they own is gone already.
    pub unsafe fn free(self, heap: &mut Heap, keys: Keys) {
        heap.free(self.table.cast(), bytes(keys, (*self.table).groups));
    }

    /// The slot where a key is; else the one to put it, if there is one.
    #[inline(always)]
    unsafe fn slot_of(&self, keys: Keys, key: Key, hash: u64) -> Result<usize, Option<usize>> {
        let groups = (*self.table).groups;
        let mut number = home(hash, groups);
        let mut free = None;
        for _ in 0..LONGEST.min(groups) {
            let group = self.group(number);
            let mut candidates = bytes_equal(group, tag(hash));
            while candidates != 0 {
                let slot = number * SLOTS + lowest(candidates);
                if keys.equal(self.key(keys, slot), key) {
                    return Ok(slot);
                }
                candidates &= candidates - 1;
            }
            if free.is_none() && group & FREE != 0 {
                free = Some(number * SLOTS + lowest(group & FREE));
            }
            if group & (group << 1) & FREE != 0 {
                break;
            }
            number = if number + 1 == groups { 0 } else { number + 1 };
        }
        Err(free)
    }

    /// The byte of a slot.
    #[inline]
    unsafe fn control(&self, slot: usize) -> *mut u8 {
        self.table.add(1).cast::<u8>().add(slot)
    }

    #[inline]
    unsafe fn is_used(&self, slot: usize) -> bool {
        *self.control(slot) & 0x80 == 0
    }

    #[inline]
    unsafe fn group(&self, number: usize) -> u64 {
        u64::from_le_bytes(*self.control(number * SLOTS).cast())
    }

    #[inline]
    unsafe fn key(&self, keys: Keys, slot: usize) -> *mut u64 {
        let entries = self.control((*self.table).groups * SLOTS).cast::<u64>();
        entries.add(slot * (keys.width() + 1))
    }

    #[inline]
    unsafe fn cell(&self, keys: Keys, slot: usize) -> *mut u64 {
        self.key(keys, slot).add(keys.width())
    }
}

/// Why a table was not rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rebuilding {
    /// There is no memory.
    Memory,
    /// Too many keys have nearly the same hash.
    Crowded,
}

/// The group where a search begins.
#[inline]
fn home(hash: u64, groups: usize) -> usize {
    ((u128::from(hash) * groups as u128) >> 64) as usize
}

#[inline]
fn tag(hash: u64) -> u8 {
    hash as u8 & 0x7F
}

/// The highest bit of each byte that is `byte`, and perhaps of one that follows such a byte.
#[inline]
fn bytes_equal(group: u64, byte: u8) -> u64 {
    let difference = group ^ (u64::from(byte) * ONES);
    difference.wrapping_sub(ONES) & !difference & FREE
}

#[inline]
fn lowest(bits: u64) -> usize {
    bits.trailing_zeros() as usize / 8
}

fn bytes(keys: Keys, groups: usize) -> usize {
    size_of::<Table>() + groups * SLOTS * (1 + 8 * (keys.width() + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heap::Memory;
    use drystone_component::Kind;

    #[test]
    fn keys_that_collide_are_refused_and_the_others_stay() {
        let mut heap = Heap::new(Memory::new(usize::MAX, None));
        let keys = Keys::new(&[Kind::Word]);
        // SAFETY: the key is one number.
        unsafe {
            let mut hash = Hash::new(&mut heap, keys, 1000).unwrap();
            let Table { groups, seed, .. } = *hash.table;
            let mut colliding = (0u64..).filter(|key| home(keys.hash(key, seed), groups) == groups - 5);
            for i in 0..LONGEST * SLOTS {
                let inserted = hash.insert(keys, &colliding.next().unwrap()).unwrap();
                assert!(inserted.is_new);
                *inserted.cell = i as u64;
            }
            let last = colliding.next().unwrap();
            assert!(hash.insert(keys, &last).is_none() && hash.find(keys, &last).is_none());
            assert_eq!(hash.rebuild(&mut heap, keys), Ok(()));
            assert_eq!(hash.count(), LONGEST * SLOTS);
            let colliding = (0u64..).filter(|key| home(keys.hash(key, seed), groups) == groups - 5);
            for (i, key) in colliding.take(LONGEST * SLOTS).enumerate() {
                assert_eq!(hash.find(keys, &key).map(|cell| *cell), Some(i as u64));
            }
            hash.free(&mut heap, keys);
        }
    }
}
