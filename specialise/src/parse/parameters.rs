//! What the parameters of a function are called in the source, when the IR has dropped their names but has its places.

use super::unread::UnreadBody;
use crate::ir::{Code, FunctionId, Module};
use std::rc::Rc;

impl Module {
    /// The names of a function's parameters: those of the IR, or else those that its debug information tells.
    pub fn parameter_names(&self, id: FunctionId) -> Vec<Option<Rc<str>>> {
        let function = &self.functions[id.0 as usize];
        let mut names: Vec<Option<Rc<str>>> = function.params.iter().map(|param| param.name.clone()).collect();
        if let Code::Unread(unread) = &function.code {
            for (position, name) in unread.variables_of_arguments() {
                if let Some(slot @ None) = names.get_mut(position) {
                    *slot = Some(name.into());
                }
            }
        }
        names
    }
}

impl UnreadBody {
    /// Positions and names of the parameters of the source. A structure that is passed in several registers has several
    /// parameters in the IR; then the positions don't fit, and the names are not told.
    fn variables_of_arguments(&self) -> Vec<(usize, &str)> {
        let text = &*self.scope.file.text;
        let header = &text[text[..self.start()].rfind('\n').map_or(0, |at| at + 1)..self.start()];
        let Some(subprogram) = header.split("!dbg !").nth(1).and_then(number) else { return Vec::new() };
        let scope = format!("scope: !{subprogram},");
        text.match_indices("!DILocalVariable(name: \"")
            .filter_map(|(at, start)| {
                let line = text[at + start.len()..].lines().next()?;
                let (name, rest) = line.split_once('"')?;
                let position: usize = number(rest.split_once("arg: ")?.1)?;
                (rest.contains(&scope) && position > 0).then_some((position - 1, name))
            })
            .collect()
    }
}

/// The number that a text begins with.
fn number(text: &str) -> Option<usize> {
    text.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}
