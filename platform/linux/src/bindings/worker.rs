//! `AT "worker:1"`: runs a component in a thread of its own, with a second home.

use std::io;
use std::thread;

use drystone_component::{Name, Template};
use drystone_kortex::domain::{Remote, Trust, capacity, worker};
use drystone_runtime::binding::{Hints, ResourceManager};
use drystone_runtime::far::Domain;

use super::channel;
use super::domain::Holder;
use drystone_reactor::reason;

/// The resource manager for this program's workers.
pub(crate) struct Workers(Holder);

impl Workers {
    pub(crate) fn new(mut holder: Holder) -> Workers {
        // A domain is one worker, and doesn't use the program's others.
        holder.options.cores = 1;
        Workers(holder)
    }

    /// Starts a thread that runs the component, until the channel tells it to end.
    fn make(&self, template: &'static Template, worker: u32, capacity: u32) -> io::Result<Remote<()>> {
        let Workers(holder) = self;
        let (here, there) = channel::pair()?;
        let (program, options, live) = (holder.program, holder.options.clone(), holder.run);
        let run = move || {
            // An early end needs no report: the channel's descriptors are closed, too.
            let _ = live(program, template, (there, Trust::SameProgram), &options, capacity);
        };
        let name = format!("worker:{worker}");
        let link = holder.link(&name, (here, Trust::SameProgram), capacity)?;
        thread::Builder::new().name(name).spawn(run).inspect_err(|_| link.hang_up())?;
        Ok(Remote::new(template, link, ()))
    }
}

impl ResourceManager for Workers {
    fn create(
        &mut self,
        template: &'static Template,
        name: Name<'_>,
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Domain>, String> {
        let worker = worker(name)?;
        if let Some(factory) = hints.factories.iter().find(|factory| factory.name != "Worker") {
            return Err(format!("{} can do nothing for a worker of this program", factory.name));
        }
        Ok(Box::new(self.make(template, worker, capacity(hints)?).map_err(|error| reason(&error))?))
    }
}
