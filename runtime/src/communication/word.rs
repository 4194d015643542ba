//! A communication's word as each side reads it: for which side a message is in the buffer, and what may follow.

use drystone_component::{Interface, Side};

use crate::layout::*;
use crate::protocol::may_end;

impl CommunicationWord {
    /// The first state, with an empty buffer.
    pub const START: CommunicationWord = CommunicationWord { state: 0, seen: 0, tag: 0, flags: 0 };

    /// The message in the buffer has been taken.
    #[inline(always)]
    pub fn empty(&mut self) {
        self.tag = 0;
        self.seen = self.state;
        self.flags &= !FOR_CLIENT;
    }

    /// Whether a message in the buffer would be for this side.
    #[inline(always)]
    pub fn is_for(self, side: Side) -> bool {
        match side {
            Side::Client => self.flags & FOR_CLIENT != 0,
            Side::Server => self.flags & (FOR_CLIENT | ENDING) == 0,
        }
    }

    /// Whether a message for this side is in the buffer.
    #[inline(always)]
    pub fn holds_for(self, side: Side) -> bool {
        self.tag != 0 && self.is_for(side)
    }

    /// Whether nothing comes any more for this side but what is in the buffer.
    #[inline(always)]
    pub fn is_closed_for(self, side: Side) -> bool {
        let closed = match side {
            Side::Client => SERVICE_ENDED | GONE,
            Side::Server => CLIENT_CLOSED | GONE | ENDING,
        };
        self.flags & closed != 0
    }

    /// Whether either side can still send something.
    #[inline(always)]
    pub fn goes_on(self, interface: &Interface) -> bool {
        interface.state(self.state) & (Interface::CLIENT_SENDS | Interface::SERVER_SENDS) != 0
    }

    /// Whether the client may close now.
    #[inline]
    pub fn may_close(self, interface: &Interface) -> bool {
        let state = if self.flags & FOR_CLIENT != 0 { self.seen } else { self.state };
        self.flags & GONE != 0 || may_end(interface, state)
    }

    /// Whether the service leaves messages unreceived if it ends now.
    pub fn is_unread(self) -> bool {
        self.tag != 0 && self.flags & FOR_CLIENT == 0
    }
}
