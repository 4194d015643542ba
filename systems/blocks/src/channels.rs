//! A channel: a page that a client and its server both have, in which a client lays what is more than three words. There is one for each
//! binding, as in the paper on LRPC, and the kernel tells the server where it has that of whoever calls.
//!
//! Like the binding a channel stays: it is nobody's when one of both has gone, so that the other may still have it.

use core::cell::Cell;

use kortex_binding::domain;
use kortex_hal::mmu::{Access, PAGE};
use kortex_memory::{Pool, allocate_zeroed};
use kortex_resource::ResourceManager;
use microkernel::{AddressSpace, Process};

use crate::Host;

/// Where a process has the channel to its server, and behind that the channels to its clients.
pub const AT: usize = domain::USERS + (160 << 30);
pub const END: usize = AT + (1 + CLIENTS) * PAGE;

/// So many clients of a server have channels.
const CLIENTS: usize = 64;

/// Of a process: whether it has a channel to its server, and how many to clients.
pub struct Channels {
    server: Cell<bool>,
    clients: Cell<usize>,
}

impl Channels {
    pub const fn new() -> Channels {
        Channels { server: Cell::new(false), clients: Cell::new(0) }
    }

    /// Takes them out of its address space, because they aren't its own.
    ///
    /// # Safety
    /// Nobody uses them there any more.
    pub unsafe fn release_all<K: Host>(&self, space: &AddressSpace<K>) {
        let first = usize::from(!self.server.take());
        for place in first..=self.clients.take() {
            // SAFETY: as the caller promises.
            unsafe { space.unbind(AT + place * PAGE) };
        }
    }
}

/// Gives both a channel: where the server has it, or 0.
pub fn open<K: Host>(pages: &(impl Pool + ?Sized), client: &Process<K>, server: &Process<K>) -> u64 {
    try_to_open(pages, client, server).unwrap_or(0)
}

fn try_to_open<K: Host>(
    pool: &(impl Pool + ?Sized),
    client: &Process<K>,
    server: &Process<K>,
) -> Option<u64> {
    use kortex_memory::Pages;
    let (ours, theirs) = (&client.part.channels, &server.part.channels);
    let place = 1 + theirs.clients.get();
    if ours.server.get() || place > CLIENTS {
        return None;
    }
    let page = allocate_zeroed(&mut *pool.pages().borrow_mut(), 0)?;
    let at = AT + place * PAGE;
    // SAFETY: nobody has it; of what is in it the kernel uses nothing. It is taken away before either address space is given back.
    unsafe {
        let put =
            |process: &Process<K>, at| process.space.borrow().as_ref()?.bind(&page, (at, Access::WRITE)).ok();
        if put(client, AT).is_none() {
            pool.pages().borrow_mut().free(page, 0);
            return None;
        }
        ours.server.set(true);
        put(server, at)?;
    }
    theirs.clients.set(place);
    Some(at as u64)
}
