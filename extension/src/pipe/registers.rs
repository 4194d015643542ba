//! The registers and tables of all pipes of a list.

use alloc::{sync::Arc, vec, vec::Vec};

use super::body::Register;
use super::evaluate::Homes;
use super::{Fault, Pipe};

/// A handle of a register or a table of a pipe in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle {
    pub(super) pipe: usize,
    pub(super) number: usize,
    /// The index of the pipe's first register among those of the list, and how many the pipe has.
    pub(super) first: usize,
    pub(super) count: usize,
}

impl Handle {
    /// The handle of the pipe's register or table with another number. The handle from [`super::Pipes::add`] has number
    /// 0.
    pub fn number(self, number: usize) -> Handle {
        Handle { number, ..self }
    }
}

/// The cells of a list.
#[derive(Debug)]
pub(super) struct Layout {
    pub homes: Vec<Homes>,
    /// The registers of all pipes, which come first.
    registers: Vec<Register>,
    /// The cells of each pipe's tables.
    tables: Vec<Vec<usize>>,
    cells: usize,
    /// The cells that each run resets, with their initial values.
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

/// The registers and tables for a pass, which can be accessed between runs. Each concurrent run needs its own.
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

    /// Resets registers that don't persist.
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

    /// Sets a register.
    #[inline]
    pub fn import(&mut self, register: Handle, value: u64) -> Result<(), Fault> {
        let cell = self.find(register)?;
        if value > self.layout.registers[cell].width.most() {
            return Err(Fault::Wide);
        }
        self.cells[cell] = value;
        Ok(())
    }

    /// The value of a register.
    #[inline]
    pub fn export(&self, register: Handle) -> Result<u64, Fault> {
        Ok(self.cells[self.find(register)?])
    }

    /// The cells of a table.
    fn place(&self, table: Handle) -> Result<core::ops::Range<usize>, Fault> {
        let tables = self.layout.tables.get(table.pipe).ok_or(Fault::Missing)?;
        let &entries = tables.get(table.number).ok_or(Fault::Missing)?;
        let begin = self.layout.homes[table.pipe].tables + tables[..table.number].iter().sum::<usize>();
        Ok(begin..begin + entries)
    }

    /// The entries of a table.
    pub fn table(&self, table: Handle) -> Result<&[u64], Fault> {
        Ok(&self.cells[self.place(table)?])
    }

    /// The entries of a table, to be changed.
    pub fn table_mut(&mut self, table: Handle) -> Result<&mut [u64], Fault> {
        let place = self.place(table)?;
        Ok(&mut self.cells[place])
    }
}
