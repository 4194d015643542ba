//! Extracts functions, and everything that they need, into a module of their own. Names that other modules define are
//! declared; code and data internal to the module are copied.

use crate::ir::{Body, Code, Const, Function, FunctionId, Global, GlobalId, Module, Operand};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

struct Extraction<'m> {
    from: &'m Module,
    /// Functions with the ids that follow those of `from`.
    extra: Vec<Option<Function>>,
    functions: HashMap<FunctionId, FunctionId>,
    globals: HashMap<GlobalId, GlobalId>,
    /// The work list: functions and variables whose contents have not been extracted yet.
    to_do: Vec<(FunctionId, Rc<Body>)>,
    variables_to_do: Vec<(GlobalId, Const)>,
    into: Module,
}

/// Makes a module of functions whose code refers to the functions and variables of `from`. The code knows the functions
/// in `extra` by the ids that follow those of `from`.
pub(crate) fn extract(from: &Module, extra: Vec<Function>, roots: Vec<Function>) -> Result<Module, String> {
    let into = Module { places: from.places.clone(), ..Module::default() };
    let mut extraction = Extraction {
        from,
        extra: extra.into_iter().map(Some).collect(),
        functions: HashMap::new(),
        globals: HashMap::new(),
        to_do: Vec::new(),
        variables_to_do: Vec::new(),
        into,
    };
    for root in roots {
        let id = FunctionId(extraction.into.functions.len() as u32);
        if let Code::Body(body) = &root.code {
            extraction.to_do.push((id, body.clone()));
        }
        extraction.into.functions.push(root);
    }
    extraction.run()?;
    Ok(extraction.into)
}

impl Extraction<'_> {
    fn run(&mut self) -> Result<(), String> {
        loop {
            if let Some((id, body)) = self.to_do.pop() {
                let body = self.body(&body)?;
                self.into.functions[id.0 as usize].code = Code::Body(Rc::new(body));
            } else if let Some((id, initial)) = self.variables_to_do.pop() {
                let initial = self.constant(&initial)?;
                self.into.globals[id.0 as usize].initial = Some(initial);
            } else {
                return Ok(());
            }
        }
    }

    fn function(&mut self, id: FunctionId) -> Result<FunctionId, String> {
        if let Some(known) = self.functions.get(&id) {
            return Ok(*known);
        }
        let new = FunctionId(self.into.functions.len() as u32);
        self.functions.insert(id, new);
        let known = self.from.functions.len();
        let Some(function) = self.from.functions.get(id.0 as usize) else {
            let extra = self.extra[id.0 as usize - known].take().ok_or("a function was taken twice")?;
            self.into.functions.push(extra);
            return Ok(new);
        };
        self.into.functions.push(function.declaration());
        if matches!(function.code, Code::Declared) {
            self.keep_weak(&function.name);
        }
        if function.internal {
            let body = self.from.body(id).map_err(|error| error.to_string())?;
            let body = body.ok_or_else(|| format!("the code of {} is not there", function.name))?;
            self.into.functions[new.0 as usize].comment = "generic".into();
            self.to_do.push((new, body));
        }
        Ok(new)
    }

    fn global(&mut self, id: GlobalId) -> GlobalId {
        if let Some(known) = self.globals.get(&id) {
            return *known;
        }
        let new = GlobalId(self.into.globals.len() as u32);
        self.globals.insert(id, new);
        let global = &self.from.globals[id.0 as usize];
        self.into.globals.push(Global { initial: None, ..global.clone() });
        match &global.initial {
            Some(initial) if global.internal => self.variables_to_do.push((new, initial.clone())),
            Some(_) => {}
            None => self.keep_weak(&global.name),
        }
        new
    }

    /// A weak declaration remains weak, because its address may be null.
    fn keep_weak(&mut self, name: &Rc<str>) {
        if self.from.weak.contains(name) {
            self.into.weak.insert(name.clone());
        }
    }

    fn constant(&mut self, constant: &Const) -> Result<Const, String> {
        Ok(match constant {
            Const::Global(global, offset) => Const::Global(self.global(*global), *offset),
            Const::Function(function) => Const::Function(self.function(*function)?),
            Const::Address(bits, inner) => Const::Address(*bits, Rc::new(self.constant(inner)?)),
            Const::Pointer(inner) => Const::Pointer(Rc::new(self.constant(inner)?)),
            Const::Aggregate(ty, fields) => {
                let fields: Result<Vec<Const>, String> =
                    fields.iter().map(|field| self.constant(field)).collect();
                Const::Aggregate(ty.clone(), fields?.into())
            }
            other => other.clone(),
        })
    }

    fn operand(&mut self, operand: &mut Operand) -> Result<(), String> {
        if let Operand::Const(constant) = operand {
            *constant = self.constant(constant)?;
        }
        Ok(())
    }

    fn body(&mut self, body: &Body) -> Result<Body, String> {
        let mut body = body.clone();
        for block in &mut body.blocks {
            for instruction in &mut block.instructions {
                instruction.op.operands_mut().try_for_each(|operand| self.operand(operand))?;
            }
            block.terminator.operand_mut().map_or(Ok(()), |operand| self.operand(operand))?;
        }
        Ok(body)
    }
}

/// The mutable variables with their own contents in a module that its first function uses. The original module has them
/// too, and does not see changes to these copies.
pub(crate) fn changing_copies(module: &Module) -> Vec<Rc<str>> {
    let mut seen = (HashSet::new(), HashSet::new());
    let mut to_do = vec![Const::Function(FunctionId(0))];
    let mut found = Vec::new();
    while let Some(constant) = to_do.pop() {
        match constant {
            Const::Function(id) if seen.0.insert(id) => {
                let Code::Body(body) = &module.functions[id.0 as usize].code else { continue };
                for instruction in body.blocks.iter().flat_map(|block| &block.instructions) {
                    to_do.extend(instruction.op.operands().filter_map(|operand| match operand {
                        Operand::Const(constant) => Some(constant.clone()),
                        Operand::Value(_) => None,
                    }));
                }
            }
            Const::Global(id, _) if seen.1.insert(id) => {
                let global = &module.globals[id.0 as usize];
                if global.internal && !global.constant {
                    found.push(global.name.clone());
                }
                to_do.extend(global.initial.clone());
            }
            Const::Address(_, inner) | Const::Pointer(inner) => to_do.push((*inner).clone()),
            Const::Aggregate(_, fields) => to_do.extend(fields.iter().cloned()),
            _ => {}
        }
    }
    found
}
