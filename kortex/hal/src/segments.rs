//! The segments that are left in long mode: code and data of the kernel and of users, and the task segment, which holds
//! the stacks for interrupts.

use x86_64::PrivilegeLevel;
use x86_64::VirtAddr;
use x86_64::instructions::tables::load_tss;
use x86_64::registers::segmentation::{CS, DS, ES, SS, Segment};
use x86_64::structures::gdt::{Descriptor, GlobalDescriptorTable, SegmentSelector};
use x86_64::structures::tss::TaskStateSegment;

use crate::Shared;

/// The kernel's code.
pub const KERNEL_CODE: SegmentSelector = SegmentSelector::new(1, PrivilegeLevel::Ring0);
/// The kernel's data.
pub const KERNEL_DATA: SegmentSelector = SegmentSelector::new(2, PrivilegeLevel::Ring0);
/// The users' data. It comes before their code, as `sysret` requires.
pub const USER_DATA: SegmentSelector = SegmentSelector::new(3, PrivilegeLevel::Ring3);
/// The users' code.
pub const USER_CODE: SegmentSelector = SegmentSelector::new(4, PrivilegeLevel::Ring3);

/// The stacks on which the processor saves what it interrupts.
#[repr(u16)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// The current context, for all other exceptions and interrupts.
    Context = 0,
    /// A stack for fatal exceptions.
    Fatal = 1,
}

static SEGMENTS: Shared<GlobalDescriptorTable> = Shared::new(GlobalDescriptorTable::new());
static TASK: Shared<TaskStateSegment> = Shared::new(TaskStateSegment::new());

/// Loads the segments. No stacks are set yet.
///
/// # Safety
/// Called once, in long mode, by the kernel's first code.
pub unsafe fn load() {
    // SAFETY: nothing else uses them yet; they live for ever.
    unsafe {
        let segments = &mut *SEGMENTS.get();
        segments.append(Descriptor::kernel_code_segment());
        segments.append(Descriptor::kernel_data_segment());
        segments.append(Descriptor::user_data_segment());
        segments.append(Descriptor::user_code_segment());
        let task = segments.append(Descriptor::tss_segment_unchecked(TASK.get()));
        (*SEGMENTS.get()).load();
        CS::set_reg(KERNEL_CODE);
        SS::set_reg(KERNEL_DATA);
        DS::set_reg(KERNEL_DATA);
        ES::set_reg(KERNEL_DATA);
        load_tss(task);
    }
}

/// Sets where the processor saves what it interrupts, downwards from `top`.
///
/// # Safety
/// There is memory below `top`, which nothing else uses.
pub unsafe fn set_stack(stack: Stack, top: *mut u8) {
    // SAFETY: the processor reads it only when it is interrupted, on this processor.
    unsafe {
        // Unchecked, because each switch of threads does this; `top` is an address.
        let top = VirtAddr::new_unsafe(top as u64);
        (*TASK.get()).interrupt_stack_table[stack as usize] = top;
    }
}
