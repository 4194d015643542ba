//! The timer queue: processes that sleep, and alarms of processes that wait for something else, but not for ever.

use alloc::collections::BTreeMap;

use crate::layout::{Process, WOKEN, Worker};
use crate::queue::{Queue, ready};

/// In nanoseconds.
pub const MILLISECOND: u64 = 1_000_000;

/// Processes that sleep, by their time: those of one moment in the order in which they went to sleep.
pub struct Timers {
    queues: BTreeMap<i64, Queue>,
    /// Processes that wait for something else, but not for ever, by time and number. They may stand in other queues, so
    /// that no link of theirs is left for this one.
    alarms: BTreeMap<(i64, i64), *mut Process>,
}

/// What [`Timers::each`] shows.
pub enum First {
    /// Others follow, as their links say.
    OfQueue(*mut Process),
    /// Its link leads elsewhere.
    Alone(*mut Process),
}

impl Timers {
    /// Nobody sleeps.
    pub const fn new() -> Timers {
        Timers { queues: BTreeMap::new(), alarms: BTreeMap::new() }
    }

    /// Whether nobody sleeps and no alarm is set.
    pub fn is_empty(&self) -> bool {
        self.queues.is_empty() && self.alarms.is_empty()
    }

    /// When the first wakes, or the first alarm goes off.
    pub fn first(&self) -> Option<i64> {
        let sleeping = self.queues.first_key_value().map(|(&time, _)| time);
        let alarm = self.alarms.first_key_value().map(|(&(time, _), _)| time);
        sleeping.into_iter().chain(alarm).min()
    }

    /// Sets an alarm, whose number no other alarm of the program has.
    pub fn set_alarm(&mut self, time: i64, number: i64, p: *mut Process) {
        self.alarms.insert((time, number), p);
    }

    /// Forgets an alarm, if it has not gone off.
    pub fn drop_alarm(&mut self, time: i64, number: i64) {
        self.alarms.remove(&(time, number));
    }

    /// The next process whose alarm goes off.
    pub fn take_alarm(&mut self, now: i64) -> Option<*mut Process> {
        let first = self.alarms.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }

    /// Puts a process to sleep.
    ///
    /// # Safety
    /// The process stands in no queue, and is alive as long as it stands in this one.
    pub unsafe fn add(&mut self, time: i64, p: *mut Process) {
        // SAFETY: the process stands in no queue.
        unsafe { self.queues.entry(time).or_insert(Queue::EMPTY).push(p) }
    }

    /// Makes ready the processes whose time has come.
    ///
    /// # Safety
    /// `w` is the home worker, whose processes these are.
    pub unsafe fn wake(&mut self, w: *mut Worker, now: i64) {
        while let Some(entry) = self.queues.first_entry() {
            if *entry.key() > now {
                return;
            }
            let mut queue = entry.remove();
            // SAFETY: a process in a queue is alive, and in no other queue.
            unsafe {
                loop {
                    let p = queue.pop();
                    if p.is_null() {
                        break;
                    }
                    ready(w, p);
                    (*p).status = WOKEN;
                }
            }
        }
    }

    /// Forgets the processes for which `keep` doesn't hold.
    ///
    /// # Safety
    /// What `keep` does, it does only to the process that it gets.
    pub unsafe fn retain(&mut self, mut keep: impl FnMut(*mut Process) -> bool) {
        self.queues.retain(|_, queue| {
            queue.retain(&mut keep);
            !queue.is_empty()
        });
        self.retain_alarms(keep);
    }

    /// Forgets the alarms of processes for which `keep` doesn't hold.
    pub fn retain_alarms(&mut self, mut keep: impl FnMut(*mut Process) -> bool) {
        self.alarms.retain(|_, p| keep(*p));
    }
}

impl Timers {
    /// Calls `each` for the processes, until it says no: the first of those that wake at one time, which lead to the
    /// others, and each that has an alarm.
    pub fn each<E>(&self, mut each: impl FnMut(First) -> Result<(), E>) -> Result<(), E> {
        self.queues.values().try_for_each(|queue| each(First::OfQueue(queue.head())))?;
        self.alarms.values().try_for_each(|&p| each(First::Alone(p)))
    }

    /// Takes out the processes for which `moves` holds, in their order.
    pub fn split(&mut self, mut moves: impl FnMut(*mut Process) -> bool) -> Timers {
        let mut taken = Timers::new();
        self.queues.retain(|&time, queue| {
            queue.retain(|p| {
                let stays = !moves(p);
                if !stays {
                    // SAFETY: it stands in no other queue any more.
                    unsafe { taken.queues.entry(time).or_insert(Queue::EMPTY).push(p) };
                }
                stays
            });
            !queue.is_empty()
        });
        self.alarms.retain(|&alarm, p| {
            let stays = !moves(*p);
            if !stays {
                taken.alarms.insert(alarm, *p);
            }
            stays
        });
        taken
    }

    /// Takes over the processes of other timers, behind those that wake at the same time.
    pub fn merge(&mut self, other: Timers) {
        for (time, mut queue) in other.queues {
            let into = self.queues.entry(time).or_insert(Queue::EMPTY);
            loop {
                let p = queue.pop();
                if p.is_null() {
                    break;
                }
                // SAFETY: it stands in no queue any more.
                unsafe { into.push(p) };
            }
        }
        self.alarms.extend(other.alarms);
    }
}

impl Default for Timers {
    fn default() -> Timers {
        Timers::new()
    }
}
