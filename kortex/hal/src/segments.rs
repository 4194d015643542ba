//! The segments that are left in long mode: code and data of the kernel and of its users, and where the stack is that
//! the processor takes when it is interrupted.

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
/// The users' data. It comes before their code, as `sysret` has it.
pub const USER_DATA: SegmentSelector = SegmentSelector::new(3, PrivilegeLevel::Ring3);
/// The users' code.
pub const USER_CODE: SegmentSelector = SegmentSelector::new(4, PrivilegeLevel::Ring3);

/// What the processor reads when it is interrupted: which stack it takes.
#[repr(u16)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// Where all exceptions and interrupts put what they interrupt.
    Context = 0,
    /// For those after which nothing goes on.
    Fatal = 1,
}

static SEGMENTS: Shared<GlobalDescriptorTable> = Shared::new(GlobalDescriptorTable::new());
static TASK: Shared<TaskStateSegment> = Shared::new(TaskStateSegment::new());

/// Gives the processor segments and no stacks.
///
/// # Safety
/// Called once, in long mode, by the kernel's first code.
pub unsafe fn load() {
    // SAFETY: nobody else has them yet; they live for ever.
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

/// From where the processor puts what it interrupts downwards.
///
/// # Safety
/// There is memory, and nobody else uses it.
pub unsafe fn set_stack(stack: Stack, top: *mut u8) {
    // SAFETY: the processor reads it only when it is interrupted, on this processor.
    unsafe {
        // That it is an address is known; a switch of threads needn't find out.
        let top = VirtAddr::new_unsafe(top as u64);
        (*TASK.get()).interrupt_stack_table[stack as usize] = top;
    }
}
