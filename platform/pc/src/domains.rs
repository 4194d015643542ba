//! `AT "user:store"`: runs a component as a user, in an address space and a thread of its own. It can compute, and talk
//! to the components that it is connected to.

mod calls;
mod load;
mod message;
pub(crate) mod user_process;

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::fmt::Write;

use drystone_calls::Start;
use drystone_component::wire::Limits;
use drystone_component::{Name, Program, Template};
use drystone_kortex::Expected;
use drystone_kortex::domain::{self, End, Home, Link, Party, Remote, Rings, Trust, Wake, capacity};
use drystone_machine::Console;
use drystone_runtime::binding::{Hints, ResourceManager};
use drystone_runtime::far::Domain;
use kortex_hal::mmu::AddressSpace;
use kortex_memory::PAGE;

use crate::{clock, memory, threads};
use user_process::{Channel, Process, Running};

/// The messages of one domain may take this fraction (one part in `SHARE`) of the memory that is left.
const SHARE: usize = 8;

/// Serves the channels to domains, and notices when domains end.
#[derive(Default)]
pub(crate) struct Harbour {
    rings: Rings,
    expected: Expected,
    live: RefCell<Vec<(Rc<Running>, Rc<Link>)>>,
}

impl Home for Harbour {
    fn rings(&self) -> &Rings {
        &self.rings
    }

    fn expected(&self) -> &Expected {
        &self.expected
    }

    fn limits(&self) -> Limits {
        let most = memory::left() * PAGE / SHARE;
        Limits { largest: most.clamp(1, 1 << 28) as u32, sum: most as u64, ..Limits::default() }
    }

    fn report(&self, message: &str) {
        let _ = Console.write_str(message);
    }
}

impl Harbour {
    /// Serves the channels, and tells links whose domains have ended. Returns whether there was anything to do.
    pub(crate) fn serve(&self) -> bool {
        user_process::look();
        let served = self.rings.serve();
        // What a domain wrote before it sent what has just been heard comes before what this program writes of it.
        self.write();
        let is_over =
            |(process, link): &mut (Rc<Running>, Rc<Link>)| process.ended().is_some() || link.is_lost();
        let over: Vec<_> = self.live.borrow_mut().extract_if(.., is_over).collect();
        for (process, link) in &over {
            if let Some(end) = process.ended() {
                link.end(&end.told());
            }
            // Frees its memory at once. If only the channel is lost, further work of the domain is in vain.
            process.end();
        }
        served || !over.is_empty()
    }

    /// Writes the messages of domains.
    fn write(&self) {
        self.live.borrow().iter().for_each(|(process, _)| process.write());
    }

    /// Abandons all channels: the program has ended.
    pub(crate) fn abandon(&self) {
        self.write();
        self.rings.abandon();
    }
}

/// The resource manager for domains.
pub(crate) struct Domains {
    pub(crate) program: &'static Program,
    /// The program, linked for domains.
    pub(crate) users: &'static [u8],
    /// The kernel's address space.
    pub(crate) space: AddressSpace,
    /// The seed of the next domain's `RANDOM`.
    pub(crate) seed: u64,
    pub(crate) harbour: Rc<Harbour>,
}

impl ResourceManager for Domains {
    fn create(
        &mut self,
        template: &'static Template,
        name: Name<'_>,
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Domain>, String> {
        let limit = limit(joint(name)?, hints)?;
        let capacity = capacity(hints)?;
        if memory::left() < LEAST {
            return Err(NO_MEMORY.into());
        }
        if !threads::are_there() {
            // SAFETY: it is the first one, and the kernel's address space.
            unsafe {
                user_process::begin();
                threads::begin(&self.space);
            }
        }
        let channel = Rc::new(Channel::new().ok_or(NO_MEMORY)?);
        let (counter, rate) = clock::base();
        let start = Start {
            template: (&raw const *template).addr() as isize - (&raw const *self.program).addr() as isize,
            capacity: capacity.into(),
            memory: limit.unwrap_or(usize::MAX),
            pages: limit.map_or(usize::MAX, |limit| limit.div_ceil(PAGE) + BESIDES).min(memory::left() / 2),
            seed: self.seed,
            counter,
            rate,
        };
        self.seed = self.seed.wrapping_add(1);
        let process =
            Process::start(&self.space, self.users, calls::bind, &channel, &start).ok_or(NO_MEMORY)?;
        let process = Rc::new(process);
        let other = Box::new(Other { process: process.clone(), _channel: channel.clone() });
        // SAFETY: the memory is there as long as `other` is, and this is the only end here.
        let end = unsafe { End::new(channel.memory(), 0, Trust::None, other) };
        let home: Rc<dyn Home> = self.harbour.clone();
        let link = Link::new(name.whole(), (Party::Holder, end), &home, None, capacity);
        self.harbour.live.borrow_mut().push((process.clone(), link.clone()));
        let place = Place { process, _channel: channel, harbour: self.harbour.clone() };
        Ok(Box::new(Remote::new(template, link, place)))
    }
}

const NO_MEMORY: &str = "there is no memory for a domain";

/// Least pages: with fewer, a domain would end before it has done anything.
const LEAST: usize = 192;

/// The runtime's own memory beside its heap, in pages.
const BESIDES: usize = 128;

/// The factory for a place with this name. As there is one processor, a component on another worker gets an address
/// space too: that gives it a thread and a heap of its own.
fn joint(name: Name<'_>) -> Result<&'static str, String> {
    Ok(if name.context() == "worker" { domain::worker(name).map(|_| "Worker")? } else { "Lrpc" })
}

/// Most bytes of a domain's program, if BY sets a limit.
fn limit(joint: &str, hints: &Hints<'_>) -> Result<Option<usize>, String> {
    let mut least = None;
    for factory in &hints.factories {
        if factory.name != joint {
            return Err(format!("{} can do nothing for a domain: {joint} can", factory.name));
        }
        // A domain is always confined.
        factory.boolean("confined")?;
        if factory.integer("processor")?.is_some() {
            return Err(
                "Lrpc: processor can't be had on a machine, where all domains have the same share".into()
            );
        }
        match factory.integer("memory")? {
            Some(bytes) if bytes <= 0 => return Err("Lrpc: memory is to be above 0".into()),
            Some(bytes) => least = Some(least.unwrap_or(usize::MAX).min(bytes as usize)),
            None => {}
        }
    }
    Ok(least)
}

/// The domain at the other end of a channel.
struct Other {
    process: Rc<Running>,
    _channel: Rc<Channel>,
}

impl Wake for Other {
    fn wake(&self) {
        self.process.ring();
    }
}

/// Ends a domain when it is dropped.
struct Place {
    process: Rc<Running>,
    /// Must outlive the process.
    _channel: Rc<Channel>,
    harbour: Rc<Harbour>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.process.end();
        self.harbour.live.borrow_mut().retain(|(process, _)| !Rc::ptr_eq(process, &self.process));
    }
}
