//! Puts what stays of the modules into one.

use super::LinkError;
use super::names::{Item, Targets, Winners, is_list, moved};
use crate::ir::{Alias, Body, Code, Const, Function, Global, Module, Operand, PlaceId, Places, Type};
use crate::parse::unread::{Scope, UnreadBody};
use std::collections::HashMap;
use std::rc::Rc;

/// Joins modules whose names have been settled.
pub(super) fn join(modules: Vec<Module>, winners: &Winners, targets: Targets) -> Result<Module, LinkError> {
    let mut linked = Module { name: name(&modules), ..Module::default() };
    let mut parts = Vec::new();
    for (number, module) in modules.into_iter().enumerate() {
        for alias in &module.aliases {
            let winner = winners[&alias.name];
            if winner.module == number && matches!(winner.item, Item::Alias(_)) {
                let target = moved(&alias.target, &module.name, &|item| Ok(targets.of(number, item)))?;
                linked.aliases.push(Alias { name: alias.name.clone(), target });
            }
        }
        let wins = |name: &&Rc<str>| winners.get(*name).is_some_and(|winner| winner.module == number);
        linked.weak.extend(module.weak.iter().filter(wins).cloned());
        linked.replaceable.extend(module.replaceable.iter().filter(wins).cloned());
        let first_place = copy_places(&module.places, &linked.places);
        parts.push(Part {
            name: module.name,
            functions: module.functions.into_iter().map(Some).collect(),
            globals: module.globals.into_iter().map(Some).collect(),
            first_place,
            scopes: HashMap::new(),
        });
    }
    let mut lists = Vec::new();
    for (number, at, name) in &targets.kept_globals {
        if is_list(name) {
            lists.push((linked.globals.len(), name.clone()));
        }
        let found = parts[*number].globals[*at].take();
        linked.globals.extend(found.map(|global| Global { name: name.clone(), ..global }));
        let last = linked.globals.len() - 1;
        let initial = linked.globals[last].initial.take();
        linked.globals[last].initial =
            initial.map(|initial| targets.moved(*number, &parts[*number], &initial)).transpose()?;
    }
    for (list, name) in lists {
        for (number, part) in parts.iter().enumerate() {
            for more in part.globals.iter().flatten().filter(|global| global.name == name) {
                let Some(initial) = &more.initial else { continue };
                let more = targets.moved(number, part, initial)?;
                append(&mut linked.globals[list], more);
            }
        }
    }
    for (number, at, name) in &targets.kept_functions {
        if let Some(mut function) = parts[*number].functions[*at].take() {
            function.name = name.clone();
            function.code = parts[*number].code(function.code, *number, &targets, &linked.places)?;
            linked.functions.push(function);
        }
    }
    Ok(linked)
}

fn name(modules: &[Module]) -> Rc<str> {
    let names: Vec<&str> = modules.iter().map(|module| &*module.name).collect();
    names.join(" + ").into()
}

/// Copies places; gives the number that the first has now.
fn copy_places(from: &Places, to: &Places) -> u32 {
    let first = to.count() as u32;
    for at in 0..from.count() as u32 {
        let mut place = from.get(PlaceId(at));
        place.inlined_at = place.inlined_at.map(|outer| PlaceId(outer.0 + first));
        to.add(place);
    }
    first
}

/// Adds the elements of a list to another.
fn append(list: &mut Global, more: Const) {
    let (Some(Const::Aggregate(Type::Array(_, element), first)), Const::Aggregate(_, more)) =
        (&list.initial, more)
    else {
        return;
    };
    let all: Rc<[Const]> = first.iter().chain(more.iter()).cloned().collect();
    list.ty = Type::Array(all.len() as u64, element.clone());
    list.initial = Some(Const::Aggregate(list.ty.clone(), all));
}

/// A module that is being taken apart.
struct Part {
    name: Rc<str>,
    functions: Vec<Option<Function>>,
    globals: Vec<Option<Global>>,
    first_place: u32,
    /// What the names in the bodies of a file stand for now, by what they stood for.
    scopes: HashMap<*const Scope, Rc<Scope>>,
}

impl Targets {
    fn of(&self, module: usize, item: Item) -> Const {
        match item {
            Item::Function(at) => self.functions[module][at].clone(),
            Item::Global(at) => self.globals[module][at].clone(),
            Item::Alias(_) => Const::Null,
        }
    }

    fn moved(&self, number: usize, part: &Part, constant: &Const) -> Result<Const, LinkError> {
        moved(constant, &part.name, &|item| Ok(self.of(number, item)))
    }
}

impl Part {
    fn code(
        &mut self,
        code: Code,
        number: usize,
        targets: &Targets,
        places: &Rc<Places>,
    ) -> Result<Code, LinkError> {
        Ok(match code {
            Code::Declared => Code::Declared,
            Code::Body(body) => {
                let mut body = Rc::unwrap_or_clone(body);
                self.body(&mut body, number, targets)?;
                Code::Body(Rc::new(body))
            }
            Code::Unread(unread) => {
                let old = Rc::as_ptr(&unread.scope);
                let scope = match self.scopes.get(&old) {
                    Some(scope) => scope.clone(),
                    None => {
                        let scope = Rc::new(
                            unread
                                .scope
                                .with(places.clone(), |constant| targets.moved(number, self, constant))?,
                        );
                        self.scopes.insert(old, scope.clone());
                        scope
                    }
                };
                Code::Unread(UnreadBody::new(scope, unread.start()))
            }
        })
    }

    fn body(&self, body: &mut Body, number: usize, targets: &Targets) -> Result<(), LinkError> {
        let relink = |operand: &mut Operand| {
            if let Operand::Const(constant) = operand {
                *constant = targets.moved(number, self, constant)?;
            }
            Ok(())
        };
        let moved = |place: &mut Option<PlaceId>| {
            if let Some(place) = place {
                place.0 += self.first_place;
            }
        };
        for block in &mut body.blocks {
            moved(&mut block.place);
            for instruction in &mut block.instructions {
                moved(&mut instruction.place);
                instruction.op.operands_mut().try_for_each(relink)?;
            }
            block.terminator.operand_mut().map_or(Ok(()), relink)?;
        }
        Ok(())
    }
}
