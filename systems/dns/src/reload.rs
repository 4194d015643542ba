//! Reads the zone's file again when it changes, or on request. Answers go on meanwhile: the old zone is served until
//! the new one is ready, and stays if the file is invalid.

use std::fs::metadata;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use drystone_handlers::{Quiet, Region, Service};

use crate::ready::{self, Table};
use crate::serve::Current;
use crate::zone::Zone;

/// How often files are checked.
const PAUSE: Duration = Duration::from_millis(500);

/// Time and length of each file: a change means that the file has changed.
type Seen = Vec<Option<(SystemTime, u64)>>;

/// The handler's part: the region with its answers.
pub struct Handler {
    region: Region,
    quiet: Quiet,
    extent: (usize, usize),
}

impl Handler {
    /// The handler of a service, with a table of that size ([`Table::extent`]).
    pub fn of(service: &Service, extent: (usize, usize)) -> Handler {
        Handler { region: service.region().clone(), quiet: service.quiet(), extent }
    }

    /// How many questions it has answered.
    pub fn answered(&self) -> u64 {
        ready::answered(&self.region)
    }

    /// Gives it another zone's answers, and calls `change` while it gives none. Returns how many answers it has then.
    fn exchange(&self, zone: &Zone, change: impl FnOnce()) -> usize {
        let (sets, bytes) = self.extent;
        let table = Table::within(zone, sets, bytes);
        ready::close(&self.region);
        change();
        // If its runs can't be waited for, it stays closed.
        if self.quiet.wait().is_err() {
            return 0;
        }
        table.give(&self.region);
        table.count()
    }
}

/// A zone's file and the state in which it was read.
pub struct Watched {
    file: PathBuf,
    origin: Option<String>,
    files: Vec<PathBuf>,
    seen: Seen,
}

impl Watched {
    /// Reads a zone.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn load(file: PathBuf, origin: Option<String>) -> Result<(Watched, Zone), String> {
        let mut watched = Watched { file, origin, files: Vec::new(), seen: Vec::new() };
        let zone = watched.read()?;
        Ok((watched, zone))
    }

    fn read(&mut self) -> Result<Zone, String> {
        let (files, zone) = Zone::load(&self.file, self.origin.as_deref());
        self.seen = seen(&files);
        self.files = files;
        zone
    }

    /// Reads the file again, and serves the zone if it is valid. Returns a message about it.
    ///
    /// # Errors
    /// What is wrong with it; the old zone stays.
    pub fn reload(&mut self, current: &Current, handler: Option<&Handler>) -> Result<String, String> {
        let zone = self.read()?;
        if zone.apex() != current.zone().apex() {
            return Err(format!("{}: it is another zone now; start anew for that", self.file.display()));
        }
        let names = zone.names().count();
        let next = Arc::new(zone);
        let answers = match handler {
            Some(handler) => handler.exchange(&next.clone(), || current.replace(next)),
            None => {
                current.replace(next);
                0
            }
        };
        Ok(format!("read again: {names} names, {answers} answers at the handler"))
    }

    /// Does so whenever the file has changed or `is_wished` is set, on a thread of its own, and reports it.
    pub fn keep(mut self, current: Arc<Current>, handler: Option<Handler>, is_wished: Arc<AtomicBool>) {
        thread::spawn(move || {
            let mut before = self.seen.clone();
            loop {
                thread::sleep(PAUSE);
                let now = seen(&self.files);
                // A file that is being written is read once it stays the same.
                let has_changed = now != self.seen && now == before;
                before = now;
                if is_wished.swap(false, Ordering::Relaxed) || has_changed {
                    // The zone is read even if nobody reads the report.
                    let _ = match self.reload(&current, handler.as_ref()) {
                        Ok(told) => writeln!(io::stdout(), "{told}"),
                        Err(why) => {
                            writeln!(io::stderr(), "error: {why}; the zone of before is still served")
                        }
                    };
                }
            }
        });
    }
}

fn seen(files: &[PathBuf]) -> Seen {
    let look = |file: &PathBuf| {
        let metadata = metadata(file).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    };
    files.iter().map(look).collect()
}
