//! The slots of a component: where they are, and which interfaces they are for.
//!
//! # Why this is sound
//! A template says where its instances' slots lie. Those of a required interface with a cardinality lie in blocks of
//! their own, to which a table of the instance's leads; both go with the instance.
//!
//! # Safety of this module
//! *There*: the block of `instance` is still there, alive or dead, and this is the home worker's thread.

use core::ptr::{self, null_mut};

use drystone_component::{Interface, Offered, Required};

use crate::failure::ds_fail;
use crate::instance::{slot_at, template_of};
use crate::layout::*;
use crate::worker::heap_of;

/// The offered slot of a component for an interface, or null.
///
/// # Safety
/// `instance` is *there*.
pub unsafe fn find_offered(instance: *mut Instance, interface: *const Interface) -> *mut OfferedSlot {
    // SAFETY: `instance` is *there*.
    unsafe {
        for offered in (*template_of(instance)).offered.get() {
            if ptr::eq(offered.interface, interface) {
                return slot_at(instance, offered.offset);
            }
        }
    }
    null_mut()
}

/// The offered slot of a component in an ANY container.
///
/// # Safety
/// `p` runs on `w`, the home worker; `instance` is null or *there*.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_find_offered(
    w: *mut Worker,
    p: *mut Process,
    instance: *mut Instance,
    interface: *const Interface,
    location: u32,
) -> *mut OfferedSlot {
    // SAFETY: `p` runs on `w`, the home worker; `instance` is null or *there*.
    unsafe {
        if instance.is_null() {
            ds_fail(w, p, Fault::EmptyContainer as u32, location);
            return null_mut();
        }
        let slot = find_offered(instance, interface);
        if slot.is_null() {
            ds_fail(w, p, Fault::WrongType as u32, location);
        }
        slot
    }
}

impl SlotTable {
    fn bytes(length: usize) -> usize {
        8 + 8 * length
    }

    /// # Safety
    /// `table` is live, and has room for more than `index` slots.
    unsafe fn entry(table: *mut SlotTable, index: usize) -> *mut *mut RequiredSlot {
        // SAFETY: the entries follow the table's one word.
        unsafe { table.cast::<*mut RequiredSlot>().add(1 + index) }
    }
}

/// The required slots that a component has now, inward connections not among them.
///
/// # Safety
/// `instance` is *there*, and `each` doesn't change which slots it has.
pub unsafe fn required_slots(instance: *mut Instance, mut each: impl FnMut(*mut RequiredSlot)) {
    // SAFETY: `instance` is *there*, and `each` doesn't change which slots it has.
    unsafe {
        for required in (*template_of(instance)).required.get() {
            slots_of(instance, required, &mut each);
        }
    }
}

/// The slots that a component has now for one of the interfaces that it requires.
///
/// # Safety
/// As for [`required_slots`]; `required` is of its template.
pub unsafe fn slots_of(
    instance: *mut Instance,
    required: &Required,
    each: &mut dyn FnMut(*mut RequiredSlot),
) {
    // SAFETY: with a cardinality there is a table, or null, in the slot's place.
    unsafe {
        if required.slots == 0 {
            return each(slot_at(instance, required.offset));
        }
        let table = *slot_at::<*mut SlotTable>(instance, required.offset);
        if !table.is_null() {
            for index in 0..(*table).length {
                let slot = *SlotTable::entry(table, index);
                if !slot.is_null() {
                    each(slot);
                }
            }
        }
    }
}

/// What is done with each of so many slots takes long.
const MANY: usize = 1000;

/// The tables of a component that are there.
///
/// # Safety
/// `instance` is *there* as long as the iterator is used.
unsafe fn tables(instance: *mut Instance) -> impl Iterator<Item = *mut SlotTable> {
    // SAFETY: `instance` is *there* as long as the iterator is used.
    let required = unsafe { (*template_of(instance)).required.get() };
    let indexed = required.iter().filter(|required| required.slots != 0);
    // SAFETY: such an interface has a table, or null, in the instance.
    let tables =
        indexed.map(move |required| unsafe { *slot_at::<*mut SlotTable>(instance, required.offset) });
    tables.filter(|table| !table.is_null())
}

/// Whether a component has so many slots that undoing them is spread over several time slices.
///
/// # Safety
/// `instance` is *there*.
pub unsafe fn has_many_slots(instance: *mut Instance) -> bool {
    // SAFETY: `instance` is *there*.
    unsafe { tables(instance).any(|table| (*table).length >= MANY) }
}

/// The next slot at or behind a place in the tables of a component, which moves there; `None`: that was all.
///
/// # Safety
/// `instance` is *there*.
pub unsafe fn next_in_tables(instance: *mut Instance, place: &mut usize) -> Option<*mut *mut RequiredSlot> {
    let mut before = 0;
    // SAFETY: `instance` is *there*, and the index is below the table's length.
    unsafe {
        for table in tables(instance) {
            while *place < before + (*table).length {
                let entry = SlotTable::entry(table, *place - before);
                if !(*entry).is_null() {
                    return Some(entry);
                }
                *place += 1;
            }
            before += (*table).length;
        }
    }
    None
}

