//! A server that runs its clients' programs against its own methods: one call of the server for all calls of the
//! program. The interpreter and the requests are the same as the kernel's.
//!
//! A call of a server may last some ticks of the clock; after that the server is killed. So a run's slice ends once the
//! clock has interrupted it; the client calls again until the run has ended.

use core::cell::UnsafeCell;

use runs::{Cache, Programs, Runner};
use users::calls::{self, Number, call};

use crate::remote::{self, METHODS};
use crate::shipping::{CHANNEL_BYTES, CLIENTS, DECLINED, PROGRAMS};
use crate::{attacks, heap};

/// The server's stack and its size in pages; a program of the greatest depth takes 80 KiB.
const STACK: u64 = 0x80_0000_0000 + (48 << 30);
const STACK_PAGES: u64 = 64;

/// Makes this domain callable.
pub fn begin() {
    assert_eq!(call(Number::Map, STACK, STACK_PAGES), 0, "there is memory for a stack");
    calls::offer_on(STACK + STACK_PAGES * 4096);
}

/// The client of the present call: its channel, and how much time the call had at the beginning.
#[derive(Clone, Copy)]
struct Client {
    channel: *mut u8,
    time: i64,
}

impl Client {
    /// The channel's byte from which `count` bytes lie in it.
    fn at(self, from: u64, count: usize) -> Option<*mut u8> {
        let is_within = from.checked_add(count as u64).is_some_and(|end| end <= CHANNEL_BYTES as u64);
        is_within.then(|| self.channel.wrapping_add(from as usize))
    }
}

impl Runner for Client {
    fn may_call(self, number: u64) -> bool {
        number < METHODS.len() as u64
    }

    fn call(self, number: u64, [a, b, c, _]: [u64; 4]) -> Option<i64> {
        METHODS.get(number as usize).map(|method| method(a, b, c))
    }

    fn is_over(self) -> bool {
        call(Number::TimeLeft, 0, 0) < self.time
    }

    fn read(self, from: u64, to: &mut [u8]) -> bool {
        let Some(from) = self.at(from, to.len()) else { return false };
        for (index, byte) in to.iter_mut().enumerate() {
            // SAFETY: a byte of the channel, which the client may change meanwhile.
            *byte = unsafe { from.add(index).read_volatile() };
        }
        true
    }

    fn write(self, to: u64, from: &[u8]) -> bool {
        let Some(to) = self.at(to, from.len()) else { return false };
        for (index, byte) in from.iter().enumerate() {
            // SAFETY: likewise.
            unsafe { to.add(index).write_volatile(*byte) };
        }
        true
    }

    fn has_room() -> bool {
        heap::has_room()
    }
}

/// The server's clients: for each place of a channel its generation number, and the client's programs.
struct Server {
    remembered: Cache<Client>,
    clients: UnsafeCell<[(u64, Programs<Client>); CLIENTS]>,
}

// SAFETY: only a call of the server uses it, and it is in one at a time.
unsafe impl Sync for Server {}

static SERVER: Server =
    Server { remembered: Cache::new(), clients: UnsafeCell::new([const { (0, Programs::new()) }; CLIENTS]) };

/// The programs of the channel's client; none yet if the place belonged to another client before.
fn programs_of(this: u64) -> Option<&'static Programs<Client>> {
    let place = (this & 4095).checked_sub(1)?;
    // SAFETY: see above.
    let (last, programs) = unsafe { &mut *SERVER.clients.get() }.get_mut(place as usize)?;
    if *last != this {
        programs.release_all();
        *last = this;
    }
    Some(programs)
}

/// Serves a client's request. Requests, programs and hashes lie at the beginning of its channel.
#[inline(never)]
pub fn serve(this: u64, what: u64, number: u64) -> i64 {
    const LEARN: u64 = Number::Learn as u64;
    const KNOW: u64 = Number::Know as u64;
    const RUN: u64 = Number::Run as u64;
    const RESUME: u64 = Number::Resume as u64;
    const CANCEL: u64 = Number::Cancel as u64;
    const DISCARD: u64 = Number::Discard as u64;
    if let Some(lie) = attacks::lie(this) {
        return lie;
    }
    let Some(programs) = programs_of(this) else { return DECLINED };
    let client = Client { channel: remote::channel_of(this) as *mut u8, time: call(Number::TimeLeft, 0, 0) };
    let answer = match what - PROGRAMS {
        LEARN => programs.learn(client, &SERVER.remembered, [0, number], [0, CHANNEL_BYTES as u64]),
        KNOW => programs.know(client, &SERVER.remembered, 0),
        RUN => programs.run(client, number, 0),
        RESUME => programs.go_on(client, number, 0),
        CANCEL => programs.cancel(number),
        DISCARD => programs.discard(number),
        _ => None,
    };
    answer.unwrap_or(DECLINED)
}
