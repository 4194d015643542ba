//! The paged model: any number of address spaces. Each maps its users' pages, and the kernel, as all others do.
//!
//! # Soundness
//!
//! An address space owns its tables and pages until it is released. The kernel's address space maps all memory to its
//! physical addresses.

use core::cell::{Cell, RefCell};
use core::ptr::{NonNull, null_mut};

use kortex_hal::mmu::{Access, AddressSpace, LARGE, PAGE, Refused, Table};
use kortex_resource::ResourceManager;

use crate::{Pages, Space, allocate_zeroed};

/// The end of users' addresses.
const END: usize = 1 << 47;

/// An address space of users, over an allocator of pages. It manages the pages of its quota: a page is bound to an
/// address with some access, and belongs to the address space as long as it exists.
#[derive(Debug)]
pub struct Paged<'a, P: Pages> {
    space: AddressSpace,
    pages: &'a RefCell<P>,
    /// Pages left of its quota. Tables count, too.
    left: Cell<usize>,
    /// Where users' addresses begin.
    start: usize,
    /// Where a page was mapped last, in large pages, and the table there.
    last: Cell<(usize, *mut Table)>,
}

impl<'a, P: Pages> Paged<'a, P> {
    /// An address space that maps only the kernel, below `start`, where an entry of the top-level table begins. It may
    /// have at most `most` pages.
    ///
    /// # Errors
    /// There is no memory.
    pub fn create(
        kernel: &AddressSpace,
        start: usize,
        pages: &'a RefCell<P>,
        most: usize,
    ) -> Result<Paged<'a, P>, Refused> {
        let left = Cell::new(most);
        let root = table(pages, &left).ok_or(Refused::NoMemory)?;
        // SAFETY: the table is its own; the kernel's tables aren't changed.
        let space = unsafe {
            kernel.share(root, start);
            AddressSpace::new(root)
        };
        Ok(Paged { space, pages, left, start, last: Cell::new((0, null_mut())) })
    }

    /// Its page tables, for the processor.
    pub fn space(&self) -> &AddressSpace {
        &self.space
    }

    /// Writes bytes to pages of its own, even to those that users may not write.
    ///
    /// # Errors
    /// Not all of the pages are there.
    pub fn fill(&self, at: usize, bytes: &[u8]) -> Result<(), Refused> {
        let mut rest = bytes;
        let mut at = at;
        while !rest.is_empty() {
            let (some, others) = rest.split_at(rest.len().min(PAGE - at % PAGE));
            let found = self.space.look_up(at).filter(|(_, access)| !access.lent && self.is_users(at));
            let (memory, _) = found.ok_or(Refused::NoMemory)?;
            // SAFETY: the memory is within a page of this address space alone, and there are no references into it.
            unsafe { (memory as *mut u8).copy_from_nonoverlapping(some.as_ptr(), some.len()) };
            (at, rest) = (at + some.len(), others);
        }
        Ok(())
    }

    /// Copies bytes that users can read, without a page fault, so that a handler may call it.
    ///
    /// # Errors
    /// Users can't read them.
    pub fn read(&self, at: usize, to: &mut [u8]) -> Result<(), Refused> {
        let mut rest = to;
        let mut at = at;
        while !rest.is_empty() {
            let (some, others) = rest.split_at_mut((PAGE - at % PAGE).min(rest.len()));
            let found = self.space.look_up(at).filter(|(_, access)| access.user);
            let (memory, _) = found.filter(|_| self.is_users(at)).ok_or(Refused::NoMemory)?;
            // SAFETY: the memory is within a mapped page. Users may write it at any time, so it is only copied as
            // bytes.
            unsafe { (memory as *const u8).copy_to_nonoverlapping(some.as_mut_ptr(), some.len()) };
            (at, rest) = (at + some.len(), others);
        }
        Ok(())
    }

    /// Whether an address is in the users' range.
    #[inline]
    fn is_users(&self, at: usize) -> bool {
        (self.start..END).contains(&at)
    }

    /// Maps pages at `frames` to `at`, lent by another owner. They aren't freed with the address space.
    ///
    /// # Errors
    /// They can't be mapped there.
    ///
    /// # Safety
    /// They are memory, which stays as long as this address space, and which its owner may share in this way.
    pub unsafe fn lend(&self, at: usize, frames: usize, pages: usize, access: Access) -> Result<(), Refused> {
        if !self.is_users(at) {
            return Err(Refused::Unaligned);
        }
        let mut tables = || table(self.pages, &self.left);
        for offset in (0..pages).map(|number| number * PAGE) {
            let access = access.of_users().lent();
            // SAFETY: the caller promises that the frames may be shared in this way; the kernel is elsewhere.
            unsafe { self.space.map(at + offset, frames + offset, PAGE, access, &mut tables)? };
        }
        Ok(())
    }

    /// Whether the table for an address is at hand, so that a page can be bound there at once.
    #[inline]
    pub fn is_ready(&self, at: usize) -> bool {
        at / LARGE == self.last.get().0
    }

    /// Finds or makes the table for an address.
    ///
    /// # Errors
    /// There is no memory for the table.
    #[cold]
    pub fn make_ready(&self, at: usize) -> Result<(), Refused> {
        if !self.is_users(at) {
            return Err(Refused::Unaligned);
        }
        // SAFETY: the kernel is at other addresses.
        let entries = unsafe { self.space.table(at, &mut || table(self.pages, &self.left))? };
        self.last.set((at / LARGE, entries));
        Ok(())
    }

    /// Frees all tables, and all pages that aren't lent.
    ///
    /// # Safety
    /// The address space isn't active or used any more.
    pub unsafe fn take_apart(self) {
        let mut pages = self.pages.borrow_mut();
        // SAFETY: the caller promises that the address space isn't used any more; all pages found in it are its own.
        unsafe {
            self.space.take_apart(self.start, &mut |page| {
                pages.free(NonNull::new_unchecked(page as *mut u8), 0);
            });
        }
    }
}

