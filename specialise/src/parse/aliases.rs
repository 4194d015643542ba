//! Aliases. A mention of an alias refers to its target, unless another module may replace the alias.

use super::constants::{Symbol, Symbols};
use super::cursor::{Cursor, Fail, Kind, Parsed};
use super::lexer::{Token, plain};
use super::top::{Reader, Variable};
use crate::ir::{Alias, Const, Function, FunctionId, Global, GlobalId, Type};
use std::collections::HashSet;
use std::rc::Rc;

impl Reader<'_> {
    /// Reads aliases, each after its target. The result is the declared variables that stand for aliases that other
    /// modules may replace; their numbers follow those of the module's own variables.
    pub(super) fn aliases(
        &mut self,
        mut waiting: Vec<Variable>,
        variables: &[Variable],
    ) -> Parsed<Vec<Global>> {
        let names: HashSet<Rc<str>> = waiting.iter().map(|alias| alias.name.clone()).collect();
        let mut stand_ins = StandIns { after: variables, added: Vec::new() };
        loop {
            let before = waiting.len();
            let mut later = Vec::new();
            for alias in waiting {
                if waits(alias.cursor, &names, &self.symbols) {
                    later.push(alias);
                } else {
                    self.alias(alias, &mut stand_ins)?;
                }
            }
            if later.is_empty() || later.len() == before {
                break match later.first() {
                    None => Ok(stand_ins.added),
                    Some(alias) => Err(alias.cursor.wrong("an alias of itself")),
                };
            }
            waiting = later;
        }
    }

    fn alias(&mut self, alias: Variable, stand_ins: &mut StandIns) -> Parsed<()> {
        let Variable { name, header, mut cursor, .. } = alias;
        let (value, trouble) = match self.target(&mut cursor) {
            // The linker binds the alias to this module's definition, even if another module replaces the target.
            Ok((_, target)) if self.may_be_replaced(&target, stand_ins) => {
                (None, Some("it is another name for what other modules may replace".into()))
            }
            Ok((ty, target)) => {
                let value = match self.module.replaceable.contains(&name) {
                    true => self.stand_in(&name, ty, &target, stand_ins),
                    false => target.clone(),
                };
                // An internal alias is not needed any more once this module has been read.
                if !header.internal {
                    self.module.aliases.push(Alias { name: name.clone(), target });
                }
                (Some(value), None)
            }
            Err(Fail { kind: Kind::Unsupported, what, .. }) => (None, Some(what.into())),
            Err(fail) => return Err(fail),
        };
        self.name(&cursor, &name, Symbol { value, trouble })
    }

    fn target(&self, cursor: &mut Cursor) -> Parsed<(Type, Const)> {
        let ty = self.types.read(cursor)?;
        // Only the result of a function's type was read.
        if cursor.token() == Token::Mark('(') {
            cursor.skip_brackets();
        }
        cursor.expect(',')?;
        // A constant expression has no type in front.
        let target = match cursor.token() {
            Token::Word("getelementptr" | "bitcast" | "inttoptr") => {
                self.constants().read(cursor, &Type::Ptr)
            }
            _ => self.constants().typed(cursor),
        };
        Ok((ty, target?))
    }

    fn may_be_replaced(&self, target: &Const, stand_ins: &StandIns) -> bool {
        let name = match target {
            Const::Function(id) => &self.module.functions[id.0 as usize].name,
            Const::Global(id, _) => stand_ins.name(*id),
            _ => return false,
        };
        self.module.replaceable.contains(name)
    }

    /// A declaration of the alias's name, to which code refers instead of the target.
    fn stand_in(&mut self, name: &Rc<str>, ty: Type, target: &Const, stand_ins: &mut StandIns) -> Const {
        if let Const::Function(id) = target {
            let function = self.module.functions[id.0 as usize].declaration();
            self.module.functions.push(Function { name: name.clone(), internal: false, ..function });
            return Const::Function(FunctionId(self.module.functions.len() as u32 - 1));
        }
        stand_ins.add(Global {
            name: name.clone(),
            align: ty.layout().align,
            ty,
            initial: None,
            constant: false,
            internal: false,
            thread_local: false,
        })
    }
}

/// Declared variables that stand for replaceable aliases.
struct StandIns<'a, 't> {
    /// The module's own variables, whose numbers come first.
    after: &'a [Variable<'t>],
    added: Vec<Global>,
}

impl StandIns<'_, '_> {
    fn add(&mut self, global: Global) -> Const {
        self.added.push(global);
        Const::Global(GlobalId((self.after.len() + self.added.len()) as u32 - 1), 0)
    }

    fn name(&self, id: GlobalId) -> &Rc<str> {
        match self.after.get(id.0 as usize) {
            Some(variable) => &variable.name,
            None => &self.added[id.0 as usize - self.after.len()].name,
        }
    }
}

/// Whether an alias names another alias that has not been read yet.
fn waits(mut cursor: Cursor, names: &HashSet<Rc<str>>, symbols: &Symbols) -> bool {
    while !matches!(cursor.token(), Token::End) {
        match cursor.advance() {
            Token::Global(name) => {
                let name = plain(name);
                return names.contains(&*name) && !symbols.contains_key(&*name);
            }
            Token::Label(_) => return false,
            _ => {}
        }
    }
    false
}
