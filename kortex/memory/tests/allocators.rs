//! Allocated memory doesn't overlap, is aligned, and comes back, whatever is requested in any order.

use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;

use kortex_memory::buddy::Buddy;
use kortex_memory::general::General;
use kortex_memory::{PAGE, Pages};
use proptest::prelude::*;

/// Memory of the host, as a machine would have it: with a hole.
struct Machine {
    layout: Layout,
    memory: *mut u8,
    beside: Vec<u8>,
    hole: std::ops::Range<usize>,
    pages: usize,
}

impl Machine {
    fn new(pages: usize) -> Machine {
        let layout = Layout::from_size_align(pages * PAGE, 64 * PAGE).expect("small");
        // SAFETY: it isn't empty.
        let memory = unsafe { alloc(layout) };
        let hole_start = memory as usize + pages / 3 * PAGE;
        let hole = hole_start..hole_start + 5 * PAGE;
        Machine { layout, memory, beside: vec![0; Buddy::beside(pages)], hole, pages }
    }

    fn buddy(&mut self) -> Buddy {
        let start = self.memory as usize;
        let end = start + self.pages * PAGE;
        let hole = self.hole.clone();
        // SAFETY: the machine outlives it.
        unsafe {
            let mut buddy = Buddy::of(start, end, self.beside.as_mut_ptr());
            buddy.add(start + 100, hole.start);
            buddy.add(hole.end, end);
            buddy
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // SAFETY: it was allocated so.
        unsafe { dealloc(self.memory, self.layout) };
    }
}

/// What is allocated: no two ranges overlap.
#[derive(Default)]
struct Held(Vec<(usize, usize)>);

impl Held {
    fn add(&mut self, start: usize, size: usize) -> Result<(), TestCaseError> {
        for &(other, its) in &self.0 {
            prop_assert!(
                start + size <= other || other + its <= start,
                "{start:x}+{size:x}, {other:x}+{its:x}"
            );
        }
        self.0.push((start, size));
        Ok(())
    }

    fn take(&mut self, which: usize) -> Option<(usize, usize)> {
        (!self.0.is_empty()).then(|| self.0.swap_remove(which % self.0.len()))
    }
}

#[derive(Clone, Debug)]
enum Step {
    Allocate(usize, usize),
    Free(usize),
    Reallocate(usize, usize),
}

fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let allocate = (0..most, 0usize..13).prop_map(|(size, align)| Step::Allocate(size, align));
    let reallocate = (0usize..1000, 0..most).prop_map(|(which, size)| Step::Reallocate(which, size));
    let step = prop_oneof![3 => allocate, 2 => (0usize..1000).prop_map(Step::Free), 2 => reallocate];
    prop::collection::vec(step, 1..400)
}

proptest! {
    #[test]
    fn pages_come_and_go(steps in steps(7)) {
        let mut machine = Machine::new(500);
        let hole = machine.hole.clone();
        let mut buddy = machine.buddy();
        let all = buddy.free_pages();
        let mut held = Held::default();
        let mut count = 0;
        for step in steps {
            match step {
                Step::Allocate(order, _) => {
                    let Some(pages) = buddy.allocate(order) else { continue };
                    let start = pages.as_ptr() as usize;
                    prop_assert!(start.is_multiple_of(PAGE << order));
                    prop_assert!(start + (PAGE << order) <= hole.start || hole.end <= start);
                    held.add(start, PAGE << order)?;
                    // SAFETY: it was allocated.
                    unsafe { pages.as_ptr().write_bytes(0xa5, PAGE << order) };
                    count += 1 << order;
                }
                Step::Free(which) => {
                    let Some((start, size)) = held.take(which) else { continue };
                    let start = NonNull::new(start as *mut u8).expect("given");
                    // SAFETY: it was allocated with the same order.
                    unsafe { buddy.free(start, (size / PAGE).ilog2() as usize) };
                    count -= size / PAGE;
                }
                Step::Reallocate(..) => {}
            }
            prop_assert_eq!(buddy.free_pages(), all - count);
        }
        while let Some((start, size)) = held.take(0) {
            // SAFETY: it was allocated with the same order or layout.
            unsafe { buddy.free(NonNull::new(start as *mut u8).expect("given"), (size / PAGE).ilog2() as usize) };
        }
        // All pieces are merged again: the largest that fits can be allocated.
        prop_assert_eq!(buddy.free_pages(), all);
        prop_assert!(buddy.allocate(7).is_some());
    }

    #[test]
    fn blocks_come_and_go(steps in steps(20_000)) {
        let mut machine = Machine::new(700);
        let mut general = General::new(machine.buddy());
        let all = general.pages().free_pages();
        let mut held = Held::default();
        let mut layouts = std::collections::HashMap::new();
        for step in steps {
            match step {
                Step::Allocate(size, align) => {
                    let layout = Layout::from_size_align(size.max(1), 1 << align).expect("small");
                    let Some(block) = general.allocate(layout) else { continue };
                    let start = block.as_ptr() as usize;
                    prop_assert!(start.is_multiple_of(layout.align()));
                    held.add(start, layout.size())?;
                    layouts.insert(start, layout);
                    // SAFETY: it was allocated.
                    unsafe { block.as_ptr().write_bytes(start as u8 ^ (start >> 8) as u8, layout.size()) };
                }
                Step::Reallocate(which, size) => {
                    let Some((start, old)) = held.take(which) else { continue };
                    let (layout, size) = (layouts[&start], size.max(1));
                    let content = |start: usize, count: usize| {
                        // SAFETY: it was allocated.
                        unsafe { std::slice::from_raw_parts(start as *const u8, count) }.to_vec()
                    };
                    let kept = content(start, old.min(size));
                    let block = NonNull::new(start as *mut u8).expect("given");
                    // SAFETY: it was allocated with the same order or layout.
                    let Some(moved) = (unsafe { general.reallocate(block, layout, size) }) else {
                        held.add(start, old)?;
                        prop_assert_eq!(content(start, kept.len()), kept);
                        continue;
                    };
                    let moved = moved.as_ptr() as usize;
                    prop_assert!(moved.is_multiple_of(layout.align()));
                    let may_move = size > old || old <= 2 * PAGE || size <= PAGE;
                    prop_assert!(may_move || moved == start, "it becomes smaller where it is");
                    held.add(moved, size)?;
                    prop_assert_eq!(content(moved, kept.len()), kept);
                    layouts.insert(moved, Layout::from_size_align(size, layout.align()).expect("small"));
                }
                Step::Free(which) => {
                    let Some((start, _)) = held.take(which) else { continue };
                    // SAFETY: it was allocated with the same order or layout.
                    unsafe { general.free(NonNull::new(start as *mut u8).expect("given"), layouts[&start]) };
                }
            }
        }
        while let Some((start, _)) = held.take(0) {
            // SAFETY: it was allocated with the same order or layout.
            unsafe { general.free(NonNull::new(start as *mut u8).expect("given"), layouts[&start]) };
        }
        // One page of each size may stay.
        prop_assert!(general.pages().free_pages() + 14 >= all);
    }
}
