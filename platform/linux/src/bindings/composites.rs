//! The platform of the composite service on Linux: the reactor's timers and errands.

use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};
use std::rc::{Rc, Weak};

use drystone_composites::{Platform, Preparation, Prepared, Server};
use drystone_kortex::composed::Time as _;
use drystone_reactor::{Errand, Handler, Reactor, weakly};

use super::clock::Clock;

/// The composite service of the program that this reactor serves.
pub(super) fn server(reactor: &Rc<Reactor>, clock: &Rc<Clock>) -> Server {
    let linux = Rc::new_cyclic(|me| Linux {
        me: me.clone(),
        clock: clock.clone(),
        reactor: reactor.clone(),
        preparing: RefCell::default(),
    });
    Server::new(linux, RandomState::new().hash_one(0))
}

struct Linux {
    me: Weak<Linux>,
    clock: Rc<Clock>,
    reactor: Rc<Reactor>,
    preparing: RefCell<Option<(Errand<Prepared>, Box<Then>)>>,
}

type Then = dyn FnOnce(Prepared);

impl Linux {
    /// The helper thread may have finished.
    fn prepared(&self) {
        let prepared = self.preparing.borrow().as_ref().and_then(|(errand, _)| errand.result());
        let Some(prepared) = prepared else { return };
        if let Some((_, then)) = self.preparing.take() {
            then(prepared);
        }
    }
}

impl Platform for Linux {
    fn now(&self) -> u64 {
        self.clock.now()
    }

    fn call_at_the_latest(&self, time: u64, act: Rc<dyn Fn()>) {
        self.reactor.at_the_latest(self.clock.instant(time), Rc::new(Call(act)));
    }

    fn prepare(&self, preparation: Preparation, then: Box<Then>) -> Result<(), String> {
        let done = weakly(&self.me, |linux| linux.prepared());
        let errand = Errand::begin_for(&self.reactor, "preparing", done, || preparation.run());
        let errand = errand.map_err(|error| format!("the server has no thread: {error}"))?;
        *self.preparing.borrow_mut() = Some((errand, then));
        Ok(())
    }
}

struct Call(Rc<dyn Fn()>);

impl Handler for Call {
    fn ready(&self) {
        self.0();
    }
}
