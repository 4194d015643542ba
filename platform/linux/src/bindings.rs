//! Names of what is elsewhere, and the binding factories that reach it. The scheme of a name, what stands before the
//! first `:`, says whose it is (language reference, section 9).

mod alive;
mod arrivals;
mod channel;
mod clock;
mod composite;
mod confine;
mod datagram;
mod datum;
#[cfg(any(test, feature = "fuzzing"))]
pub mod decoders;
mod domain;
pub(crate) mod entry;
mod http;
mod nats;
pub mod onc;
pub(crate) mod patience;
pub(crate) mod place;
mod process;
mod secure;
mod slot;
mod tcp;
pub mod udp;
mod worker;
mod xdr;

use std::rc::Rc;

use drystone_component::Program;
use drystone_kortex::bindings::Bindings;
use drystone_kortex::composed::Services;
use drystone_kortex::peer::Composites;

use self::clock::Clock;
use self::domain::Holder;
use self::process::Processes;
use self::worker::Workers;
use crate::Options;
use crate::reactor::Reactor;

/// All that this platform knows, with what runs composite calls that others ship here, however they come.
pub(crate) fn all(
    program: &'static Program,
    options: &Options,
    reactor: &Rc<Reactor>,
) -> (Bindings, Rc<dyn Composites>) {
    let additions = options.additions.iter();
    let mut bindings = Bindings::new(Services {
        time: Rc::new(Clock::new(reactor.clone())),
        monitors: Rc::default(),
        added: additions.clone().flat_map(|addition| addition.factories).collect(),
    });
    let composites: Rc<dyn Composites> = composite::Server::new(reactor);
    let nats = nats::Sessions::new(reactor, &composites);
    bindings.add_context("http", Box::new(http::Context::plain(reactor)));
    bindings.add_context("https", Box::new(http::Context::secure(reactor)));
    bindings.add_context("event+nats", Box::new(nats::Events::new(&nats)));
    bindings.add_context("nats", Box::new(nats::Nats::new(&nats)));
    bindings.add_context("onc", Box::new(onc::Context::tcp(reactor)));
    bindings.add_context("onc+udp", Box::new(onc::Context::udp(reactor)));
    bindings.add_context("tcp", Box::new(tcp::Tcp::new(reactor, &composites)));
    bindings.add_context("udp", Box::new(udp::Context::new(reactor)));
    for context in additions.flat_map(|addition| addition.contexts) {
        bindings.add_context(context.scheme, (context.begin)());
    }
    let holder = Holder::new(program, options, reactor, &composites);
    bindings.add_manager("process", Box::new(Processes::new(holder.clone())));
    bindings.add_manager("worker", Box::new(Workers::new(holder)));
    (bindings, composites)
}
