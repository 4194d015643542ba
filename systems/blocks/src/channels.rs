//! A channel: a page shared by a client and its server, in which the client passes more than three words. As in the
//! paper on LRPC, each binding gets one at the beginning; the client may give it back, and open another. On each call
//! the kernel tells the server the caller's channel: its place, and before that a generation number, so that a new
//! client isn't mistaken for the place's former one.
//!
//! The page belongs to the client. A server reads it only during a call of that client: only then can the client not
//! give it back.

use core::cell::Cell;
use core::ptr::NonNull;

use kortex_binding::lrpc::Lrpc;
use kortex_binding::{REFUSED, domain};
use kortex_hal::mmu::{Access, PAGE};
use kortex_resource::ResourceManager;
use microkernel::methods::of;
use microkernel::{AddressSpace, Process};

use crate::host::{Host, part};

/// The address of a process's channel to its server; behind it are the channels to its clients, by place.
pub const AT: usize = domain::USERS + (160 << 30);
pub const END: usize = AT + (1 + CLIENTS) * PAGE;

/// Clients of a server that have channels, at most.
const CLIENTS: usize = u64::BITS as usize;

/// Bits of the place in the word that the server gets.
const PLACE: u32 = 12;

/// The channels of a process.
pub struct Channels {
    /// The binding to its server, and the server's process.
    binding: Cell<Option<(&'static Lrpc, *const ())>>,
    /// The page of its own channel, and that channel's place at the server.
    own: Cell<Option<(NonNull<u8>, usize)>>,
    /// A bit for each place: whether a client has a channel there.
    clients: Cell<u64>,
    /// How many channels to clients have been opened: the generation number.
    opened: Cell<u64>,
}

impl Channels {
    pub const fn new() -> Channels {
        let (binding, own) = (Cell::new(None), Cell::new(None));
        Channels { binding, own, clients: Cell::new(0), opened: Cell::new(0) }
    }

    /// Gives back its own channel, and unmaps its clients' channels, which belong to them.
    ///
    /// # Safety
    /// Neither side uses them any more.
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

    /// Opens a channel for both sides; `None`: no place or memory is left.
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

    /// Closes the channel, if there is one.
    ///
    /// # Safety
    /// The client isn't in a call of the server.
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

/// Binds a process to its server, with a channel if one can be had.
pub fn bind<K: Host<Channels>>(
    client: &'static Process<K>,
    server: &'static Process<K>,
    binding: &'static Lrpc,
) {
    let channels = part::<Channels, K>(client);
    channels.binding.set(Some((binding, (server as *const Process<K>).cast())));
    client.space.borrow().as_ref().and_then(|space| channels.open::<K>(space));
}

/// With 1, opens a channel to the process's server and returns its address; with 0, closes it, unless the server is
/// being called.
///
/// # Safety
/// Called as a [`Method`](kortex_binding::Method), with the `this` that it was bound with.
pub unsafe extern "C" fn set<K: Host<Channels>>(
    this: *const (),
    is_wanted: u64,
    _: u64,
    _: u64,
    _: u64,
) -> i64 {
    // SAFETY: `this` is the process that the call is bound with.
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
