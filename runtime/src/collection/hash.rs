//! Hash table: elements in no order, any kinds of keys, found in constant time. Open addressing by groups of eight
//! slots, with a byte for each slot: whether it is used, and seven bits of the hash.
//!
//! An entry is never further than [`LONGEST`] groups from where its hash says. Where that cannot be kept, because keys
//! collide on purpose, the table refuses the key, so that finding takes constant time whatever the keys are. Full
//! tables grow by half, so that memory is less than twice what the elements need.

use core::cell::Cell;
use core::cmp::Ordering;
use core::ops::ControlFlow;
use core::ptr::{self, NonNull};

use super::keys::{Key, Keys};
use super::shape::{Inserted, Shape};
use crate::heap::Heap;

/// A hash table: a live block. The entry of a slot is initialised where its byte says that it is used; then the key
/// holds its texts.
pub struct Hash {
    table: NonNull<Table>,
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
    /// The slot where a key was found last: a program that asks for an element often uses it next.
    last: Cell<usize>,
}

const SLOTS: usize = 8;
/// So many groups are dropped at once, because each time the search for used groups begins anew.
const DROPPED: usize = 1 << 8;
/// The most groups that are searched for a key.
const LONGEST: usize = 32;

const UNUSED: u8 = 0xFF;
const REMOVED: u8 = 0x80;
/// A one in every byte.
const ONES: u64 = 0x0101_0101_0101_0101;
/// The highest bit of every byte: the slot is free.
const FREE: u64 = 0x80 * ONES;

impl Hash {
    /// A table with room for half as many entries again. `None`: there is no memory.
    pub fn new(heap: &mut Heap, keys: Keys, entries: usize) -> Option<Hash> {
        let groups = (entries * 12 / 7).div_ceil(SLOTS).max(2);
        let table = NonNull::new(heap.allocate(bytes(keys, groups)) as *mut Table)?;
        let unused = groups * SLOTS;
        // Nobody can foresee the address, so nobody can choose keys that collide.
        let seed = (table.as_ptr() as u64).rotate_left(32) ^ 0x243F_6A88_85A3_08D3;
        let hash = Hash { table };
        // SAFETY: the block is fresh, and has room for the head and the slots.
        unsafe {
            table.write(Table { groups, count: 0, unused, seed, last: Cell::new(0) });
            ptr::write_bytes(hash.control(0), UNUSED, unused);
        }
        Some(hash)
    }

    /// The number of elements.
    pub fn count(&self) -> usize {
        self.head().count
    }

    /// The element with a key.
    #[inline]
    pub fn find(&self, keys: Keys, key: Key) -> Option<*mut u64> {
        if let Some(cell) = self.find_again(keys, key) {
            return Some(cell);
        }
        let slot = self.slot_of(keys, key, keys.hash(key, self.head().seed)).ok()?;
        self.head().last.set(slot);
        // SAFETY: `slot` is a slot of the table.
        Some(unsafe { self.cell(keys, slot) })
    }

    /// The element with a key if that was found last. Not for numbers, which are hashed as quickly.
    #[inline]
    fn find_again(&self, keys: Keys, key: Key) -> Option<*mut u64> {
        let last = self.head().last.get();
        // SAFETY: `last` is a slot of the table, and has a key if it is used.
        unsafe {
            let is_last = !keys.is_number() && self.is_used(last) && keys.equal(self.key(keys, last), key);
            is_last.then(|| self.cell(keys, last))
        }
    }

    /// Finds or makes the element with a key. `None`: the table is full, or too many keys have nearly the same hash;
    /// [`Hash::rebuild`] may help.
    ///
    /// # Safety
    /// The caller sees to it that a new key holds its texts.
    pub unsafe fn insert(&mut self, keys: Keys, key: Key) -> Option<Inserted> {
        if let Some(cell) = self.find_again(keys, key) {
            return Some(Inserted { cell, is_new: false });
        }
        let hash = keys.hash(key, self.head().seed);
        // SAFETY: the slot is one of the table; a free one gets the key, which will hold its texts.
        unsafe {
            match self.slot_of(keys, key, hash) {
                Ok(slot) => Some(Inserted { cell: self.cell(keys, slot), is_new: false }),
                Err(free) => Some(Inserted { cell: self.use_slot(keys, key, hash, free?)?, is_new: true }),
            }
        }
    }

    /// Puts a new key into a slot. `None`: the table is full.
    ///
    /// # Safety
    /// The slot is a free one of the table. The caller sees to it that the key holds its texts.
    #[inline]
    unsafe fn use_slot(&mut self, keys: Keys, key: Key, hash: u64, slot: usize) -> Option<*mut u64> {
        // SAFETY: `slot` is a slot of the table; its entry has room for the key and a word.
        unsafe {
            let table = self.table.as_mut();
            if *self.control(slot) == UNUSED {
                if table.unused <= table.groups {
                    return None;
                }
                table.unused -= 1;
            }
            table.count += 1;
            *self.control(slot) = tag(hash);
            ptr::copy_nonoverlapping(key.as_ptr(), self.entry(keys, slot), keys.width());
            let cell = self.cell(keys, slot);
            *cell = 0;
            Some(cell)
        }
    }

