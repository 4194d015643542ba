//! When a link goes on: handlers of the reactor that keep it, or don't.

use std::rc::{Rc, Weak};

use super::Link;
use drystone_reactor::Handler;

/// Wakes a link that somebody else keeps.
pub(super) struct Attention(pub(super) Weak<Link>);

impl Handler for Attention {
    fn ready(&self) {
        if let Some(link) = self.0.upgrade() {
            link.go_on();
        }
    }
}

/// Ends a link whose other end says nothing.
pub(super) struct Impatience(pub(super) Weak<Link>);

impl Handler for Impatience {
    fn ready(&self) {
        if let Some(link) = self.0.upgrade()
            && link.waits_for_hello()
        {
            link.lose("it doesn't answer");
        }
    }
}

/// Ends a link whose other end does not read why it ends.
pub(super) struct Limit(pub(super) Rc<Link>);

impl Handler for Limit {
    fn ready(&self) {
        self.0.lose("it is over");
    }
}
