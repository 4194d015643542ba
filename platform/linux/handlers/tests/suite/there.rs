//! A second network namespace, behind a pair of virtual interfaces: `near` here, `far` there.

use std::sync::mpsc::{Sender, channel};
use std::thread;

use crate::namespace::{alone, ip};

/// The addresses of both ends.
pub const NEAR: &str = "10.97.0.1";
pub const FAR: &str = "10.97.0.2";

/// The thread that is there, and does what it is given.
pub struct There(Sender<Box<dyn FnOnce() + Send>>);

impl There {
    /// This thread is alone in a namespace from now on, with the near end.
    pub fn new() -> Result<There, String> {
        let near = alone()?;
        let (jobs, given) = channel::<Box<dyn FnOnce() + Send>>();
        thread::spawn(move || given.into_iter().for_each(|job| job()));
        let there = There(jobs);
        there.run(move || {
            alone()?;
            let pair = ip("link add far address 02:00:00:00:00:02 type veth peer name near")
                && ip(&format!("link set near netns {near}"))
                && ip(&format!("addr add {FAR}/24 dev far"))
                && ip("link set far up");
            if pair { Ok(()) } else { Err("this kernel has no veth".to_string()) }
        })?;
        raise_near()?;
        there.run(|| ip(&format!("neigh add {NEAR} lladdr 02:00:00:00:00:01 dev far nud permanent")));
        Ok(there)
    }

    /// Does something there. Threads and programs that it starts are there, too.
    pub fn run<T: Send + 'static>(&self, deed: impl FnOnce() -> T + Send + 'static) -> T {
        let (say, heard) = channel();
        self.0.send(Box::new(move || drop(say.send(deed())))).expect("it is there");
        heard.recv().expect("it passes")
    }
}

/// The near end is ready. Nobody has to be asked where the far one is: not all engines answer that.
pub fn raise_near() -> Result<(), String> {
    let raised = ip("link set near address 02:00:00:00:00:01")
        && ip(&format!("addr add {NEAR}/24 dev near"))
        && ip("link set near up")
        && ip(&format!("neigh add {FAR} lladdr 02:00:00:00:00:02 dev near nud permanent"));
    if raised { Ok(()) } else { Err("there is no interface".into()) }
}
