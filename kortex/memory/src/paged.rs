//! The paged model: as many address spaces as there is memory for. Each has what its users have mapped, and the kernel, as all others.
//!
//! # Soundness
//!
//! Tables and pages of an address space are its own until it is released. All memory is where it is called in the kernel.

use core::cell::RefCell;
use core::ptr::{NonNull, null_mut};

use kortex_hal::mmu::{Access, AddressSpace, LARGE, PAGE, Refused, Table};

use crate::{Pages, Space, allocate_zeroed};

/// An address space of users, with the pages of somebody.
#[derive(Debug)]
pub struct Paged<'a, P: Pages> {
    space: AddressSpace,
    pages: &'a RefCell<P>,
    /// So many pages it may have yet, tables among them.
    left: usize,
    /// Where users' addresses begin.
    start: usize,
    /// Where a page was put last, in large pages, and the table of the pages there.
    last: (usize, *mut Table),
}

impl<'a, P: Pages> Paged<'a, P> {
    /// One in which there is only the kernel, which is before `start`, where entries of the first table begin. It may have as many pages.
    ///
    /// # Errors
    /// There is no memory.
    pub fn create(
        kernel: &AddressSpace,
        start: usize,
        pages: &'a RefCell<P>,
        most: usize,
    ) -> Result<Paged<'a, P>, Refused> {
        let mut left = most;
        let root = table(pages, &mut left).ok_or(Refused::NoMemory)?;
        // SAFETY: a table of its own; what is the kernel's isn't changed by it.
        let space = unsafe {
            kernel.share(root, start);
            AddressSpace::new(root)
        };
        Ok(Paged { space, pages, left, start, last: (0, null_mut()) })
    }

    /// What the processor knows of it.
    pub fn space(&self) -> &AddressSpace {
        &self.space
    }

    /// Puts bytes to where they are mapped, whoever may write there.
    ///
    /// # Errors
    /// There is nothing.
    pub fn fill(&mut self, at: usize, bytes: &[u8]) -> Result<(), Refused> {
        let mut rest = bytes;
        let mut at = at;
        while !rest.is_empty() {
            let (some, others) = rest.split_at(rest.len().min(PAGE - at % PAGE));
            let (memory, _) = self.space.look_up(at).ok_or(Refused::NoMemory)?;
            // SAFETY: it is within a page of this address space, of which nobody has a reference.
            unsafe { (memory as *mut u8).copy_from_nonoverlapping(some.as_ptr(), some.len()) };
            (at, rest) = (at + some.len(), others);
        }
        Ok(())
    }

    /// Puts pages that lie at `frames` to `at`: somebody else's, who has them back when all of this is given back.
    ///
    /// # Errors
    /// They can't be there.
    ///
    /// # Safety
    /// They are memory, which stays for as long as this is used; whoever has it may share it so.
    pub unsafe fn lend(
        &mut self,
        at: usize,
        frames: usize,
        pages: usize,
        access: Access,
    ) -> Result<(), Refused> {
        if at < self.start {
            return Err(Refused::Unaligned);
        }
        let mut tables = || table(self.pages, &mut self.left);
        for offset in (0..pages).map(|number| number * PAGE) {
            let access = access.of_users().lent();
            // SAFETY: as the caller promises; the kernel is elsewhere.
            unsafe { self.space.map(at + offset, frames + offset, PAGE, access, &mut tables)? };
        }
        Ok(())
    }

    /// A page of zeros out of what it may have, which is nowhere yet.
    pub fn take(&mut self) -> Option<NonNull<u8>> {
        page(self.pages, &mut self.left)
    }

    /// Gives a page back that was [taken](Paged::take).
    ///
    /// # Safety
    /// It is nowhere, and nobody uses it any more.
    pub unsafe fn give(&mut self, page: NonNull<u8>) {
        // SAFETY: as the caller promises.
        unsafe { self.pages.borrow_mut().free(page, 0) };
        self.left += 1;
    }

    /// Whether a page can be put to an address where none is without looking for its table.
    #[inline]
    pub fn is_ready(&self, at: usize) -> bool {
        at / LARGE == self.last.0
    }

    /// Looks for the table of the page at an address.
    ///
    /// # Errors
    /// There is no memory for it.
    #[cold]
    pub fn make_ready(&mut self, at: usize) -> Result<(), Refused> {
        let mut tables = || table(self.pages, &mut self.left);
        // SAFETY: the kernel is elsewhere.
        self.last = (at / LARGE, unsafe { self.space.table(at, &mut tables)? });
        Ok(())
    }

    /// Puts a page to an address that was [taken](Paged::take), for users to read and write. If it is there when this address space is
    /// released it is given back with it.
    ///
    /// # Errors
    /// There is something already, or no memory for a table.
    ///
    /// # Safety
    /// Whoever else uses it knows that users do.
    #[inline]
    pub unsafe fn put(&mut self, at: usize, page: NonNull<u8>) -> Result<(), Refused> {
        if at < self.start || !at.is_multiple_of(PAGE) {
            return Err(Refused::Unaligned);
        }
        if !self.is_ready(at) {
            self.make_ready(at)?;
        }
        // SAFETY: the table stays; as the caller promises.
        let is_put = unsafe { (*self.last.1).put(at, page.as_ptr() as usize, Access::WRITE.of_users()) };
        if is_put { Ok(()) } else { Err(Refused::Used) }
    }

    /// Takes a page away from where it was [put](Paged::put). It is still taken.
    ///
    /// # Safety
    /// That is where it is.
    #[inline]
    pub unsafe fn take_away(&mut self, at: usize) {
        // SAFETY: as the caller promises.
        unsafe { self.space.unmap(at) };
    }

    /// Gives all of it back.
    ///
    /// # Safety
    /// It isn't active, and nobody uses it any more.
    pub unsafe fn release(self) {
        let mut pages = self.pages.borrow_mut();
        // SAFETY: as the caller promises; all that is found is its own.
        unsafe {
            self.space.take_apart(self.start, &mut |page| {
                pages.free(NonNull::new_unchecked(page as *mut u8), 0);
            });
        }
    }
}

