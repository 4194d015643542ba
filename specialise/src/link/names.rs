//! Symbol resolution: which module defines each exported name, and what each function and variable becomes in the
//! joined module.

use super::error::LinkError;
use crate::ir::{Code, Const, FunctionId, GlobalId, Module};
use crate::parse::fold;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A function, variable or alias of a module, by position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Item {
    Function(usize),
    Global(usize),
    Alias(usize),
}

/// The strength of a module's definition of a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Claim {
    DeclaredWeakly,
    Declared,
    /// A weak definition. Of several, the largest wins.
    Weak(u64),
    Strong,
}

/// The module and item that an exported name denotes.
#[derive(Clone, Copy)]
pub(super) struct Winner {
    pub(super) module: usize,
    pub(super) item: Item,
    claim: Claim,
}

impl Winner {
    /// Whether it is an alias for which code refers to a declaration instead; `module` is the winner's.
    fn is_stood_in_for(&self, name: &str, module: &Module) -> bool {
        matches!(self.item, Item::Alias(_)) && module.replaceable.contains(name)
    }
}

pub(super) type Winners = HashMap<Rc<str>, Winner>;

/// Lists that are joined from all modules.
pub(super) fn is_list(name: &str) -> bool {
    matches!(name, "llvm.used" | "llvm.compiler.used" | "llvm.global_ctors" | "llvm.global_dtors")
}

/// The winner for each exported name.
pub(super) fn choose(modules: &[Module]) -> Result<Winners, LinkError> {
    let mut winners = Winners::new();
    for (number, module) in modules.iter().enumerate() {
        for (name, item, claim) in claims(module) {
            let winner = Winner { module: number, item, claim };
            match winners.get_mut(name) {
                None => {
                    winners.insert(name.clone(), winner);
                }
                Some(other) if (other.claim, claim) == (Claim::Strong, Claim::Strong) => {
                    let (first, second) = (modules[other.module].name.clone(), module.name.clone());
                    return Err(LinkError::Twice { name: name.clone(), first, second });
                }
                Some(other) if claim > other.claim => *other = winner,
                Some(_) => {}
            }
        }
    }
    Ok(winners)
}

fn claims(module: &Module) -> impl Iterator<Item = (&Rc<str>, Item, Claim)> {
    let claim = |name: &Rc<str>, defined: bool, size| match (defined, module.weak.contains(name)) {
        (true, false) => Claim::Strong,
        (true, true) => Claim::Weak(size),
        (false, false) => Claim::Declared,
        (false, true) => Claim::DeclaredWeakly,
    };
    let functions = module.functions.iter().enumerate().filter(|(_, function)| !function.internal).map(
        move |(at, function)| {
            let defined = !matches!(function.code, Code::Declared);
            (&function.name, Item::Function(at), claim(&function.name, defined, 0))
        },
    );
    let exported = |name: &str, internal: bool| !internal && !is_list(name);
    let globals =
        module.globals.iter().enumerate().filter(move |(_, global)| exported(&global.name, global.internal));
    let globals = globals.map(move |(at, global)| {
        let size = global.ty.layout().size;
        (&global.name, Item::Global(at), claim(&global.name, global.initial.is_some(), size))
    });
    let aliases = module.aliases.iter().enumerate();
    let aliases = aliases.map(move |(at, alias)| (&alias.name, Item::Alias(at), claim(&alias.name, true, 0)));
    functions.chain(globals).chain(aliases)
}

/// The targets of all modules' functions and variables in the joined module.
#[derive(Debug)]
pub(super) struct Targets {
    /// For each module, by position.
    pub(super) functions: Vec<Vec<Const>>,
    pub(super) globals: Vec<Vec<Const>>,
    /// The functions and variables that are kept, in their new order, with their new names.
    pub(super) kept_functions: Vec<(usize, usize, Rc<str>)>,
    pub(super) kept_globals: Vec<(usize, usize, Rc<str>)>,
}

