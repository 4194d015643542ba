//! The sessions of a program, one for each NATS and way to it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use drystone_kortex::Host;
use drystone_kortex::peer::Composites;
use drystone_reactor::Reactor;

use super::access::Access;
use super::engine::Engines;
use super::session::Session;

/// See the head of this file.
pub(super) struct Sessions {
    pub(super) reactor: Rc<Reactor>,
    engines: Engines,
    composites: Option<Rc<dyn Composites>>,
    sessions: RefCell<HashMap<Access, Rc<Session>>>,
}

impl Sessions {
    /// The sessions that a program's contexts share.
    pub(super) fn of(host: &Host) -> Rc<Sessions> {
        host.share(|| {
            Rc::new(Sessions {
                reactor: Reactor::of(host),
                engines: Engines::default(),
                composites: host.composites().cloned(),
                sessions: RefCell::default(),
            })
        })
    }

    /// The session for this way to a NATS.
    pub(super) fn get(&self, access: Access) -> Rc<Session> {
        let Sessions { reactor, engines, composites, sessions } = self;
        let sessions = &mut *sessions.borrow_mut();
        let session = sessions
            .entry(access)
            .or_insert_with_key(|access| Session::new(reactor, engines, composites, access.clone()));
        session.clone()
    }
}

impl Drop for Sessions {
    /// The program has ended: what it said last is on its way.
    fn drop(&mut self) {
        for session in self.sessions.get_mut().values() {
            session.end();
        }
    }
}