    /// Removes the element with a key and answers what it held.
    pub fn remove(&mut self, heap: &mut Heap, keys: Keys, key: Key) -> Option<u64> {
        let slot = self.slot_of(keys, key, keys.hash(key, self.head().seed)).ok()?;
        // SAFETY: the slot is a used one of the table, and free from now on.
        let (word, is_last) = unsafe {
            keys.drop(heap, self.entry(keys, slot));
            // If a search ends in this group anyway, no entry can have been put further on because of this slot.
            let group = self.group(slot / SLOTS);
            let is_last = group & (group << 1) & FREE != 0;
            *self.control(slot) = if is_last { UNUSED } else { REMOVED };
            (*self.cell(keys, slot), is_last)
        };
        let table = self.head_mut();
        table.unused += usize::from(is_last);
        table.count -= 1;
        if table.groups > 4 && table.count < table.groups * SLOTS / 4 {
            // If there is no memory for a smaller table, the large one stays.
            let _ = self.rebuild(heap, keys);
        }
        Some(word)
    }

    /// Makes a table of the proper size for what it holds. The error says why it could not.
    pub fn rebuild(&mut self, heap: &mut Heap, keys: Keys) -> Result<(), Rebuilding> {
        let mut new = Hash::new(heap, keys, self.count() + 1).ok_or(Rebuilding::Memory)?;
        for slot in 0..self.slots() {
            // SAFETY: a used slot of the table has a key; one of both tables is freed without dropping its keys.
            let is_put = unsafe {
                !self.is_used(slot)
                    || new.put_new(keys, self.key(keys, slot), *self.cell(keys, slot)).is_some()
            };
            if !is_put {
                new.free(heap, keys);
                return Err(Rebuilding::Crowded);
            }
        }
        core::mem::replace(self, new).free(heap, keys);
        Ok(())
    }

    /// Inserts an element whose key is not in the table. `None`: see [`Hash::insert`].
    ///
    /// # Safety
    /// What the key and the word hold goes over to the table, unless that is freed.
    #[inline]
    pub unsafe fn put_new(&mut self, keys: Keys, key: Key, word: u64) -> Option<()> {
        let Table { groups, seed, .. } = *self.head();
        let hash = keys.hash(key, seed);
        let mut number = home(hash, groups);
        for _ in 0..LONGEST.min(groups) {
            // SAFETY: a search goes through the table's groups.
            let free = unsafe { self.group(number) } & FREE;
            if free != 0 {
                // SAFETY: the slot is free, and the key holds its texts.
                unsafe { *self.use_slot(keys, key, hash, number * SLOTS + lowest(free))? = word };
                return Some(());
            }
            number = if number + 1 == groups { 0 } else { number + 1 };
        }
        None
    }