/// Computes the targets, and the items that are kept.
pub(super) fn targets(modules: &[Module], winners: &Winners) -> Result<Targets, LinkError> {
    let mut taken: HashSet<Rc<str>> = winners.keys().cloned().collect();
    let mut kept = Targets {
        functions: Vec::new(),
        globals: Vec::new(),
        kept_functions: Vec::new(),
        kept_globals: Vec::new(),
    };
    let mut places: HashMap<(usize, Item), Const> = HashMap::new();
    let mut lists: HashMap<Rc<str>, GlobalId> = HashMap::new();
    for (number, module) in modules.iter().enumerate() {
        let wins = |name: &Rc<str>, item| {
            let winner = winners.get(name).filter(|winner| winner.module == number);
            winner.is_some_and(|winner| winner.item == item || winner.is_stood_in_for(name, module))
        };
        for (at, function) in module.functions.iter().enumerate() {
            let item = Item::Function(at);
            let name = match function.internal {
                true => own(&mut taken, &function.name),
                false if wins(&function.name, item) => function.name.clone(),
                false => continue,
            };
            places.insert((number, item), Const::Function(FunctionId(kept.kept_functions.len() as u32)));
            kept.kept_functions.push((number, at, name));
        }
        for (at, global) in module.globals.iter().enumerate() {
            let item = Item::Global(at);
            let next = GlobalId(kept.kept_globals.len() as u32);
            let name = match global.internal {
                _ if is_list(&global.name) => {
                    let list = *lists.entry(global.name.clone()).or_insert(next);
                    places.insert((number, item), Const::Global(list, 0));
                    if list != next {
                        continue;
                    }
                    global.name.clone()
                }
                true => own(&mut taken, &global.name),
                false if wins(&global.name, item) => global.name.clone(),
                false => continue,
            };
            places.insert((number, item), Const::Global(next, 0));
            kept.kept_globals.push((number, at, name));
        }
    }
    let finder = Finder { modules, winners, places: &places };
    for (number, module) in modules.iter().enumerate() {
        let functions = (0..module.functions.len()).map(|at| finder.find(number, Item::Function(at), 0));
        kept.functions.push(functions.collect::<Result<_, _>>()?);
        let globals = (0..module.globals.len()).map(|at| finder.find(number, Item::Global(at), 0));
        kept.globals.push(globals.collect::<Result<_, _>>()?);
    }
    Ok(kept)
}

/// An unused name for an internal item of a module.
fn own(taken: &mut HashSet<Rc<str>>, name: &Rc<str>) -> Rc<str> {
    let mut chosen = name.clone();
    let mut copies = 0u32;
    while !taken.insert(chosen.clone()) {
        copies += 1;
        chosen = format!("{name}.{copies}").into();
    }
    chosen
}

struct Finder<'a> {
    modules: &'a [Module],
    winners: &'a Winners,
    places: &'a HashMap<(usize, Item), Const>,
}

impl Finder<'_> {
    fn find(&self, module: usize, item: Item, depth: u32) -> Result<Const, LinkError> {
        if let Some(place) = self.places.get(&(module, item)) {
            return Ok(place.clone());
        }
        let name = match item {
            Item::Function(at) => &self.modules[module].functions[at].name,
            Item::Global(at) => &self.modules[module].globals[at].name,
            Item::Alias(at) => &self.modules[module].aliases[at].name,
        };
        let winner = self.winners[name];
        if let Some(place) = self.stand_in(&winner, name) {
            return Ok(place);
        }
        let Item::Alias(alias) = winner.item else { return self.find(winner.module, winner.item, depth) };
        if depth > 16 {
            return Err(LinkError::Circle { name: name.clone() });
        }
        let target = &self.modules[winner.module].aliases[alias].target;
        moved(target, &self.modules[winner.module].name, &|item| self.find(winner.module, item, depth + 1))
    }

    /// The declaration to which code refers instead of a replaceable alias.
    fn stand_in(&self, winner: &Winner, name: &Rc<str>) -> Option<Const> {
        let module = &self.modules[winner.module];
        if !winner.is_stood_in_for(name, module) {
            return None;
        }
        let item = match module.function(name) {
            Some(id) => Item::Function(id.0 as usize),
            None => Item::Global(module.global(name)?.0 as usize),
        };
        self.places.get(&(winner.module, item)).cloned()
    }
}

/// Converts a constant of a module for the joined module.
pub(super) fn moved(
    constant: &Const,
    module: &Rc<str>,
    find: &dyn Fn(Item) -> Result<Const, LinkError>,
) -> Result<Const, LinkError> {
    Ok(match constant {
        Const::Function(id) => find(Item::Function(id.0 as usize))?,
        Const::Global(id, bytes) => fold::offset(find(Item::Global(id.0 as usize))?, *bytes)
            .map_err(|what| LinkError::Address { module: module.clone(), what })?,
        Const::Address(bits, inner) => Const::Address(*bits, moved(inner, module, find)?.into()),
        Const::Pointer(inner) => Const::Pointer(moved(inner, module, find)?.into()),
        Const::Aggregate(ty, elements) => {
            let elements: Result<_, _> =
                elements.iter().map(|element| moved(element, module, find)).collect();
            Const::Aggregate(ty.clone(), elements?)
        }
        _ => constant.clone(),
    })
}
