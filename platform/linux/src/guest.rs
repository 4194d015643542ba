//! Runs a component in another domain, on the same platform. Its program is at the other end of a channel.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::rc::Rc;
use std::time::Instant;

use drystone_component::{Program, Template};
use drystone_kortex::domain::{self, Home, Link, Party, Trust};

use crate::Options;
use crate::bindings::{self, Offer};
use crate::platform::{Linux, Output};
use crate::signals::Signals;

/// Runs a component until it is deleted, and returns the exit status. Its program is at the other end of the channel,
/// with the same capacity.
pub(crate) fn run(
    program: &'static Program,
    template: &'static Template,
    (offer, trust): (Offer, Trust),
    options: &Options,
    capacity: u32,
) -> io::Result<i32> {
    // The control socket belongs to the program, not to its domains.
    let options = &Options { control: None, ..options.clone() };
    let bindings = |reactor: &_| bindings::all(program, options, reactor, run);
    // Signals are the program's, too.
    let mut platform = Linux::new(Instant::now(), Output::Standard, options, Signals::none, bindings)
        .map_err(io::Error::other)?;
    let home: Rc<dyn Home> = platform.reactor.clone();
    let composites = Some(platform.composites().clone());
    let end = offer.open(trust, &platform.reactor)?;
    let link = Link::new("the program", (Party::Guest, end), &home, composites, capacity);
    let runtime_options = drystone_runtime::Options {
        cores: options.cores.max(1),
        memory_limit: if options.memory == 0 { usize::MAX } else { options.memory },
        seed: options.seed.unwrap_or_else(|| RandomState::new().hash_one(0)),
        is_restless: options.is_restless,
        system: &mut |_, _| None,
    };
    let status = domain::run(program, template, &link, &mut platform, runtime_options);
    platform.end();
    Ok(status as i32)
}