    /// The entry with the smallest key above `key`, or of all, found by looking at each.
    pub fn after<'a>(&'a self, keys: Keys, key: Option<Key>) -> Option<(Key<'a>, *mut u64)> {
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
    pub fn visit<'a, B>(
        &'a self,
        keys: Keys,
        show: &mut dyn FnMut(Key<'a>, *mut u64) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        for slot in 0..self.slots() {
            // SAFETY: a used slot of the table has a key.
            unsafe {
                if self.is_used(slot) {
                    show(self.key(keys, slot), self.cell(keys, slot))?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Drops some of the entries, with what they own; whether there are more.
    pub fn drop_some(&mut self, heap: &mut Heap, shape: Shape) -> bool {
        let keys = shape.keys;
        let mut dropped = 0;
        // SAFETY: the table has all of these groups.
        let used = (0..self.head().groups).filter(|&number| unsafe { self.group(number) } & FREE != FREE);
        for number in used.take(DROPPED) {
            for slot in number * SLOTS..(number + 1) * SLOTS {
                // SAFETY: the slot is one of the table, used so far, and free from now on.
                unsafe {
                    if self.is_used(slot) {
                        keys.drop(heap, self.entry(keys, slot));
                        shape.drop_word(heap, *self.cell(keys, slot));
                        *self.control(slot) = REMOVED;
                        dropped += 1;
                    }
                }
            }
        }
        self.head_mut().count -= dropped;
        self.count() > 0
    }

    /// Frees the table; the entries have gone elsewhere, or what they own is gone already.
    pub fn free(self, heap: &mut Heap, keys: Keys) {
        // SAFETY: the table is so large, and goes with `self`.
        unsafe { heap.free(self.table.as_ptr().cast(), bytes(keys, self.head().groups)) };
    }

    /// The slot where a key is; else the one to put it, if there is one.
    #[inline(always)]
    fn slot_of(&self, keys: Keys, key: Key, hash: u64) -> Result<usize, Option<usize>> {
        let groups = self.head().groups;
        let mut number = home(hash, groups);
        let mut free = None;
        for _ in 0..LONGEST.min(groups) {
            // SAFETY: a search goes through the table's groups.
            let group = unsafe { self.group(number) };
            let mut candidates = bytes_equal(group, tag(hash));
            while candidates != 0 {
                let slot = number * SLOTS + lowest(candidates);
                // SAFETY: the slot is one of the table, and used, for its byte has no highest bit.
                if keys.equal(unsafe { self.key(keys, slot) }, key) {
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

    #[inline]
    fn head(&self) -> &Table {
        // SAFETY: the table is live, and nobody changes its head while this is borrowed.
        unsafe { self.table.as_ref() }
    }

    #[inline]
    fn head_mut(&mut self) -> &mut Table {
        // SAFETY: the table is live, and nobody else uses its head while this is borrowed.
        unsafe { self.table.as_mut() }
    }

    /// How many slots there are.
    fn slots(&self) -> usize {
        self.head().groups * SLOTS
    }

    /// The bytes of a group's slots.
    ///
    /// # Safety
    /// The table has that group.
    #[inline]
    unsafe fn group(&self, number: usize) -> u64 {
        // SAFETY: so many slots stand side by side, each with a byte.
        unsafe { u64::from_le_bytes(*self.control(number * SLOTS).cast()) }
    }

    /// The byte of a slot.
    ///
    /// # Safety
    /// The table has that slot, here and below, or it is the end of the slots.
    #[inline]
    unsafe fn control(&self, slot: usize) -> *mut u8 {
        // SAFETY: the slots' bytes follow the head.
        unsafe { self.table.as_ptr().add(1).cast::<u8>().add(slot) }
    }

    /// Whether a slot has an entry.
    ///
    /// # Safety
    /// See [`Hash::control`].
    #[inline]
    unsafe fn is_used(&self, slot: usize) -> bool {
        // SAFETY: every slot has a byte.
        unsafe { *self.control(slot) & 0x80 == 0 }
    }

    /// Where a slot's entry is: the key's words, and the cell.
    ///
    /// # Safety
    /// See [`Hash::control`].
    #[inline]
    unsafe fn entry(&self, keys: Keys, slot: usize) -> *mut u64 {
        // SAFETY: the entries follow the slots' bytes, one for each.
        unsafe { self.control(self.slots()).cast::<u64>().add(slot * (keys.width() + 1)) }
    }

    /// The key of a slot.
    ///
    /// # Safety
    /// See [`Hash::control`]; the slot is used.
    #[inline]
    unsafe fn key<'a>(&'a self, keys: Keys, slot: usize) -> Key<'a> {
        // SAFETY: the key of a used slot is initialised, and holds its texts; while the table is borrowed it stays.
        unsafe { Key::new(self.entry(keys, slot)) }
    }

    /// The cell of a slot.
    ///
    /// # Safety
    /// See [`Hash::control`].
    #[inline]
    unsafe fn cell(&self, keys: Keys, slot: usize) -> *mut u64 {
        // SAFETY: in the entry the cell follows the key.
        unsafe { self.entry(keys, slot).add(keys.width()) }
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
        // SAFETY: every key here is one number.
        let keys = unsafe { Keys::new(&[Kind::Word]) };
        // SAFETY: it is one word, as the kinds say.
        let key = |number: &u64| unsafe { Key::new(number) };
        let mut hash = Hash::new(&mut heap, keys, 1000).unwrap();
        let Table { groups, seed, .. } = *hash.head();
        let is_colliding = |number: &u64| home(keys.hash(key(number), seed), groups) == groups - 5;
        let mut colliding = (0u64..).filter(is_colliding);
        for i in 0..LONGEST * SLOTS {
            // SAFETY: a number holds no texts.
            let inserted = unsafe { hash.insert(keys, key(&colliding.next().unwrap())) }.unwrap();
            assert!(inserted.is_new);
            // SAFETY: the element was made just now.
            unsafe { *inserted.cell = i as u64 };
        }
        let last = colliding.next().unwrap();
        // SAFETY: a number holds no texts.
        assert!(unsafe { hash.insert(keys, key(&last)) }.is_none() && hash.find(keys, key(&last)).is_none());
        assert_eq!(hash.rebuild(&mut heap, keys), Ok(()));
        assert_eq!(hash.count(), LONGEST * SLOTS);
        for (i, number) in (0u64..).filter(is_colliding).take(LONGEST * SLOTS).enumerate() {
            // SAFETY: nothing has changed since it was found.
            assert_eq!(hash.find(keys, key(&number)).map(|cell| unsafe { *cell }), Some(i as u64));
        }
        hash.free(&mut heap, keys);
    }
}
