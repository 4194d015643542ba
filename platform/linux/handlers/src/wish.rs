//! Command-line options of services: where their handler runs.

use std::fmt::Display;

use clap::Args;

use crate::{Engine, Mode, Place, Service};

/// Where a handler is to run, if at all.
#[derive(Args, Clone, Debug)]
pub struct Wish {
    /// The network interface where a handler answers; without one, the process does all
    #[arg(long, value_name = "INTERFACE")]
    pub on: Option<String>,
    /// What runs the handler
    #[arg(long, value_enum, default_value_t = Engine::Auto)]
    pub engine: Engine,
    /// Where in Linux
    #[arg(long, value_enum, default_value_t = Mode::Any)]
    pub mode: Mode,
    /// The interface's queue (by AF_XDP)
    #[arg(long, default_value_t = 0)]
    pub queue: u32,
}

impl Wish {
    /// Runs the handler there for datagrams to a port. Reports it if the preferred engine isn't available.
    ///
    /// # Errors
    /// No engine accepts it, or the object file doesn't exist.
    pub fn open(
        &self,
        port: u16,
        object: impl FnOnce() -> Result<Vec<u8>, String>,
    ) -> Result<Option<Service>, String> {
        let Some(interface) = self.on.clone() else { return Ok(None) };
        let place = Place { interface, queue: self.queue, port, engine: self.engine, mode: self.mode };
        let (service, why) = Service::open(&object()?, &place)?;
        why.into_iter().for_each(|why| eprintln!("XDP: {why}\nAF_XDP runs the handler instead"));
        Ok(Some(service))
    }

    /// Where it runs, in words for people.
    pub fn told(&self, service: Option<&Service>, has: impl Display) -> String {
        match (service, &self.on) {
            (Some(service), Some(on)) if service.is_in_linux() => {
                format!("a handler answers at {on}, in Linux, with {has}")
            }
            (Some(_), Some(on)) => format!("a handler answers at {on}, in this process, with {has}"),
            _ => "there is no handler".into(),
        }
    }
}
