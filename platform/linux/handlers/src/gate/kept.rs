//! What the kernel has of a gate. It stays when who made it has ended, if its link and its maps have names in Linux's
//! file system for BPF, by which others take it up again. Which flows it has they know from there, too
//! (`crate::pinned`). Of one that stays, each flow is an owner of its own, whose number in the ledger is the flow's.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use drystone_extension::demux::{Classifier, Demultiplexer, Filter, NoCode};
use drystone_extension::handler::Share;

use super::ledger::{Counts, Ledger, OWNERS};
use super::program;
use super::programs::Programs;
use super::runs::wait_for_runs;
use crate::bpf::{self, Map};
use crate::xdp::{Attached, Mode, cant};

const LINK: &str = "link";
const LEDGER: &str = "ledger";
const PROGRAMS: &str = "programs";

/// See the head of this file.
pub(crate) struct Kept {
    attached: Attached,
    pub(super) ledger: Ledger,
    pub(super) programs: Programs,
}

impl Kept {
    /// Numbers of its flows are below that.
    pub const FLOWS: u16 = OWNERS as u16;

    /// One that passes everything on. It stays if it gets a name.
    pub fn open(interface: &str, mode: Mode) -> Result<Kept, String> {
        let ledger = Ledger::new().map_err(|error| cant("make a map", "ledger", &error))?;
        let programs = Programs::new().map_err(|error| cant("make a map", "programs", &error))?;
        let program = program::load(&Demultiplexer::walking(0).classifier(), &ledger, &programs)?;
        let attached = Attached::to(&program, interface, mode)?;
        Ok(Kept { attached, ledger, programs })
    }

    /// The one that has its names in a folder.
    pub fn pinned(folder: &Path) -> io::Result<Kept> {
        Ok(Kept {
            attached: Attached::pinned(&folder.join(LINK))?,
            ledger: Ledger::of(Map::pinned(&folder.join(LEDGER))?)?,
            programs: Programs { map: Map::pinned(&folder.join(PROGRAMS))? },
        })
    }

    /// Gives it names in another folder, too.
    pub fn pin(&mut self, folder: &Path) -> io::Result<()> {
        bpf::pin(self.ledger.map.fd(), &folder.join(LEDGER))?;
        bpf::pin(self.programs.map.fd(), &folder.join(PROGRAMS))?;
        self.attached.pin(&folder.join(LINK))
    }

    /// What its program would be for such filters, which lead to the numbers of flows; the first wins of equal ones.
    pub fn program(&self, filters: Vec<(Filter, u16)>) -> Result<OwnedFd, String> {
        // All rows are in the program: nobody can make it slow by keys that collide.
        let mut demultiplexer = Demultiplexer::walking(0);
        for (filter, number) in filters {
            demultiplexer.insert(filter, number)?;
        }
        self.load(&demultiplexer.classifier())
    }

    /// The same of filters that were merged.
    pub(super) fn load(&self, classifier: &Classifier<u16, NoCode>) -> Result<OwnedFd, String> {
        program::load(classifier, &self.ledger, &self.programs)
    }

    /// All that a flow needs is there before a program leads to it.
    pub fn prepare(&self, number: u16, share: Share, handler: &OwnedFd) -> Result<(), String> {
        self.ledger.admit(number.into(), share);
        self.begin(number, number.into(), handler)
    }

    /// The same for an owner who was admitted before.
    pub(super) fn begin(&self, number: u16, owner: usize, handler: &OwnedFd) -> Result<(), String> {
        self.ledger.begin(number, owner);
        self.programs.put(number, handler)
    }

    /// Another program is the gate from the next message on; the one before has ended when this comes back.
    pub fn replace(&self, program: &OwnedFd) -> Result<(), String> {
        self.follow(program)?;
        wait_for_runs();
        Ok(())
    }

    /// The same, but that the one before may still be under way.
    pub(super) fn follow(&self, program: &OwnedFd) -> Result<(), String> {
        let replaced = self.attached.replace(program);
        replaced.map_err(|error| format!("can't replace a gate's program: {error}"))
    }

    /// No program leads to that flow any more.
    pub fn forget(&self, number: u16) {
        self.programs.clear(number);
    }

    /// What became of a flow's messages so far.
    pub fn counts(&self, number: u16) -> Counts {
        self.ledger.counts(number)
    }
}
