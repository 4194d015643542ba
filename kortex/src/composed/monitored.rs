//! `Monitored()`: counts the messages of a binding, and measures how long answers take.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use core::cell::RefCell;

use drystone_component::{Interface, Side};
use drystone_runtime::binding::Factory;
use drystone_runtime::far::{Arrival, Far, Filling, Outgoing, Waker};

use super::monitors::Monitor;
use super::options::only;
use super::services::Services;
use super::time::Time;
use super::wrap::Wrap;

/// Wraps the halves of a binding in monitored ones.
pub(super) struct Watching {
    monitor: Rc<RefCell<Monitor>>,
    time: Rc<dyn Time>,
}

pub(super) fn watching(
    interface: &'static Interface,
    name: &str,
    factory: &Factory<'_>,
    services: &Services,
) -> Result<Box<dyn Wrap>, String> {
    only(factory, &["name"])?;
    let given = factory.option("name").map(String::from_utf8_lossy);
    let monitor = Rc::new(RefCell::new(Monitor {
        name: given.map_or(name.to_string(), |given| given.into_owned()),
        interface: interface.name.get(),
        begun: 0,
        open: 0,
        lost: 0,
        messages: interface.messages.get().iter().map(|message| (message.name.get(), 0)).collect(),
        times: [0; 64],
    }));
    services.monitors.add(&monitor);
    Ok(Box::new(Watching { monitor, time: services.time.clone() }))
}

impl Wrap for Watching {
    fn wrap(&self, inner: Box<dyn Far>, _: Side) -> Box<dyn Far> {
        let monitor = self.monitor.clone();
        {
            let monitor = &mut *monitor.borrow_mut();
            monitor.begun += 1;
            monitor.open += 1;
        }
        Box::new(Watched { inner, monitor, time: self.time.clone(), asked: None, taking: 0, is_lost: false })
    }
}

struct Watched {
    inner: Box<dyn Far>,
    monitor: Rc<RefCell<Monitor>>,
    time: Rc<dyn Time>,
    /// When this side sent its last message that is still unanswered.
    asked: Option<u64>,
    /// The message that has arrived.
    taking: usize,
    is_lost: bool,
}

impl Far for Watched {
    fn attach(&mut self, pump: Waker) {
        self.inner.attach(pump);
    }

    fn has_room(&mut self) -> bool {
        self.inner.has_room()
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        self.monitor.borrow_mut().messages[message].1 += 1;
        self.asked = Some(self.time.now());
        self.inner.send(message, values);
    }

    fn receive(&mut self) -> Arrival {
        let arrival = self.inner.receive();
        match arrival {
            Arrival::Message(message) => self.taking = message,
            Arrival::Lost(_) if !self.is_lost => {
                self.is_lost = true;
                self.monitor.borrow_mut().lost += 1;
            }
            Arrival::Nothing | Arrival::Closed | Arrival::Lost(_) => {}
        }
        arrival
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        let monitor = &mut *self.monitor.borrow_mut();
        if let Some(count) = monitor.messages.get_mut(self.taking) {
            count.1 += 1;
        }
        if let Some(asked) = self.asked.take() {
            let taken = self.time.now().saturating_sub(asked);
            monitor.times[(u64::BITS - taken.leading_zeros()).min(63) as usize] += 1;
        }
        self.inner.take(values)
    }

    fn slot(&self) -> usize {
        self.inner.slot()
    }

    fn close(&mut self) {
        self.inner.close();
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.monitor.borrow_mut().open -= 1;
    }
}
