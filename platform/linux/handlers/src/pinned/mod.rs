//! Pinned handlers, which stay attached when the process that attached them has ended. Each has a folder in Linux's BPF
//! file system, with its link, its program, its maps, and a record of what it is for.
//!
//! A handler for all messages has its interface to itself. Handlers for some messages share an interface behind a
//! dispatcher ([`crate::Dispatcher`]). The dispatcher has no folder of its own: its link and maps are pinned in the
//! folder of each of its flows, so that it lives as long as any of them. Whoever adds or removes a flow makes the
//! dispatcher's program anew from all records.

mod attach;
mod folder;
mod others;
mod record;

use std::fs;
use std::io::{ErrorKind, Result};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;

use crate::bpf;
use crate::dispatcher::{Counts, Kept};
use crate::interface;
use crate::wanted::Wanted;
pub use attach::Site;
use folder::folder;
use record::{Flow, Record};

const LINK: &str = "link";
const PROGRAM: &str = "program";

/// A pinned handler.
#[derive(Debug)]
pub struct Pinned {
    name: String,
    program: OwnedFd,
    link: OwnedFd,
    record: Record,
}

impl Pinned {
    /// Opens the handler with a name.
    ///
    /// # Errors
    /// There is none, or permission is missing.
    pub fn open(name: &str) -> std::result::Result<Pinned, String> {
        Pinned::find(name).map_err(|error| match error.kind() {
            ErrorKind::NotFound => match folder(name) {
                Ok(folder) if folder.exists() => {
                    format!("handler `{name}` is of another version of Drystone; remove {}", folder.display())
                }
                _ => format!("there is no handler `{name}`"),
            },
            _ => format!("handler `{name}`: {error}"),
        })
    }

    fn find(name: &str) -> Result<Pinned> {
        let folder = folder(name)?;
        let (program, link) = (bpf::pinned(&folder.join(PROGRAM))?, bpf::pinned(&folder.join(LINK))?);
        Ok(Pinned { name: name.to_string(), program, link, record: Record::pinned(&folder)? })
    }

    /// The names of all pinned handlers.
    ///
    /// # Errors
    /// There is no right to look.
    pub fn all() -> Result<Vec<String>> {
        folder::names()
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Which messages it is for.
    pub fn wanted(&self) -> &Wanted {
        &self.record.wanted
    }

    /// The number of its network interface, in that one's namespace; `None` if the interface is gone.
    pub fn interface(&self) -> Option<u32> {
        bpf::interface_of(&self.link).ok().filter(|number| *number != 0)
    }

    /// The name of its interface, if that is in this network namespace.
    pub fn interface_here(&self) -> Option<String> {
        let is_here = namespace().is_ok_and(|here| here == self.record.namespace);
        self.interface().filter(|_| is_here).and_then(interface::name)
    }

    /// The statistics of its messages, if it is behind a dispatcher.
    ///
    /// # Errors
    /// There is no right to look.
    pub fn counts(&self) -> Result<Option<Counts>> {
        let Some(flow) = self.record.flow else { return Ok(None) };
        Ok(Some(Kept::pinned(&folder(&self.name)?)?.counts(flow.number)))
    }

    /// The program that runs for each message at its interface: its own, or that of its dispatcher.
    ///
    /// # Errors
    /// There is no right to look.
    pub fn entered(&self) -> Result<OwnedFd> {
        if self.record.flow.is_some() { bpf::program_of(&self.link) } else { self.program.try_clone() }
    }

    fn is_at(&self, namespace: u64, interface: u32) -> bool {
        self.record.namespace == namespace && self.interface() == Some(interface)
    }
}

/// The identity of this network namespace.
fn namespace() -> Result<u64> {
    Ok(fs::metadata("/proc/thread-self/ns/net")?.ino())
}
