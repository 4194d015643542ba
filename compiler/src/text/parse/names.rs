//! Names to numbers: what is mentioned first gets the lowest.

use drystone_language::program::{ComponentId, InterfaceId, ProcedureId, VariableId};

use super::{Cursor, Read};
use crate::mir::LocationId;
use crate::text::Names;

/// Pieces that are mentioned have smaller numbers.
const MOST: usize = 1 << 20;

impl Names {
    /// The number of a body or procedure, which stands in its name.
    pub(super) fn piece(&mut self, name: &str) -> Read<usize> {
        let number = name.rsplit_once('$').and_then(|(_, number)| number.parse().ok());
        let number: usize = number
            .filter(|&it| it < MOST)
            .ok_or_else(|| format!("{name:?} does not end with $ and a number"))?;
        if number >= self.pieces.len() {
            self.pieces.resize(number + 1, String::new());
        }
        let known = &mut self.pieces[number];
        if known.is_empty() {
            *known = name.to_string();
        }
        if known == name { Ok(number) } else { Err(format!("{known} has that number")) }
    }

    /// The number of a procedure among the variants.
    pub(super) fn variant(&mut self, name: &str) -> Read<usize> {
        let number = self.piece(name)?;
        number.checked_sub(self.bodies).ok_or_else(|| format!("{name} is a body"))
    }

    pub(super) fn variable(&mut self, name: &str) -> VariableId {
        VariableId(index_of(&mut self.variables, name) as u32)
    }

    pub(super) fn procedure(&mut self, name: &str) -> ProcedureId {
        ProcedureId(index_of(&mut self.procedures, name) as u32)
    }

    pub(super) fn component(&mut self, name: &str) -> ComponentId {
        ComponentId(index_of(&mut self.components, name) as u32)
    }

    pub(super) fn interface(&mut self, name: &str) -> InterfaceId {
        let index = index_of(&mut self.interfaces, name);
        self.messages.resize(self.interfaces.len(), Vec::new());
        InterfaceId(index as u32)
    }

    /// `Interface.Message`
    pub(super) fn message(&mut self, line: &mut Cursor) -> Read<(InterfaceId, usize)> {
        let name = line.word()?;
        let (interface, message) =
            name.rsplit_once('.').ok_or_else(|| format!("{name:?} is no message of an interface"))?;
        let interface = self.interface(interface);
        Ok((interface, index_of(&mut self.messages[interface.index()], message)))
    }

    /// The rest of the line.
    pub(super) fn location(&mut self, line: &mut Cursor) -> Read<LocationId> {
        line.expect("at")?;
        self.location_named(line.remainder())
    }

    pub(super) fn location_named(&mut self, name: &str) -> Read<LocationId> {
        let mut numbers = name.rsplitn(3, ':').take(2);
        let is_number = |it: &str| it.parse::<u32>().is_ok();
        if name.contains(':') && numbers.all(is_number) {
            Ok(index_of(&mut self.locations, name) as LocationId)
        } else {
            Err(format!("{name:?} is no location"))
        }
    }
}

fn index_of(table: &mut Vec<String>, name: &str) -> usize {
    let known = table.iter().position(|other| other == name);
    known.unwrap_or_else(|| {
        table.push(name.to_string());
        table.len() - 1
    })
}
