//! External names, and the binding factories that reach them. A name's scheme, what stands before the first `:`, says
//! which factory it belongs to (language reference, section 9).

mod channel;
mod clock;
mod composites;
mod confine;
#[cfg(any(test, feature = "fuzzing"))]
pub mod decoders;
mod domain;
mod process_domain;
mod worker;

use std::rc::Rc;

use drystone_component::Program;
use drystone_kortex::bindings::Bindings;
use drystone_kortex::peer::Composites;
use drystone_kortex::{Addition, Host};

pub(crate) use self::channel::Offer;
use self::clock::Clock;
use self::domain::{Holder, Run};
use self::process_domain::Processes;
use self::worker::Workers;
use crate::Options;
use drystone_reactor::Reactor;

/// Protocols that are built in, and the library's procedures.
pub(crate) const BUILT_IN: &[&Addition] = &[
    #[cfg(feature = "http")]
    &drystone_http::ADDITION,
    #[cfg(feature = "library")]
    &drystone_library::ADDITION,
    #[cfg(feature = "library")]
    &drystone_library::PORTABLE,
    #[cfg(feature = "nats")]
    &drystone_nats::ADDITION,
    #[cfg(feature = "onc")]
    &drystone_onc::ADDITION,
    #[cfg(feature = "sql")]
    &drystone_sql::ADDITION,
    #[cfg(feature = "tcp")]
    &drystone_tcp::ADDITION,
    #[cfg(feature = "udp")]
    &drystone_udp::ADDITION,
];

/// All bindings of this platform, with the service that runs composite calls of other programs.
pub(crate) fn all(
    program: &'static Program,
    options: &Options,
    reactor: &Rc<Reactor>,
    run: Run,
) -> (Bindings, Rc<dyn Composites>) {
    let clock = Rc::new(Clock::new(reactor.clone()));
    let composites: Rc<dyn Composites> = Rc::new(composites::server(reactor, &clock));
    let host = Host::new(Some(composites.clone()));
    host.share(|| reactor.clone());
    let additions = BUILT_IN.iter().chain(options.additions).copied();
    let mut bindings = Bindings::added(additions, &host, clock);
    let holder = Holder::new(program, options, reactor, &composites, run);
    bindings.add_manager("process", Box::new(Processes::new(holder.clone())));
    bindings.add_manager("worker", Box::new(Workers::new(holder)));
    (bindings, composites)
}
