//! A component of a program in another domain: both ends of what is between the two. Which interface a communication is
//! for is said by its name: `o2` is the third that the component offers, `r0/1` the first slot of the first that it
//! requires.

mod link;

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use drystone_component::{Interface, Program, Template};
use drystone_runtime::binding::Hints;
use drystone_runtime::far::{Domain, Exported, Guest, Host, Reach, State, Waker, Wish};

pub(crate) use self::link::Link;
use self::link::sign;
use super::channel::{Offer, Trust};
use super::rings::Served;
use crate::Options;
use crate::platform::{Linux, Output};
use crate::reactor::Reactor;

/// Messages of a communication that may be on their way: between domains of one machine a turn-round costs much more
/// than a message.
const CAPACITY: u32 = 256;

/// How many may be by what BY says, or else [`CAPACITY`].
///
/// # Errors
/// It is no such number.
pub(crate) fn capacity(hints: &Hints<'_>) -> Result<u32, String> {
    Ok(hints.capacity()?.unwrap_or(CAPACITY).max(16))
}

/// How long what a component has said last may take to be heard.
const LEAVING: Duration = Duration::from_secs(10);

fn offered_interface(template: &'static Template, index: usize) -> &'static Interface {
    // SAFETY: a program's descriptions live for ever.
    unsafe { &*template.offered.get()[index].interface }
}

fn required_interface(template: &'static Template, index: usize) -> &'static Interface {
    // SAFETY: likewise.
    unsafe { &*template.required.get()[index].interface }
}

/// What keeps a domain, and ends it when it is dropped.
pub(crate) trait Place: 'static {
    /// Something has come to an end there: told once, first.
    fn watch(&mut self, link: &Rc<Link>) -> io::Result<()>;

    /// It is to end at once.
    fn end(&mut self);
}

/// A component elsewhere, as its program knows it.
pub(crate) struct Remote<P: Place> {
    template: &'static Template,
    link: Rc<Link>,
    place: P,
}

impl<P: Place> Remote<P> {
    /// The component has been made in that place, at the other end of the channel, with the same capacity.
    pub(crate) fn new(
        name: &str,
        template: &'static Template,
        (offer, trust): (Offer, Trust),
        mut place: P,
        reactor: &Rc<Reactor>,
        capacity: u32,
    ) -> io::Result<Remote<P>> {
        let begin = |end| Link::new(name, end, None, reactor, capacity);
        let link = match offer.open(trust).and_then(begin) {
            Ok(link) => link,
            Err(error) => {
                place.end();
                return Err(error);
            }
        };
        link.miss(template.name.get());
        let watched = place.watch(&link);
        let remote = Remote { template, link, place };
        watched.map(|()| remote)
    }
}

impl<P: Place> Domain for Remote<P> {
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

impl<P: Place> Drop for Remote<P> {
    fn drop(&mut self) {
        self.link.abandon();
        self.place.end();
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

/// Runs a component of a program, which is at the other end of the channel with the same capacity, until it is deleted;
/// the exit status.
pub(crate) fn run(
    program: &'static Program,
    template: &'static Template,
    (offer, trust): (Offer, Trust),
    options: &Options,
    capacity: u32,
) -> io::Result<i32> {
    // Its program is the one that people look at.
    let options = &Options { control: None, ..options.clone() };
    let mut platform =
        Linux::new(Instant::now(), Output::Standard, program, options).map_err(io::Error::other)?;
    let reactor = platform.reactor.clone();
    let composites = Some(platform.composites().clone());
    let link = Link::new("the program", offer.open(trust)?, composites, &reactor, capacity)?;
    let host = Outside { template, link: link.clone() };
    let runtime_options = drystone_runtime::Options {
        cores: options.cores.max(1),
        memory_limit: if options.memory == 0 { usize::MAX } else { options.memory },
        seed: options.seed.unwrap_or_else(|| RandomState::new().hash_one(0)),
        system: &mut |_, _| None,
    };
    let guest = Guest::new(template, Box::new(host));
    let outcome = drystone_runtime::run_guest(program, guest, &mut platform, runtime_options);
    say_goodbye(&link, &reactor);
    let in_good_order = outcome.status == 0 && link.sign() == sign::DELETE;
    link.show(if in_good_order { sign::GONE } else { sign::FAILED });
    link.hang_up();
    reactor.abandon();
    platform.end();
    Ok(outcome.status as i32)
}

/// Lets what was said last be heard.
fn say_goodbye(link: &Rc<Link>, reactor: &Rc<Reactor>) {
    let end = Instant::now() + LEAVING;
    while link.has_output() && !link.is_lost() && Instant::now() < end {
        reactor.wait(Some(end.saturating_duration_since(Instant::now())), &mut |_| {});
    }
}