fn table<P: Pages>(pages: &RefCell<P>, left: &mut usize) -> Option<*mut Table> {
    let page = page(pages, left)?.cast::<Table>().as_ptr();
    Some(page)
}

/// A page of zeros.
fn page<P: Pages>(pages: &RefCell<P>, left: &mut usize) -> Option<NonNull<u8>> {
    *left = left.checked_sub(1)?;
    let page = allocate_zeroed(&mut *pages.borrow_mut(), 0);
    if page.is_none() {
        *left += 1;
    }
    page
}

impl<P: Pages> Space for Paged<'_, P> {
    fn map(&mut self, at: usize, pages: usize, access: Access) -> Result<(), Refused> {
        if !at.is_multiple_of(PAGE) || at < self.start {
            return Err(Refused::Unaligned);
        }
        for number in 0..pages {
            let here = at + number * PAGE;
            let mapped = page(self.pages, &mut self.left).ok_or(Refused::NoMemory).and_then(|frame| {
                let mut tables = || table(self.pages, &mut self.left);
                // SAFETY: the kernel is elsewhere.
                let mapped = unsafe {
                    self.space.map(here, frame.as_ptr() as usize, PAGE, access.of_users(), &mut tables)
                };
                mapped.inspect_err(|_| {
                    // SAFETY: nobody has it.
                    unsafe { self.pages.borrow_mut().free(frame, 0) };
                    self.left += 1;
                })
            });
            if let Err(refused) = mapped {
                // SAFETY: nobody knows of them.
                unsafe { self.unmap(at, number) };
                return Err(refused);
            }
        }
        Ok(())
    }

    unsafe fn unmap(&mut self, at: usize, pages: usize) {
        for here in (0..pages).map(|number| at + number * PAGE) {
            let is_lent = self.space.look_up(here).is_some_and(|(_, access)| access.lent);
            // SAFETY: as the caller promises.
            unsafe {
                if is_lent {
                    self.space.unmap(here);
                } else if let Some(frame) =
                    self.space.unmap(here).and_then(|frame| NonNull::new(frame as *mut u8))
                {
                    self.pages.borrow_mut().free(frame, 0);
                    self.left += 1;
                }
            }
        }
    }
}
