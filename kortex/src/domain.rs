//! A component of a program in another domain: both ends of what is between the two. Which interface a communication is
//! for is said by its name: `o2` is the third that the component offers, `r0/1` the first slot of the first that it
//! requires.
//!
//! Between them is a [`channel`]: [`ring`]s of bytes in memory that both see, signs, and [`bell`]s, so that nobody
//! makes a system call to wake who is awake. A [`Link`] is one end of it with the communications that go over it,
//! [`Rings`] are all that a home serves. A platform makes domains, with such memory between them; in that where the
//! component is it calls [`run`], and a [`Remote`] is what the program has of it.

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

/// Messages of a communication that may be on their way: between domains of one machine a turn-round costs much more
/// than a message.
const CAPACITY: u32 = 1024;

/// How many may be by what BY says, or else [`CAPACITY`].
///
/// # Errors
/// It is no such number.
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

/// How long what a component has said last may take to be heard: in nanoseconds.
const LEAVING: u64 = 10_000_000_000;

pub(crate) fn offered_interface(template: &'static Template, index: usize) -> &'static Interface {
    // SAFETY: a program's descriptions live for ever.
    unsafe { &*template.offered.get()[index].interface }
}

fn required_interface(template: &'static Template, index: usize) -> &'static Interface {
    // SAFETY: likewise.
    unsafe { &*template.required.get()[index].interface }
}

/// A component elsewhere, as its program knows it.
pub struct Remote<P> {
    template: &'static Template,
    link: Rc<Link>,
    /// Dropped last.
    _place: P,
}

impl<P> Remote<P> {
    /// The component has been made in that place, which ends its domain when it is dropped, at the other end of the
    /// link.
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
            // What it has said last is taken first.
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

/// The program of a component, as that one knows it.
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
        // That it is gone is told when all that it has said has been sent.
        if state == State::Passive {
            self.link.show(sign::PASSIVE);
        }
    }
}

/// Runs a component of a program, which is at the other end of the link with the same capacity, until it is deleted;
/// the exit status. The platform serves the link's home while it waits.
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

/// Lets what was said last be heard.
fn say_goodbye(link: &Link, platform: &mut dyn Platform) {
    let clock = platform.threads();
    let end = clock.clock() + LEAVING;
    while link.has_output() && !link.is_lost() && clock.clock() < end {
        platform.wait(Some(end.saturating_sub(clock.clock())), &mut |_| {});
    }
}
