//! Calls of procedures that crates carry. Arguments go there and results come back as words in memory, one for each
//! parameter and one for the result. A `VARIABLE` parameter is a copy: what comes back is assigned, from left to right.

use drystone_component::Kind;
use drystone_language::program::*;
use drystone_language::source::Span;

use super::Lower;
use super::places::Target;
use super::types::reg_type;
use crate::classify::is_held;
use crate::effects::has_effects;
use crate::entries;
use crate::mir::{Address, Base, Reg, Symbol};

/// A `VARIABLE` argument.
struct Variable<'e> {
    /// The number of its word.
    word: usize,
    place: &'e Place,
    target: Target,
}

/// What a call has given.
enum Given {
    Scalar(Reg),
    /// In a temporary that owns it.
    Text(u32),
}

impl Lower<'_, '_> {
    /// Calls it; its result is in a register. Nothing owns a resulting TEXT yet.
    pub(super) fn call_carried(
        &mut self,
        id: ProcedureId,
        arguments: &[Argument],
        span: Span,
    ) -> Option<Reg> {
        let result = self.unit.program.procedures[id.index()].result.clone();
        self.code.look_before(self.unit.facts.procedures[id.index()].weight);
        let (mut words, mut texts, mut variables) = (Vec::new(), Vec::new(), Vec::new());
        for (word, argument) in arguments.iter().enumerate() {
            words.push(match argument {
                Argument::Value(value) if is_held(&value.ty) => {
                    let text = self.text(value);
                    let disturbed = arguments[word + 1..].iter().any(disturbs);
                    let text = if disturbed { self.code.own(text) } else { text };
                    let reg = text.reg;
                    texts.push(text);
                    reg
                }
                Argument::Value(value) => {
                    let value = self.value(value);
                    self.code.snapshot(value)
                }
                Argument::Place(place) => {
                    let mut target = self.prepare(place);
                    self.hold_target(&mut target);
                    variables.push(Variable { word, place, target });
                    Reg(u32::MAX)
                }
            });
        }
        for Variable { word, place, target } in &variables {
            let value = self.load_target(target, &place.ty, place.span);
            words[*word] = if is_held(&place.ty) {
                let text = self.code.own_register(value);
                let reg = text.reg;
                texts.push(text);
                reg
            } else {
                self.code.snapshot(value)
            };
        }
        if result.is_some() {
            words.push(self.code.int(0));
        }
        words.extend(self.forms_of_any(id, arguments));
        let procedure = self.code.symbol(Symbol::Procedure(id));
        let memory = self.code.words(&words);
        let at = self.location_register(span);
        self.code.call(&entries::PROCEDURE, vec![procedure, memory, at]);
        let given: Vec<Given> =
            variables.iter().map(|variable| self.given(memory, variable.word, &variable.place.ty)).collect();
        let given_back = result.map(|ty| self.given(memory, arguments.len(), &ty));
        for (Variable { place, target, .. }, given) in variables.iter().zip(given) {
            match given {
                Given::Scalar(value) => self.store_target(target, &place.ty, value, place.span),
                Given::Text(slot) => self.store_text(target, slot, place.span),
            }
            self.code.drop_target(target);
        }
        for text in texts {
            self.code.drop_text(text);
        }
        given_back.map(|given| match given {
            Given::Scalar(value) => value,
            Given::Text(slot) => self.code.take_from_slot(slot, Kind::Text),
        })
    }

    /// For each parameter that is `ANY`, a text that says what its argument is.
    fn forms_of_any(&mut self, id: ProcedureId, arguments: &[Argument]) -> Vec<Reg> {
        let parameters = &self.unit.program.procedures[id.index()].parameters;
        let pairs = parameters.iter().zip(arguments);
        let any = pairs.filter(|(parameter, _)| self.unit.variable(**parameter).ty.is_bare_any());
        let types = any.map(|(_, argument)| match argument {
            Argument::Value(value) => &value.ty,
            Argument::Place(place) => &place.ty,
        });
        let forms: Vec<String> = types.map(|ty| self.unit.program.form(ty)).collect();
        forms.into_iter().map(|form| self.code.symbol(Symbol::Text(form.into_bytes()))).collect()
    }

    /// What has come back in a word.
    fn given(&mut self, memory: Reg, word: usize, ty: &Type) -> Given {
        let address = Address { base: Base::Reg(memory), offset: 8 * word as i32, byte: false };
        let value = self.code.load(address, reg_type(ty));
        if !is_held(ty) {
            return Given::Scalar(value);
        }
        Given::Text(self.code.keep(value).slot.expect("it was just kept"))
    }
}

/// Whether evaluating an argument may change what those before it have borrowed.
fn disturbs(argument: &Argument) -> bool {
    match argument {
        Argument::Value(value) => has_effects(value),
        Argument::Place(place) => !matches!(place.kind, PlaceKind::Variable(_)),
    }
}