fn table<P: Pages>(pages: &RefCell<P>, left: &Cell<usize>) -> Option<*mut Table> {
    let page = page(pages, left)?.cast::<Table>().as_ptr();
    Some(page)
}

/// Allocates a page of zeros.
fn page<P: Pages>(pages: &RefCell<P>, left: &Cell<usize>) -> Option<NonNull<u8>> {
    let rest = left.get().checked_sub(1)?;
    let page = allocate_zeroed(&mut *pages.borrow_mut(), 0)?;
    left.set(rest);
    Some(page)
}

impl<P: Pages> ResourceManager for Paged<'_, P> {
    type Of = ();
    /// A page, filled with zeros when it is made.
    type Resource = NonNull<u8>;
    /// An address, and the access for users.
    type Hint = (usize, Access);
    /// The address.
    type Binding = usize;
    type Refused = Refused;

    fn create(&self, (): ()) -> Result<NonNull<u8>, Refused> {
        page(self.pages, &self.left).ok_or(Refused::NoMemory)
    }

    #[inline]
    unsafe fn bind(&self, &page: &NonNull<u8>, (at, access): (usize, Access)) -> Result<usize, Refused> {
        if !self.is_users(at) || !at.is_multiple_of(PAGE) {
            return Err(Refused::Unaligned);
        }
        if access.write && access.execute {
            return Err(Refused::WritableCode);
        }
        if !self.is_ready(at) {
            self.make_ready(at)?;
        }
        let (_, entries) = self.last.get();
        // SAFETY: the table stays. The caller promises that this manager made the page.
        let is_put = unsafe { (*entries).put(at, page.as_ptr() as usize, access.of_users()) };
        if is_put { Ok(at) } else { Err(Refused::Used) }
    }

    #[inline]
    unsafe fn unbind(&self, at: usize) {
        // SAFETY: the caller promises that the binding is this manager's, and isn't used any more.
        unsafe { self.space.unmap(at) };
    }

    unsafe fn release(&self, page: NonNull<u8>) {
        // SAFETY: the caller promises that this manager made the page, which isn't used any more.
        unsafe { self.pages.borrow_mut().free(page, 0) };
        self.left.set(self.left.get() + 1);
    }
}

impl<P: Pages> Space for Paged<'_, P> {
    fn map(&self, at: usize, pages: usize, access: Access) -> Result<(), Refused> {
        for number in 0..pages {
            let page = self.create(());
            let mapped = page.and_then(|page| {
                // SAFETY: the page was just made, and isn't mapped if binding fails.
                let bound = unsafe { self.bind(&page, (at + number * PAGE, access)) };
                // SAFETY: the page was just made, and binding has failed, so that nothing uses it.
                bound.inspect_err(|_| unsafe { self.release(page) })
            });
            if let Err(refused) = mapped {
                // SAFETY: these pages aren't known to any other code yet.
                unsafe { self.unmap(at, number) };
                return Err(refused);
            }
        }
        Ok(())
    }

    unsafe fn unmap(&self, at: usize, pages: usize) {
        let start = at & !(PAGE - 1);
        for here in (0..pages).map(|number| start + number * PAGE) {
            let Some((page, access)) = self.space.look_up(here) else { continue };
            // SAFETY: the caller promises that these pages aren't used any more.
            unsafe {
                self.unbind(here);
                if !access.lent {
                    self.release(NonNull::new_unchecked(page as *mut u8));
                }
            }
        }
    }
}