/// The slots that lead inward.
///
/// # Safety
/// `instance` is *there*.
pub unsafe fn inward_slots(instance: *mut Instance, mut each: impl FnMut(*mut RequiredSlot)) {
    // SAFETY: an inward interface has a slot at `inward`.
    unsafe {
        for offered in (*template_of(instance)).offered.get() {
            if offered.body == Offered::INWARD {
                each(slot_at(instance, offered.inward));
            }
        }
    }
}

/// Frees the tables of required interfaces with a cardinality.
///
/// # Safety
/// `w` is the home worker; `instance` is *there*, and nothing leads to its slots.
pub unsafe fn free_tables(w: *mut Worker, instance: *mut Instance) {
    // SAFETY: `indexed_slot` has made these blocks, with these sizes.
    unsafe {
        for required in (*template_of(instance)).required.get().iter().filter(|r| r.slots != 0) {
            let free =
                &mut |slot: *mut RequiredSlot| (*heap_of(w)).free(slot.cast(), size_of::<RequiredSlot>());
            slots_of(instance, required, free);
            let cell = slot_at::<*mut SlotTable>(instance, required.offset);
            if !(*cell).is_null() {
                (*heap_of(w)).free((*cell).cast(), SlotTable::bytes((**cell).length));
                *cell = null_mut();
            }
        }
    }
}

/// The required slot of a component for an interface.
///
/// # Safety
/// `p` runs on `w`, the home worker, or is null where nothing can fail; `instance` is null or *there*.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_find_required(
    w: *mut Worker,
    p: *mut Process,
    instance: *mut Instance,
    interface: *const Interface,
    k: i64,
    location: u32,
) -> *mut RequiredSlot {
    let fail = |fault: Fault| {
        // SAFETY: something can fail, so `p` runs on `w`.
        unsafe { ds_fail(w, p, fault as u32, location) };
        null_mut()
    };
    if instance.is_null() {
        return fail(Fault::EmptyContainer);
    }
    // SAFETY: `instance` is *there*.
    let mut all = unsafe { (*template_of(instance)).required.get().iter() };
    let Some(required) = all.find(|r| ptr::eq(r.interface, interface)) else {
        return fail(Fault::WrongType);
    };
    if required.slots == 0 {
        if k != 1 {
            return fail(Fault::IndexOutOfBounds);
        }
        // SAFETY: without a cardinality the slot itself lies there.
        return unsafe { slot_at(instance, required.offset) };
    }
    if k < 1 || k > required.slots as i64 {
        return fail(Fault::IndexOutOfBounds);
    }
    // SAFETY: `required` is of its template, and `k` within its cardinality.
    let slot = unsafe { indexed_slot(w, instance, required, k as usize - 1) };
    slot.unwrap_or_else(|| fail(Fault::OutOfMemory))
}

/// The slot, counted from 0, of a required interface with a cardinality; made when it is first needed. `None`: no
/// memory.
///
/// # Safety
/// `w` is the home worker; `instance` is *there*; `required` is of its template, with more slots than `index`.
pub unsafe fn indexed_slot(
    w: *mut Worker,
    instance: *mut Instance,
    required: &Required,
    index: usize,
) -> Option<*mut RequiredSlot> {
    // SAFETY: the table, where there is one, is as long as it says; a new one is longer than `index`.
    unsafe {
        let cell = slot_at::<*mut SlotTable>(instance, required.offset);
        let old = if (*cell).is_null() { 0 } else { (**cell).length };
        if index >= old {
            let length = (index + 1).max(2 * old).min(required.slots as usize);
            let table = (*heap_of(w)).allocate_zeroed(SlotTable::bytes(length)) as *mut SlotTable;
            if table.is_null() {
                return None;
            }
            if old != 0 {
                ptr::copy_nonoverlapping(SlotTable::entry(*cell, 0), SlotTable::entry(table, 0), old);
                (*heap_of(w)).free((*cell).cast(), SlotTable::bytes(old));
            }
            (*table).length = length;
            *cell = table;
        }
        let entry = SlotTable::entry(*cell, index);
        if (*entry).is_null() {
            let slot = (*heap_of(w)).allocate_zeroed(size_of::<RequiredSlot>()) as *mut RequiredSlot;
            if slot.is_null() {
                return None;
            }
            (*slot).instance = instance;
            *entry = slot;
        }
        Some(*entry)
    }
}

/// `COUNT(required)`
///
/// # Safety
/// `instance` is *there*, and its template has that required interface.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_count(_w: *mut Worker, instance: *mut Instance, required: u32) -> i64 {
    let mut count = 0;
    // SAFETY: `instance` is *there*.
    unsafe {
        let required = &(*template_of(instance)).required.get()[required as usize];
        slots_of(instance, required, &mut |slot| count += i64::from((*slot).target != 0));
    }
    count
}

/// Calls `each` for all slots of a component, inward ones too, with their interfaces.
///
/// # Safety
/// As for [`required_slots`].
pub unsafe fn interfaces_of(
    instance: *mut Instance,
    mut each: impl FnMut(*mut RequiredSlot, *const Interface),
) {
    // SAFETY: as for `required_slots`; an inward interface has a slot at `inward`.
    unsafe {
        let template = &*template_of(instance);
        for required in template.required.get() {
            slots_of(instance, required, &mut |slot| each(slot, required.interface));
        }
        for offered in template.offered.get().iter().filter(|offered| offered.body == Offered::INWARD) {
            each(slot_at(instance, offered.inward), offered.interface);
        }
    }
}
