//! A component of a program in another domain. This module has both ends of the connection: [`Remote`] is the component
//! as its program sees it, and [`run`] runs the component in its own domain.
//!
//! The two ends share memory with a [`channel`]: two [`ring`]s of bytes, a sign for each side, and [`bell`]s, which
//! make a system call only to wake a side that sleeps. A [`Link`] is one end of a channel with its communications.
//! [`Rings`] are all the channels that a home serves. The platform makes the domains and the shared memory.
//!
//! A communication's name says which interface it is for: `o2` is the third that the component offers, `r0/1` the first
//! slot of the first that it requires.

mod bell;
mod channel;
mod link;
mod ring;
mod rings;

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;

use drystone_component::{Interface, Name, Program, Template};
use drystone_runtime::binding::Hints;
use drystone_runtime::far::{Domain, Exported, Guest, Host, Reach, State, Waker, Wish};
use drystone_runtime::platform::Platform;
use drystone_runtime::{Options, run_guest};

pub use self::channel::{End, Garbage, Memory, Trust, Wake};
use self::link::sign;
pub use self::link::{Home, Link, Party};
#[cfg(feature = "fuzzing")]
pub use self::ring::strangers;
pub use self::rings::{Rings, Served};

/// Messages of a communication that may be on their way. Between domains of one machine, a switch of sides costs much
/// more than a message.
const CAPACITY: u32 = 1024;

/// The `capacity` of a BY, or else [`CAPACITY`].
///
/// # Errors
/// It isn't a valid capacity.
pub fn capacity(hints: &Hints<'_>) -> Result<u32, String> {
    Ok(hints.capacity()?.unwrap_or(CAPACITY).max(16))
}

/// The number of a worker.
///
/// # Errors
/// It is no number.
pub fn worker(name: Name<'_>) -> Result<u32, String> {
    name.rest().parse().map_err(|_| "a worker is a number, as in \"worker:1\"".into())
}

/// Nanoseconds that the last messages of a component may take to be sent.
const LEAVING: u64 = 10_000_000_000;

pub(crate) fn offered_interface(template: &'static Template, index: usize) -> &'static Interface {
    // SAFETY: a program's descriptions live for ever.
    unsafe { &*template.offered.get()[index].interface }
}

fn required_interface(template: &'static Template, index: usize) -> &'static Interface {
    // SAFETY: a program's descriptions live for ever.
    unsafe { &*template.required.get()[index].interface }
}

/// A component in another domain, as its program sees it.
pub struct Remote<P> {
    template: &'static Template,
    link: Rc<Link>,
    /// Dropped last.
    _place: P,
}

impl<P> Remote<P> {
    /// A component that was made in `place`, at the other end of the link. Dropping the place ends its domain.
    pub fn new(template: &'static Template, link: Rc<Link>, place: P) -> Remote<P> {
        link.miss(template.name.get());
        Remote { template, link, _place: place }
    }
}

impl<P: 'static> Domain for Remote<P> {
    fn attach(&mut self, waiter: Waker) {
        self.link.watch(waiter);
    }

    fn offered(&mut self, index: usize) -> Box<dyn Reach> {
        self.link.reach(offered_interface(self.template, index), &format!("o{index}"))
    }

    fn required(&mut self, index: usize) -> Box<dyn Exported> {
        self.link.export(required_interface(self.template, index), &format!("r{index}"))
    }

    fn state(&mut self) -> State {
        match self.link.sign() {
            // The component's last messages are taken before it counts as gone.
            _ if self.link.is_lost() && self.link.is_quiet() => State::Gone,
            _ if self.link.is_lost() => State::Passive,
            sign::PASSIVE => State::Passive,
            _ => State::Active,
        }
    }

    fn delete(&mut self) {
        self.link.show(sign::DELETE);
    }

    fn ended(&self) -> Option<String> {
        self.link.ended()
    }
}

impl<P> Drop for Remote<P> {
    fn drop(&mut self) {
        self.link.abandon();
    }
}

/// A component's program, as the component sees it.
struct Outside {
    template: &'static Template,
    link: Rc<Link>,
}

impl Host for Outside {
    fn offered(&mut self, index: usize) -> Box<dyn Exported> {
        self.link.export(offered_interface(self.template, index), &format!("o{index}"))
    }

    fn required(&mut self, index: usize, slot: usize) -> Box<dyn Reach> {
        let interface = required_interface(self.template, index);
        self.link.reach(interface, &format!("r{index}/{slot}"))
    }

    fn wish(&mut self) -> Wish {
        match self.link.sign() {
            _ if self.link.is_lost() => Wish::Halt,
            sign::DELETE => Wish::End,
            _ => Wish::Live,
        }
    }

    fn tell(&mut self, state: State) {
        // The state "gone" is shown later, when all messages have been sent.
        if state == State::Passive {
            self.link.show(sign::PASSIVE);
        }
    }
}

/// Runs a component until it is deleted, and returns the exit status. Its program is at the other end of the link, with
/// the same capacity. The platform serves the link's home while it waits.
pub fn run(
    program: &'static Program,
    template: &'static Template,
    link: &Rc<Link>,
    platform: &mut dyn Platform,
    options: Options,
) -> i64 {
    let host = Outside { template, link: link.clone() };
    let outcome = run_guest(program, Guest::new(template, Box::new(host)), platform, options);
    say_goodbye(link, platform);
    let in_good_order = outcome.status == 0 && link.sign() == sign::DELETE;
    link.show(if in_good_order { sign::GONE } else { sign::FAILED });
    link.hang_up();
    link.home().rings().abandon();
    outcome.status
}

/// Waits until the last messages are sent.
fn say_goodbye(link: &Link, platform: &mut dyn Platform) {
    let clock = platform.threads();
    let end = clock.clock() + LEAVING;
    while link.has_output() && !link.is_lost() && clock.clock() < end {
        platform.wait(Some(end.saturating_sub(clock.clock())), &mut |_| {});
    }
}
