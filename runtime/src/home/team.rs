//! Teams: processes that run together on one worker, with what is known of them there.
//!
//! The home has a team that is always its own: all processes but those that it has lent. A lent team is a component
//! with everything in it. It runs on another worker as fast as at home, because nothing in it is shared, until it comes
//! to something outside.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ptr::null_mut;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::SeqCst;

use drystone_component::{Body, Interface};

use super::census::Census;
use super::communications::Communications;
use super::deletions::Deletions;
use super::timers::Timers;
use super::watches::Watches;
use crate::layout::{Communication, Instance, Process};
use crate::queue::Queue;

/// See the head of this file.
#[derive(Default)]
pub struct Team {
    /// Its processes that sleep.
    pub timers: Timers,
    /// What those of its processes watch that wait for the first of several things.
    pub watches: Watches,
    /// What is known about its communications.
    pub communications: Communications,
    /// Its components that are being deleted.
    pub deletions: Deletions,
    /// Its processes.
    pub census: Census,
    /// What is known of bodies, by address: positive if it pays to lend their processes one by one.
    pub bodies: BTreeMap<usize, i32>,
    /// What it touches may be at another worker: some of it is lent, or it is.
    pub is_apart: bool,
    /// What a lent team has besides.
    pub lent: Option<LentTeam>,
}

/// What only a lent team has.
pub struct LentTeam {
    /// The component that holds all of it.
    pub root: *mut Instance,
    /// Its ready processes, while no worker runs it.
    pub ready: Queue,
    /// What the home asks of it.
    pub order: Arc<Order>,
    /// It has come to something outside.
    pub wants_home: bool,
    /// It goes home at the next tick.
    pub goes_home_soon: bool,
    /// When a worker took it last, by the platform's clock.
    pub since: u64,
    /// Answers to clients outside: at home they are sent.
    pub answers: Vec<Answer>,
    /// Processes that have run to their end, which concerns somebody outside: at home they end. And where that was.
    pub finished: Vec<(*mut Process, u32)>,
    /// Nanoseconds that it ran.
    pub nanoseconds: u64,
    /// Messages that its processes have sent.
    pub messages: u64,
    /// How often one of them was dispatched.
    pub switches: u64,
}

/// A message that is complete in the buffer of a communication whose client is not in the team.
pub struct Answer {
    /// The communication.
    pub communication: *mut Communication,
    /// Its interface.
    pub interface: *const Interface,
    /// The message's number.
    pub message: u32,
}

/// What the home asks of a team, wherever that is.
#[derive(Default)]
pub struct Order {
    recalled: AtomicBool,
}

impl Order {
    /// The team shall come home; whether that was not known.
    pub fn recall(&self) -> bool {
        !self.recalled.swap(true, SeqCst)
    }

    /// Whether it shall.
    pub fn is_recalled(&self) -> bool {
        self.recalled.load(SeqCst)
    }
}

// SAFETY: a team is used by the one thread that has it; what it leads to goes with it.
unsafe impl Send for Team {}

impl Team {
    /// A team that is lent with this component; `forced` is as in the home's [`Deletions`], which doesn't change
    /// meanwhile.
    pub fn lent(root: *mut Instance, forced: u64) -> Team {
        let lent = LentTeam {
            root,
            ready: Queue::EMPTY,
            order: Arc::default(),
            wants_home: false,
            goes_home_soon: false,
            since: 0,
            answers: Vec::new(),
            finished: Vec::new(),
            nanoseconds: 0,
            messages: 0,
            switches: 0,
        };
        let deletions = Deletions { forced, ..Deletions::default() };
        Team { deletions, is_apart: true, lent: Some(lent), ..Team::default() }
    }

    /// The component that holds a lent team; null for the home's.
    pub fn root(&self) -> *mut Instance {
        self.lent.as_ref().map_or(null_mut(), |lent| lent.root)
    }

    /// What the home asks of a lent team. The home's own is asked for nothing.
    pub fn order(&self) -> Arc<Order> {
        self.lent.as_ref().map_or_else(Arc::default, |lent| lent.order.clone())
    }

    /// Whether it shall come home.
    pub fn is_recalled(&self) -> bool {
        self.lent.as_ref().is_some_and(|lent| lent.order.is_recalled())
    }

    /// Puts a process among those that a lent team has ready.
    ///
    /// # Safety
    /// The process is one of the team's, alive, and stands in no queue.
    pub unsafe fn make_ready(&mut self, p: *mut Process) {
        if let Some(lent) = &mut self.lent {
            // SAFETY: the process stands in no queue.
            unsafe { lent.ready.push(p) };
        }
    }

    /// Whether a new process of this body may go away before it begins.
    #[inline]
    pub fn is_candidate(&self, body: &Body) -> bool {
        !self.bodies.is_empty() && self.bodies.get(&(&raw const *body).addr()).is_some_and(|&gain| gain > 0)
    }

    /// A process of this body has gained by going away, or lost.
    pub fn learn(&mut self, body: &Body, gain: i32) {
        let known = self.bodies.entry((&raw const *body).addr()).or_insert(0);
        *known = (*known + gain).clamp(-8, 8);
    }
}
