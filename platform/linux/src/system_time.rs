//! The service SystemTime.

use std::time::{Instant, SystemTime as Wall, UNIX_EPOCH};

use crate::interfaces::system_time::{SystemTime, SystemTimeMessage};

/// The time in milliseconds since 1970, read once when the program starts; from then on it never runs backwards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Instant,
    at_start: i64,
}

impl Clock {
    pub(crate) fn new(start: Instant) -> Clock {
        let since_1970 = Wall::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Clock { start, at_start: since_1970.as_millis() as i64 }
    }
}

impl SystemTime for Clock {
    fn get_system_time(&mut self) -> SystemTimeMessage {
        SystemTimeMessage { ticks: self.at_start + self.start.elapsed().as_millis() as i64 }
    }
}
