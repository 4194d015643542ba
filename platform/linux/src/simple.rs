//! The services that keep nothing: SystemTime and Arguments.

use std::rc::Rc;
use std::time::{Instant, SystemTime as Wall, UNIX_EPOCH};

use drystone_runtime::native::{Context, Service, Value, Values};

use crate::interfaces::{Arguments, SystemTime};

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

impl Service for Clock {
    type Messages = SystemTime;

    fn receive(&mut self, cx: &mut Context<'_, SystemTime>, message: SystemTime, _: Values<'_>) {
        if message == SystemTime::GetSystemTime {
            let ticks = self.at_start + self.start.elapsed().as_millis() as i64;
            cx.send(SystemTime::SystemTime, [Value::Integer(ticks)]);
        }
    }
}

/// The program's arguments.
pub(crate) struct ArgumentList(pub(crate) Rc<Vec<Vec<u8>>>);

impl Service for ArgumentList {
    type Messages = Arguments;

    fn receive(&mut self, cx: &mut Context<'_, Arguments>, message: Arguments, _: Values<'_>) {
        if message == Arguments::GetArguments {
            for argument in self.0.iter() {
                cx.send(Arguments::Argument, [Value::Text(argument)]);
            }
            cx.send(Arguments::End, []);
        }
    }
}
