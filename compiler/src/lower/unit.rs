//! The tables of a program that lowering reads, and those that it fills.

use std::collections::{BTreeSet, HashMap};

use drystone_language::program::*;
use drystone_language::source::SourceFile;

use super::locations::Locations;
use crate::awaited::Awaited;
use crate::classify::Facts;
use crate::layout::Layouts;
use crate::mir::Variant;

/// What lowering the pieces of a program shares.
pub struct Unit<'a> {
    /// The program.
    pub program: &'a Program,
    /// Facts about it.
    pub facts: Facts,
    /// Its layouts.
    pub layouts: Layouts,
    /// What its conditions read.
    pub awaited: Awaited,
    /// Locations for run-time errors.
    pub locations: Locations<'a>,
    /// Procedure variants that some code calls; index is the number in `Terminator::CallProcedure`.
    pub variants: Vec<Variant>,
    /// Interfaces whose messages may leave the program: bound to names, bound by a binding factory, or of components
    /// that are made AT another place.
    pub leaving: BTreeSet<InterfaceId>,
    numbers: HashMap<Variant, usize>,
}

impl<'a> Unit<'a> {
    /// Prepares to lower a program.
    pub fn new(program: &'a Program, files: &'a [SourceFile]) -> Self {
        let facts = Facts::of(program);
        let layouts = Layouts::of(program, &facts);
        let awaited = Awaited::of(program);
        let locations = Locations::new(files);
        let (variants, leaving, numbers) = Default::default();
        Unit { program, facts, layouts, awaited, locations, variants, leaving, numbers }
    }

    /// The number of a procedure variant.
    pub fn variant(&mut self, variant: Variant) -> usize {
        *self.numbers.entry(variant).or_insert_with(|| {
            self.variants.push(variant);
            self.variants.len() - 1
        })
    }

    pub(super) fn variable(&self, id: VariableId) -> &'a Variable {
        &self.program.variables[id.index()]
    }
}
