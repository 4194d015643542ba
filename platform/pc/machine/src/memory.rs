//! The machine's memory: the kernel's address space, which maps all memory to its physical addresses and no page both
//! writable and executable; and an allocator of the free pages.
//!
//! # Soundness
//!
//! The linker's symbols are used only as addresses. Until the kernel's own address space is active, only the first
//! gigabyte is accessed, which the first instructions have mapped.

use core::ops::Range;
use core::ptr::addr_of;

use kortex_hal::interrupt;
use kortex_hal::mmu::{Access, AddressSpace, LARGE, Mmu, PAGE, Paging, Refused, Table};
use kortex_memory::Pages;
use kortex_memory::buddy::Buddy;

use crate::info::Info;

unsafe extern "C" {
    static machine_image: u8;
    static machine_constants: u8;
    static machine_data: u8;
    static machine_end: u8;
    static machine_guard: u8;
}

/// The guard page below the stack.
pub fn guard() -> usize {
    addr_of!(machine_guard) as usize
}

/// The end of what the first instructions have mapped.
const MAPPED: usize = 1 << 30;

/// The devices of QEMU's microvm.
const VIRTIO: usize = 0xfea0_0000;

/// Takes all free memory, and makes and activates the kernel's address space.
///
/// # Safety
/// Called once, by the kernel's first code.
pub unsafe fn take(info: &Info) -> Option<(Buddy, AddressSpace)> {
    let image_end = addr_of!(machine_end) as usize;
    let end = info.memory().map(|region| region.end).max()? & !(PAGE - 1);
    // Below the image is the loader's memory.
    let start = addr_of!(machine_image) as usize;
    let beside = image_end as *mut u8;
    // After the image comes the allocator's table of orders.
    let taken = start..image_end + Buddy::beside((end - start) / PAGE).next_multiple_of(PAGE);
    // SAFETY: that is unused memory.
    unsafe {
        let mut pages = Buddy::of(start, end, beside);
        let add = |pages: &mut Buddy, within: Range<usize>| {
            for region in info.memory() {
                let region = region.start.max(within.start)..region.end.min(within.end);
                free(info, &taken, region, &mut |range| pages.add(range.start, range.end));
            }
        };
        add(&mut pages, start..MAPPED);
        let space = map(info, &mut pages).ok()?;
        Paging.activate(&space);
        kortex_hal::mmu::protect();
        add(&mut pages, MAPPED..end);
        space.unmap(guard());
        Some((pages, space))
    }
}

/// Finds the parts of a region that belong neither to the image nor to a file loaded beside it.
fn free(info: &Info, taken: &Range<usize>, region: Range<usize>, found: &mut dyn FnMut(Range<usize>)) {
    let mut at = region.start;
    while at < region.end {
        let used = || core::iter::once(taken.clone()).chain(info.modules());
        if let Some(used) = used().find(|used| used.contains(&at)) {
            at = used.end;
            continue;
        }
        let next = used().map(|used| used.start).filter(|&start| start > at).min();
        let end = next.unwrap_or(region.end).min(region.end);
        found(at..end);
        at = end;
    }
}

/// Makes the kernel's address space.
///
/// # Safety
/// As for [`take`].
unsafe fn map(info: &Info, pages: &mut Buddy) -> Result<AddressSpace, Refused> {
    let mut table = || {
        let table = pages.allocate(0)?.as_ptr().cast::<Table>();
        // SAFETY: the page was just allocated.
        unsafe { table.write(Table::new()) };
        Some(table)
    };
    let root = table().ok_or(Refused::NoMemory)?;
    // SAFETY: the root table is empty.
    let space = unsafe { AddressSpace::new(root) };
    let address = |symbol: *const u8| symbol as usize;
    let (image, constants) = (address(addr_of!(machine_image)), address(addr_of!(machine_constants)));
    let (data, image_end) = (address(addr_of!(machine_data)), address(addr_of!(machine_end)));
    let access = |at: usize| match at {
        _ if at < image => Access::READ,
        _ if at < constants => Access::EXECUTE,
        _ if at < data => Access::READ,
        _ => Access::WRITE,
    };
    let small_end = image_end.next_multiple_of(LARGE);
    // SAFETY: the kernel's mappings stay as they are now.
    unsafe {
        // Address 0 stays unmapped.
        for at in (PAGE..small_end).step_by(PAGE) {
            space.map(at, at, PAGE, access(at), &mut table)?;
        }
        for region in info.memory() {
            let start = region.start.max(small_end) & !(LARGE - 1);
            for at in (start..region.end).step_by(LARGE).filter(|&at| at >= small_end) {
                match space.map(at, at, LARGE, Access::WRITE, &mut table) {
                    // Two regions may meet within a large page.
                    Ok(()) | Err(Refused::Used) => {}
                    Err(refused) => return Err(refused),
                }
            }
        }
        for device in [VIRTIO, interrupt::DEVICES, interrupt::LOCAL] {
            space.map(device & !(LARGE - 1), device & !(LARGE - 1), LARGE, Access::DEVICE, &mut table)?;
        }
    }
    Ok(space)
}
