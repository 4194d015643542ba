//! Follows a process through its statements with the positions of its communications. Loops are followed until a fixed
//! point is reached, procedures once for each situation in which they are called.

mod arrivals;
mod calls;
mod communications;
mod state;
mod statements;
mod values;

pub use state::{Outcome, Process};

use super::faults::Sites;
use super::positions::{Known, join};
use super::uses::Uses;
use crate::program::Block;
use crate::source::Span;
use state::Flow;

/// Follows a process. `None` if that would take too long.
pub fn follow(process: &Process, body: &Block, start: Known, end_span: Span) -> Option<Outcome> {
    let mut flow = Flow::new(process);
    // The effect of a recursive call is taken from the round before. In the first round, such a call doesn't return.
    loop {
        flow.sites = Sites::default();
        flow.uses = Uses::default();
        flow.entered.clear();
        flow.changed = false;
        flow.returned = None;
        let end = flow.block(body, start.clone());
        let end = end.and_then(|here| flow.end(here, end_span));
        if flow.budget == 0 {
            return None;
        }
        if !flow.changed {
            return Some(Outcome { end: join(end, flow.returned), sites: flow.sites, uses: flow.uses });
        }
    }
}
