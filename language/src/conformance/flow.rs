//! Follows a process through its statements, with where its communications may be: loops until nothing changes,
//! procedures once for each situation they are called in.

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
    // What a recursive call does is what the round before found out; at first, that it doesn't come back.
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
