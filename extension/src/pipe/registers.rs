//! What outlives a word: registers and tables of all pipes of a list.

use alloc::{sync::Arc, vec, vec::Vec};

use super::body::Register;
use super::evaluate::Homes;
use super::{Fault, Pipe};

/// A register of a pipe in a list, or a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle {
    pub(super) pipe: usize,
    pub(super) number: usize,
}

impl Handle {
    /// The pipe's register or table with another number. What a list gives is the first one's.
    pub fn number(self, number: usize) -> Handle {
        Handle { number, ..self }
    }
}

/// Where all cells are.
#[derive(Debug)]
pub(super) struct Layout {
    pub homes: Vec<Homes>,
    registers: Vec<Vec<Register>>,
    /// Of each pipe's tables, how many entries.
    tables: Vec<Vec<usize>>,
    cells: usize,
    /// Cells that each run begins with, and their values.
    fresh: Vec<(usize, u64)>,
}

impl Layout {
    pub fn new(pipes: &[Pipe]) -> Layout {
        let mut homes = Vec::with_capacity(pipes.len());
        let mut cells = 0;
        let mut fresh = Vec::new();
        for pipe in pipes {
            homes.push(Homes { registers: cells, tables: 0 });
            for (at, register) in pipe.body.registers.iter().enumerate().filter(|(_, it)| !it.persists) {
                fresh.push((cells + at, register.initial));
            }
            cells += pipe.body.registers.len();
        }
        let entries = |pipe: &Pipe| pipe.body.tables.iter().map(|it| it.entries as usize).collect();
        let tables: Vec<Vec<usize>> = pipes.iter().map(entries).collect();
        for (home, tables) in homes.iter_mut().zip(&tables) {
            home.tables = cells;
            cells += tables.iter().sum::<usize>();
        }
        let registers = pipes.iter().map(|pipe| pipe.body.registers.clone()).collect();
        Layout { homes, registers, tables, cells, fresh }
    }
}

/// The registers and tables of a pass: between runs they can be read and written. Two passes at once need two of these.
#[derive(Clone, Debug)]
pub struct Registers {
    pub(super) layout: Arc<Layout>,
    pub(super) cells: Vec<u64>,
}

impl Registers {
    pub(super) fn new(layout: &Arc<Layout>) -> Registers {
        let mut cells = vec![0; layout.cells];
        for (home, registers) in layout.homes.iter().zip(&layout.registers) {
            for (cell, register) in cells[home.registers..].iter_mut().zip(registers) {
                *cell = register.initial;
            }
        }
        Registers { layout: layout.clone(), cells }
    }

    /// Gives those that don't persist their initial values.
    pub(super) fn begin(&mut self) {
        for &(cell, initial) in &self.layout.fresh {
            self.cells[cell] = initial;
        }
    }

    fn find(&self, handle: Handle) -> Result<(usize, Register), Fault> {
        let registers = self.layout.registers.get(handle.pipe).ok_or(Fault::Missing)?;
        let register = registers.get(handle.number).ok_or(Fault::Missing)?;
        Ok((self.layout.homes[handle.pipe].registers + handle.number, *register))
    }

    /// Brings a value into a register.
    pub fn import(&mut self, register: Handle, value: u64) -> Result<(), Fault> {
        let (cell, it) = self.find(register)?;
        if value > it.width.most() {
            return Err(Fault::Wide);
        }
        self.cells[cell] = value;
        Ok(())
    }

    /// What a register holds.
    pub fn export(&self, register: Handle) -> Result<u64, Fault> {
        let (cell, _) = self.find(register)?;
        Ok(self.cells[cell])
    }

    /// Where a table is.
    fn place(&self, table: Handle) -> Result<core::ops::Range<usize>, Fault> {
        let tables = self.layout.tables.get(table.pipe).ok_or(Fault::Missing)?;
        let &entries = tables.get(table.number).ok_or(Fault::Missing)?;
        let begin =
            self.layout.homes[table.pipe].tables + tables[..table.number].iter().sum::<usize>();
        Ok(begin..begin + entries)
    }

    /// A table.
    pub fn table(&self, table: Handle) -> Result<&[u64], Fault> {
        Ok(&self.cells[self.place(table)?])
    }

    /// A table, to change it.
    pub fn table_mut(&mut self, table: Handle) -> Result<&mut [u64], Fault> {
        let place = self.place(table)?;
        Ok(&mut self.cells[place])
    }
}
