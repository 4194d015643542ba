//! Assembles the joined module from the definitions that are kept.

use super::error::LinkError;
use super::names::{Item, Targets, Winners, is_list};
use super::relink::{self, Relink};
use crate::ir::{Alias, Const, Function, Global, Module, Type};
use std::rc::Rc;

/// Joins modules after their names have been resolved.
pub(super) fn join(modules: Vec<Module>, winners: &Winners, targets: Targets) -> Result<Module, LinkError> {
    let mut linked = Module { name: name(&modules), ..Module::default() };
    let targets = Rc::new(targets);
    let mut parts = Vec::new();
    for (number, module) in modules.into_iter().enumerate() {
        let name = module.name.clone();
        let relink = Relink::new(name, number, targets.clone(), module.places, linked.places.clone());
        for alias in &module.aliases {
            let winner = winners[&alias.name];
            if winner.module == number && matches!(winner.item, Item::Alias(_)) {
                let target = relink.constant(&alias.target)?;
                linked.aliases.push(Alias { name: alias.name.clone(), target });
            }
        }
        let wins = |name: &&Rc<str>| winners.get(*name).is_some_and(|winner| winner.module == number);
        linked.weak.extend(module.weak.iter().filter(wins).cloned());
        linked.replaceable.extend(module.replaceable.iter().filter(wins).cloned());
        parts.push(Part {
            functions: module.functions.into_iter().map(Some).collect(),
            globals: module.globals.into_iter().map(Some).collect(),
            relink: Rc::new(relink),
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
            initial.map(|initial| parts[*number].relink.constant(&initial)).transpose()?;
    }
    for (list, name) in lists {
        for part in &parts {
            for more in part.globals.iter().flatten().filter(|global| global.name == name) {
                let Some(initial) = &more.initial else { continue };
                let more = part.relink.constant(initial)?;
                append(&mut linked.globals[list], more);
            }
        }
    }
    for (number, at, name) in &targets.kept_functions {
        if let Some(mut function) = parts[*number].functions[*at].take() {
            function.name = name.clone();
            function.code = relink::code(function.code, &parts[*number].relink)?;
            linked.functions.push(function);
        }
    }
    Ok(linked)
}

fn name(modules: &[Module]) -> Rc<str> {
    let names: Vec<&str> = modules.iter().map(|module| &*module.name).collect();
    names.join(" + ").into()
}

/// Appends the elements of one list to another.
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

/// A module whose parts are being moved out.
struct Part {
    functions: Vec<Option<Function>>,
    globals: Vec<Option<Global>>,
    relink: Rc<Relink>,
}
