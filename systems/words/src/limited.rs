//! The binding factory `Limited(times: n)`: a name can be used for so many communications, and no more.

use alloc::boxed::Box;
use alloc::string::String;

use drystone_component::Interface;
use drystone_runtime::binding::Factory;
use drystone_runtime::far::{Arrival, Far, Filling, Outgoing, Reach, Waker};

struct Limited {
    inner: Box<dyn Reach>,
    left: i64,
}

impl Reach for Limited {
    fn begin(&mut self) -> Box<dyn Far> {
        if self.left <= 0 {
            return Box::new(Refused);
        }
        self.left -= 1;
        self.inner.begin()
    }
}

/// A communication that never comes about.
struct Refused;

impl Far for Refused {
    fn attach(&mut self, _: Waker) {}

    fn has_room(&mut self) -> bool {
        true
    }

    fn send(&mut self, _: usize, _: Outgoing<'_>) {}

    fn receive(&mut self) -> Arrival {
        Arrival::Lost("Limited: the name has been used often enough".into())
    }

    fn take(&mut self, _: &mut Filling<'_>) -> Result<(), String> {
        Err("nothing has come".into())
    }

    fn close(&mut self) {}
}

/// Puts it before what another factory reaches.
///
/// # Errors
/// It needs `times`.
pub fn put(
    inner: Box<dyn Reach>,
    _: &'static Interface,
    factory: &Factory<'_>,
) -> Result<Box<dyn Reach>, String> {
    let left = factory.integer("times")?.ok_or("Limited needs to know how often: Limited(times: 3)")?;
    Ok(Box::new(Limited { inner, left }))
}
