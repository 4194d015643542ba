//! Maps the kernel's pages in this process, as its page tables say.
//!
//! # Soundness
//!
//! Pages are mapped only at unused addresses. Only pages that were mapped here, or that are the image's, are unmapped.

use std::io::Error;

use crate::memory::{Memory, PAGE};
use crate::tables::{Mapped, Page, Space};
use crate::users;

/// The pages that the kernel uses, in this process.
pub struct Own {
    space: Here,
    kernel: Mapped,
    /// Users' pages that the kernel has accessed.
    users: Mapped,
    /// The image's first and last pages. Around them, large pages are mapped in parts.
    image: (u64, u64),
}

struct Here {
    memory: i32,
}

impl Space for Here {
    fn map(&mut self, page: Page) {
        // SAFETY: see the head of this file.
        let place = unsafe {
            let (start, size) = (page.start as *mut _, page.size as usize);
            let flags = libc::MAP_SHARED | libc::MAP_FIXED_NOREPLACE;
            libc::mmap(start, size, page.rights.access(), flags, self.memory, page.frame as i64)
        };
        if place as u64 != page.start {
            let why = Error::last_os_error();
            crate::ending::stop(&format!(
                "the kernel's page at {:#x} has no place in this process: {why}",
                page.start
            ));
        }
    }

    fn unmap(&mut self, page: Page) {
        // SAFETY: see the head of this file.
        unsafe { libc::munmap(page.start as *mut _, page.size as usize) };
    }
}

impl Own {
    /// Begins with the image's pages, which debuggers may have changed.
    pub fn new(memory: &Memory, image: (u64, u64), there: impl Iterator<Item = Page>) -> Own {
        let mut kernel = Mapped::default();
        there.for_each(|page| kernel.keep(page));
        Own { space: Here { memory: memory.file() }, kernel, users: Mapped::default(), image }
    }

    /// Maps a page that was accessed at this address.
    pub fn add(&mut self, page: Page, address: u64) -> bool {
        let large = page.part(address, 2 << 20);
        let (start, end) = self.image;
        let is_image = large.start < end && start < large.start + large.size;
        // Linux never maps a process's first pages.
        let page = if is_image || large.start < 2 << 20 { page.part(address, PAGE) } else { large };
        let mapped = if page.start < users::USERS { &mut self.kernel } else { &mut self.users };
        mapped.add(page, &mut self.space)
    }

    /// Unmaps all pages that the tables don't allow any more.
    pub fn check(&mut self, now: impl Fn(u64) -> Option<Page>) {
        self.kernel.check(now, &mut self.space);
        self.leave_users();
    }

    /// Unmaps all users' pages.
    pub fn leave_users(&mut self) {
        self.users.check(|_| None, &mut self.space);
    }
}
