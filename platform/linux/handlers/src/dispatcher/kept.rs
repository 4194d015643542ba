//! The kernel's part of a dispatcher. It outlives the process if its link and maps are pinned in a BPF file system,
//! where other processes find it, and records of its flows (`crate::pinned`). In a pinned dispatcher each flow has an
//! owner of its own, with the flow's number.

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

/// A dispatcher's link and maps.
pub(crate) struct Kept {
    attached: Attached,
    pub(super) ledger: Ledger,
    pub(super) programs: Programs,
}

impl Kept {
    /// The bound of its flows' numbers.
    pub const FLOWS: u16 = OWNERS as u16;

    /// Makes a dispatcher that passes everything on. It outlives the process if it is pinned.
    pub fn open(interface: &str, mode: Mode) -> Result<Kept, String> {
        let ledger = Ledger::new().map_err(|error| cant("make a map", "ledger", &error))?;
        let programs = Programs::new().map_err(|error| cant("make a map", "programs", &error))?;
        let program = program::load(&Demultiplexer::walking(0).classifier(), &ledger, &programs)?;
        let attached = Attached::to(&program, interface, mode)?;
        Ok(Kept { attached, ledger, programs })
    }

    /// Opens the dispatcher that is pinned in a folder.
    pub fn pinned(folder: &Path) -> io::Result<Kept> {
        Ok(Kept {
            attached: Attached::pinned(&folder.join(LINK))?,
            ledger: Ledger::of(Map::pinned(&folder.join(LEDGER))?)?,
            programs: Programs { map: Map::pinned(&folder.join(PROGRAMS))? },
        })
    }

    /// Pins it in another folder, too.
    pub fn pin(&mut self, folder: &Path) -> io::Result<()> {
        bpf::pin(self.ledger.map.fd(), &folder.join(LEDGER))?;
        bpf::pin(self.programs.map.fd(), &folder.join(PROGRAMS))?;
        self.attached.pin(&folder.join(LINK))
    }

    /// Makes its program for filters with the numbers of their flows. Of equal filters the first wins.
    pub fn program(&self, filters: Vec<(Filter, u16)>) -> Result<OwnedFd, String> {
        // All rows are in the program: nobody can make it slow by keys that collide.
        let mut demultiplexer = Demultiplexer::walking(0);
        for (filter, number) in filters {
            demultiplexer.insert(filter, number)?;
        }
        self.load(&demultiplexer.classifier())
    }

    /// Makes its program for filters in a demultiplexer.
    pub(super) fn load(&self, classifier: &Classifier<u16, NoCode>) -> Result<OwnedFd, String> {
        program::load(classifier, &self.ledger, &self.programs)
    }

    /// Prepares a flow, before a program jumps to its handler.
    pub fn prepare(&self, number: u16, share: Share, handler: &OwnedFd) -> Result<(), String> {
        self.ledger.admit(number.into(), share);
        self.begin(number, number.into(), handler)
    }

    /// Prepares a flow of a known owner.
    pub(super) fn begin(&self, number: u16, owner: usize, handler: &OwnedFd) -> Result<(), String> {
        self.ledger.begin(number, owner);
        self.programs.put(number, handler)
    }

    /// Replaces the dispatcher's program. When this returns, no run of the former one is under way.
    pub fn replace(&self, program: &OwnedFd) -> Result<(), String> {
        self.follow(program)?;
        wait_for_runs();
        Ok(())
    }

    /// Replaces the dispatcher's program. Runs of the former one may still be under way.
    pub(super) fn follow(&self, program: &OwnedFd) -> Result<(), String> {
        let replaced = self.attached.replace(program);
        replaced.map_err(|error| format!("can't replace a dispatcher's program: {error}"))
    }

    /// Frees a flow to which no program jumps any more.
    pub fn forget(&self, number: u16) {
        self.programs.clear(number);
    }

    /// The statistics of a flow.
    pub fn counts(&self, number: u16) -> Counts {
        self.ledger.counts(number)
    }
}
