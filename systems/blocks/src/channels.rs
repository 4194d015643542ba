//! A channel: a page that a client and its server both have, in which a client lays what is more than three words.
//! There is one for each binding, as in the paper on LRPC, from the beginning; the client may give it back, and have
//! another. The kernel tells the server which channel that of whoever calls is: its place, and before that a number
//! that no other of its channels had, so that nobody is taken for who was there before.
//!
//! The page is the client's. A server looks into it only while it is called: the client can't give it back then, but
//! may at any other time.

use core::cell::Cell;
use core::ptr::NonNull;

use kortex_binding::lrpc::Lrpc;
use kortex_binding::{REFUSED, domain};
use kortex_hal::mmu::{Access, PAGE};
use kortex_resource::ResourceManager;
use microkernel::methods::of;
use microkernel::{AddressSpace, Process};

use crate::host::{Host, part};

/// Where a process has the channel to its server, and behind that the channels to its clients, each at its place.
pub const AT: usize = domain::USERS + (160 << 30);
pub const END: usize = AT + (1 + CLIENTS) * PAGE;

/// So many clients of a server have channels.
const CLIENTS: usize = u64::BITS as usize;

/// Bits of a place in what a server is told.
const PLACE: u32 = 12;

/// Of a process.
pub struct Channels {
    /// By which it calls its server, and who that is.
    binding: Cell<Option<(&'static Lrpc, *const ())>>,
    /// The page of its channel to that, and the place where the server has it.
    own: Cell<Option<(NonNull<u8>, usize)>>,
    /// For each place of a client's channel whether there is one.
    clients: Cell<u64>,
    /// So many channels there have been to clients.
    opened: Cell<u64>,
}

impl Channels {
    pub const fn new() -> Channels {
        let (binding, own) = (Cell::new(None), Cell::new(None));
        Channels { binding, own, clients: Cell::new(0), opened: Cell::new(0) }
    }

    /// Gives its own back, and takes those of its clients out of its address space, because they aren't its own.
    ///
    /// # Safety
    /// Nobody uses them there any more.
    pub unsafe fn release_all<K: Host<Channels>>(&self, space: &AddressSpace<K>) {
        let clients = self.clients.take();
        // SAFETY: as the caller promises.
        unsafe {
            self.close::<K>(space);
            for place in (1..=CLIENTS).filter(|place| clients >> (place - 1) & 1 != 0) {
                space.unbind(AT + place * PAGE);
            }
        }
    }

    /// Gives a channel to both; `None`: it can't be had.
    fn open<K: Host<Channels>>(&self, space: &AddressSpace<K>) -> Option<()> {
        let (binding, server) = self.binding.get()?;
        // SAFETY: bound so.
        let server = unsafe { of::<K>(server) };
        let Channels { clients, opened, .. } = part::<Channels, K>(server);
        let place = 1 + clients.get().trailing_ones() as usize;
        let theirs = server.space.borrow();
        let theirs = theirs.as_ref().filter(|_| place <= CLIENTS)?;
        let page = space.create(()).ok()?;
        // SAFETY: nobody has it; of what is in it the kernel uses nothing. It is taken away before either address space
        // is given back.
        unsafe {
            if space.bind(&page, (AT, Access::WRITE)).is_err() {
                space.release(page);
                return None;
            }
            if theirs.bind(&page, (AT + place * PAGE, Access::WRITE)).is_err() {
                space.unbind(AT);
                space.release(page);
                return None;
            }
        }
        clients.set(clients.get() | 1 << (place - 1));
        opened.set(opened.get() + 1);
        binding.set_this(opened.get() << PLACE | place as u64);
        self.own.set(Some((page, place)));
        Some(())
    }

    /// Gives it back, if there is one.
    ///
    /// # Safety
    /// The server isn't called by who has it.
    unsafe fn close<K: Host<Channels>>(&self, space: &AddressSpace<K>) {
        let (Some((binding, server)), Some((page, place))) = (self.binding.get(), self.own.take()) else {
            return;
        };
        binding.set_this(0);
        // SAFETY: bound so; nobody uses the page any more, and it is where it was put, if the server's address space is
        // there yet.
        unsafe {
            let server = of::<K>(server);
            let clients = &part::<Channels, K>(server).clients;
            clients.set(clients.get() & !(1 << (place - 1)));
            if let Some(theirs) = server.space.borrow().as_ref() {
                theirs.unbind(AT + place * PAGE);
            }
            space.unbind(AT);
            space.release(page);
        }
    }
}

/// A process can call another by this binding: both have a channel, if there is one to be had.
pub fn bind<K: Host<Channels>>(
    client: &'static Process<K>,
    server: &'static Process<K>,
    binding: &'static Lrpc,
) {
    let channels = part::<Channels, K>(client);
    channels.binding.set(Some((binding, (server as *const Process<K>).cast())));
    client.space.borrow().as_ref().and_then(|space| channels.open::<K>(space));
}

/// With 1 a process has a channel to its server, and is told where it is; with 0 it gives that back, unless the server
/// is being called.
pub unsafe extern "C" fn set<K: Host<Channels>>(
    this: *const (),
    is_wanted: u64,
    _: u64,
    _: u64,
    _: u64,
) -> i64 {
    // SAFETY: bound so.
    let client = unsafe { of::<K>(this) };
    let channels = part::<Channels, K>(client);
    let space = client.space.borrow();
    let (Some(space), Some((_, server))) = (space.as_ref(), channels.binding.get()) else { return REFUSED };
    match is_wanted {
        // SAFETY: bound so.
        0 if unsafe { of::<K>(server) }.domain.is_busy() => REFUSED,
        0 => {
            // SAFETY: nobody calls the server.
            unsafe { channels.close::<K>(space) };
            0
        }
        1 if channels.own.get().is_some() || channels.open::<K>(space).is_some() => AT as i64,
        _ => REFUSED,
    }
}
