//! What a peer needs of the line that carries its bytes.

use alloc::rc::Rc;

use super::composites::Composites;
use super::connection::Peer;
use super::offer::Offer;
use crate::Expected;

/// Carries the bytes between two programs.
pub trait Line {
    /// The program at the other end.
    fn peer(&self) -> &Peer;
    /// There is something to send, when the program has nothing else to do.
    fn send_soon(&self);
    /// Sends what can be sent without waiting, so that the other end works while this one does.
    fn send_now(&self);
    /// From this number of bytes on, output is sent at once, although the program goes on.
    fn much(&self) -> usize {
        4 * 1024
    }
    /// The export that the other end may ask for by a name, and the slot for its client.
    fn find(&self, name: &[u8]) -> Option<(Rc<Offer>, usize)>;
    /// Runs composite calls that the other end ships. `None` if it may not ship any: it was dialed, or is a confined
    /// domain.
    fn composites(&self) -> Option<&Rc<dyn Composites>> {
        None
    }
    /// All communications that the other end has begun are over here.
    fn quiet(&self) {}
    /// What may arrive at this program from outside.
    fn expected(&self) -> &Expected;
}

/// A communication that the other end has begun is over here.
pub(super) fn one_served_less(line: &dyn Line) {
    let served = &line.peer().served;
    served.set(served.get() - 1);
    if line.peer().is_quiet() {
        line.quiet();
    }
}
