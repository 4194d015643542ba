//! Handlers that stay attached when who attached them has ended: each has a folder in Linux's file system for BPF, with
//! its link, its program, its maps, and a record of what it is for.
//!
//! One that is for all that arrives has its interface to itself. Of those that are for some messages there can be many
//! at an interface, behind a gate ([`crate::Gate`]). That one is no thing of its own here: each of its flows has the
//! gate's link and maps in its folder, too. So it is there as long as any of them, and whoever adds or takes out one
//! makes the gate's program anew, of all records.

mod attach;
mod folder;
mod others;
mod record;

use std::fs;
use std::io::{ErrorKind, Result};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;

use crate::bpf;
use crate::gate::{Counts, Kept};
use crate::interface;
use crate::wanted::Wanted;
pub use attach::Site;
use folder::folder;
use record::{Flow, Record};

const LINK: &str = "link";
const PROGRAM: &str = "program";

/// A handler that stays attached.
#[derive(Debug)]
pub struct Pinned {
    name: String,
    program: OwnedFd,
    link: OwnedFd,
    record: Record,
}

impl Pinned {
    /// A handler that has such a name.
    ///
    /// # Errors
    /// There is none, or no right to look; for people.
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

    /// The names of all.
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

    /// The number of the network interface that it is attached to, in that one's namespace; none if that has gone.
    pub fn interface(&self) -> Option<u32> {
        bpf::interface_of(&self.link).ok().filter(|number| *number != 0)
    }

    /// What its interface is called, if that is in this network namespace.
    pub fn interface_here(&self) -> Option<String> {
        let is_here = namespace().is_ok_and(|here| here == self.record.namespace);
        self.interface().filter(|_| is_here).and_then(interface::name)
    }

    /// What became of its messages so far, if it is behind a gate.
    ///
    /// # Errors
    /// There is no right to look.
    pub fn counts(&self) -> Result<Option<Counts>> {
        let Some(flow) = self.record.flow else { return Ok(None) };
        Ok(Some(Kept::pinned(&folder(&self.name)?)?.counts(flow.number)))
    }

    /// What runs for each message at its interface: itself, or its gate with all that are behind that.
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

/// What no other network namespace has as long as this one is there.
fn namespace() -> Result<u64> {
    Ok(fs::metadata("/proc/thread-self/ns/net")?.ino())
}
