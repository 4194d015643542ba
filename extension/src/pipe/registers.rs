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
    /// The pipe's first register among those of all, and how many it has.
    pub(super) first: usize,
    pub(super) count: usize,
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
    /// The registers of all pipes, which come first.
    registers: Vec<Register>,
    /// Of each pipe, its tables' entries.
    tables: Vec<Vec<usize>>,
    cells: usize,
    /// Cells that each run begins with, and their values.
    pub fresh: Vec<(usize, u64)>,
}

impl Layout {
    pub fn new(pipes: &[Pipe]) -> Layout {
        let mut homes = Vec::with_capacity(pipes.len());
        let mut registers = Vec::new();
        for pipe in pipes {
            homes.push(Homes { registers: registers.len(), tables: 0 });
            registers.extend_from_slice(&pipe.body.registers);
        }
        let mut cells = registers.len();
        let entries = |pipe: &Pipe| pipe.body.tables.iter().map(|it| it.entries as usize).collect();
        let tables: Vec<Vec<usize>> = pipes.iter().map(entries).collect();
        for (home, tables) in homes.iter_mut().zip(&tables) {
            home.tables = cells;
            cells += tables.iter().sum::<usize>();
        }
        let fresh = registers.iter().enumerate().filter(|(_, it)| !it.persists);
        let fresh = fresh.map(|(cell, it)| (cell, it.initial)).collect();
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
        for (cell, register) in cells.iter_mut().zip(&layout.registers) {
            *cell = register.initial;
        }
        Registers { layout: layout.clone(), cells }
    }

    /// Gives those that don't persist their initial values.
    pub(super) fn begin(&mut self) {
        for &(cell, initial) in &self.layout.fresh {
            self.cells[cell] = initial;
        }
    }

    #[inline]
    fn find(&self, handle: Handle) -> Result<usize, Fault> {
        let cell = handle.first + handle.number;
        if handle.number < handle.count && cell < self.layout.registers.len() {
            Ok(cell)
        } else {
            Err(Fault::Missing)
        }
    }

    /// Brings a value into a register.
    #[inline]
    pub fn import(&mut self, register: Handle, value: u64) -> Result<(), Fault> {
        let cell = self.find(register)?;
        if value > self.layout.registers[cell].width.most() {
            return Err(Fault::Wide);
        }
        self.cells[cell] = value;
        Ok(())
    }

    /// What a register holds.
    #[inline]
    pub fn export(&self, register: Handle) -> Result<u64, Fault> {
        Ok(self.cells[self.find(register)?])
    }

    /// Where a table is.
    fn place(&self, table: Handle) -> Result<core::ops::Range<usize>, Fault> {
        let tables = self.layout.tables.get(table.pipe).ok_or(Fault::Missing)?;
        let &entries = tables.get(table.number).ok_or(Fault::Missing)?;
        let begin = self.layout.homes[table.pipe].tables + tables[..table.number].iter().sum::<usize>();
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
