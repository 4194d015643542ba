//! Address spaces that are never active: their quota, and what they give back.

use std::alloc::{Layout, alloc};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ptr::NonNull;

use kortex_hal::mmu::{Access, AddressSpace, Refused, Table};
use kortex_memory::buddy::Buddy;
use kortex_memory::flat::Flat;
use kortex_memory::paged::Paged;
use kortex_memory::{PAGE, Space};
use kortex_resource::ResourceManager;
use proptest::collection::vec;
use proptest::prelude::*;

/// Where users' addresses begin.
const START: usize = 512 << 30;
const MOST: usize = 40;

fn pages(count: usize) -> RefCell<Buddy> {
    // SAFETY: the layouts aren't empty; the table of orders lies beside the pages.
    unsafe {
        let memory = alloc(Layout::from_size_align(count * PAGE, PAGE).expect("small")) as usize;
        let beside = alloc(Layout::from_size_align(Buddy::beside(count), 16).expect("small"));
        let mut buddy = Buddy::of(memory, memory + count * PAGE, beside);
        buddy.add(memory, memory + count * PAGE);
        RefCell::new(buddy)
    }
}

fn kernel() -> AddressSpace {
    // SAFETY: a table of its own.
    unsafe { AddressSpace::new(Box::leak(Box::<Table>::default())) }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Create,
    /// Binds one of the unbound pages to an address.
    Bind(usize, usize, Access),
    Release(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let address = prop_oneof![
        4 => (0_usize..6).prop_map(|page| START + page * PAGE),
        2 => (0_usize..6, 1_usize..4).prop_map(|(page, area)| START + (area << 30) + page * PAGE),
        1 => prop_oneof![Just(0), Just(START - PAGE), Just(START + 8)],
    ];
    let access = prop_oneof![Just(Access::READ), Just(Access::WRITE), Just(Access::EXECUTE)];
    let step = prop_oneof![
        3 => Just(Step::Create),
        4 => (any::<usize>(), address, access).prop_map(|(which, at, access)| Step::Bind(which, at, access)),
        1 => any::<usize>().prop_map(Step::Release),
    ];
    vec(step, 0..200)
}

proptest! {
    #[test]
    fn pages_are_where_they_were_bound_and_all_come_back(steps in steps()) {
        let pages = pages(64);
        let all = pages.borrow().free_pages();
        let space = Paged::create(&kernel(), START, &pages, MOST).expect("there is memory");
        let (mut unbound, mut bound) = (Vec::<NonNull<u8>>::new(), BTreeMap::new());
        for step in steps {
            let used = all - pages.borrow().free_pages();
            prop_assert!(used <= MOST);
            match step {
                Step::Create => match space.create(()) {
                    Ok(page) => {
                        // SAFETY: it is this one's.
                        let within = unsafe { page.cast::<[u8; PAGE]>().replace([0xa5; PAGE]) };
                        prop_assert!(within == [0; PAGE]);
                        unbound.push(page);
                    }
                    Err(refused) => prop_assert!(used == MOST && refused == Refused::NoMemory),
                },
                Step::Bind(which, at, access) if !unbound.is_empty() => {
                    let which = which % unbound.len();
                    // SAFETY: it isn't used.
                    let answer = unsafe { space.bind(&unbound[which], (at, access)) };
                    match answer {
                        Ok(at) => {
                            prop_assert!(bound.insert(at, (unbound.remove(which), access)).is_none());
                        }
                        Err(Refused::Unaligned) => prop_assert!(at < START || at % PAGE != 0),
                        Err(Refused::Used) => prop_assert!(bound.contains_key(&at)),
                        Err(refused) => prop_assert!(refused == Refused::NoMemory && used + 3 > MOST),
                    }
                }
                Step::Release(which) if !unbound.is_empty() => {
                    let page = unbound.remove(which % unbound.len());
                    // SAFETY: it isn't bound.
                    unsafe { space.release(page) };
                    prop_assert_eq!(all - pages.borrow().free_pages(), used - 1);
                }
                Step::Bind(..) | Step::Release(_) => {}
            }
        }
        for (&at, &(page, access)) in &bound {
            let found = space.space().look_up(at + 5);
            let (place, as_found) = found.expect("it was bound");
            prop_assert_eq!(place, page.as_ptr() as usize + 5);
            prop_assert!(as_found.user && as_found.write == access.write && as_found.execute == access.execute);
        }
        let each: BTreeSet<_> = bound.values().map(|&(page, _)| page).chain(unbound.iter().copied()).collect();
        prop_assert_eq!(each.len(), bound.len() + unbound.len());
        // SAFETY: it is never active.
        unsafe {
            unbound.into_iter().for_each(|page| space.release(page));
            space.take_apart();
        }
        prop_assert_eq!(pages.borrow().free_pages(), all);
    }
}

#[test]
fn what_cannot_be_had_takes_nothing() {
    let pages = pages(64);
    let space = Paged::create(&kernel(), START, &pages, 2).expect("there is memory");
    let free = pages.borrow().free_pages();
    assert_eq!(space.map(START - PAGE, 1, Access::WRITE), Err(Refused::Unaligned));
    assert_eq!(space.map(START + 1, 1, Access::WRITE), Err(Refused::Unaligned));
    assert_eq!(pages.borrow().free_pages(), free);
    assert_eq!(
        Paged::create(&kernel(), START, &pages, 0).map(|_| ()),
        Err(Refused::NoMemory),
        "its first table is among what it may have"
    );
}

/// Code that maps memory needn't know the model: in the flat model memory is mapped already, or never.
#[test]
fn in_the_flat_model_there_is_what_there_was() {
    let space = Flat::new(0x10_0000..0x20_0000);
    for (at, pages, is_there) in [
        (0x10_0000, 256, true),
        (0x1f_f000, 1, true),
        (0x10_0000, 257, false),
        (0xf_f000, 1, false),
        (0x1f_f000, usize::MAX, false),
        (usize::MAX - 4095, 2, false),
    ] {
        let expected = if is_there { Ok(()) } else { Err(Refused::NoMemory) };
        assert_eq!(space.map(at, pages, Access::WRITE), expected, "{at:#x}, {pages}");
    }
}
