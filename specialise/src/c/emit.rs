//! Writes instructions as statements, and phis as assignments on the edges between blocks. All phis of an edge are
//! assigned at once.

use super::calls::returns_through_parameter;
use super::expression::{Expr, Want, Writer};
use super::fold::callee;
use super::kinds::{self, Signedness};
use super::statement::Stmt;
use super::types::{CType, container, signed};
use crate::ir::{Access, Const, Extension, Instruction, Op, Operand, Terminator, Type, ValueId};

/// A phi's assignment that must come after others on the same edge.
struct Move {
    variable: usize,
    value: Expr,
    constant: Option<u128>,
}

impl Writer<'_> {
    /// Writes an instruction, unless it is folded into the expressions that use it.
    pub fn statement(&mut self, block: usize, at: usize, list: &mut Vec<Stmt>) -> Result<(), String> {
        let instruction = &self.body.blocks[block].instructions[at];
        let used = instruction.result.filter(|value| self.plan.uses[value.0 as usize] > 0);
        match (&instruction.op, used) {
            (_, Some(value)) if self.plan.folded[value.0 as usize] => {}
            (Op::Alloca { .. }, Some(value)) if self.is_local(value) => {}
            (Op::Alloca { .. }, None) => {}
            (Op::Alloca { size, count, align }, Some(value)) => {
                let count = self.expr(count, Want::Number)?;
                let text = match size {
                    1 => count.text.clone(),
                    size => format!("{size} * {}", count.at(14)),
                };
                let text = format!("__builtin_alloca_with_align({text}, {})", align.max(&1) * 8);
                self.assign(value, Expr::new(text, 16, CType::Other).reading(&[&count]), list);
            }
            (Op::Store { value, to, align, access }, _) => {
                let value = self.store(value, to, *align, *access, list)?;
                list.extend(value);
            }
            (Op::Fence, _) => {
                list.push(Stmt::Do(Expr::new("__atomic_thread_fence(__ATOMIC_SEQ_CST)", 16, CType::Other)))
            }
            (Op::AtomicUpdate(..), _) => {
                let value = self.atomic_update(instruction)?;
                self.keep(instruction, value, list);
            }
            (Op::CompareExchange(to, expected, new), used) => {
                self.compare_exchange(instruction, [to, expected, new], used, list)?;
            }
            (op, Some(value)) if kinds::fills_structure(callee(self.module, op)) => {
                self.fill_overflow(op, value, list)?;
            }
            (op, _) => {
                let value = self.operation(op, &instruction.ty, Want::Modulo)?;
                let value = self.fit_variable(value, &instruction.ty);
                self.keep(instruction, value, list);
            }
        }
        Ok(())
    }

    /// A value in the form in which it can be assigned to its variable.
    fn fit_variable(&self, value: Expr, ty: &Type) -> Expr {
        match ty {
            Type::Int(bits) if container(*bits) == *bits => {
                super::expression::fit(value, *bits, Want::Modulo)
            }
            Type::Int(bits) => super::expression::fit(value, *bits, Want::Number),
            _ => value,
        }
    }

    /// An operand in the form in which it can be assigned to its variable.
    fn assigned(&mut self, operand: &Operand) -> Result<Expr, String> {
        let ty = self.body.type_of(operand);
        let value = self.expr(operand, Want::Modulo)?;
        Ok(self.fit_variable(value, &ty))
    }

    fn assign(&self, value: ValueId, expr: Expr, list: &mut Vec<Stmt>) {
        let variable = self.variables.of(value.0 as usize);
        list.push(Stmt::Assign { variable, value: expr, constant: None, declares: None });
    }

    fn keep(&self, instruction: &Instruction, value: Expr, list: &mut Vec<Stmt>) {
        match instruction.result.filter(|value| self.plan.uses[value.0 as usize] > 0) {
            Some(result) => self.assign(result, value, list),
            None => list.push(Stmt::Do(value)),
        }
    }

    fn store(
        &mut self,
        value: &Operand,
        to: &Operand,
        align: u64,
        access: Access,
        list: &mut Vec<Stmt>,
    ) -> Result<Option<Stmt>, String> {
        let ty = self.body.type_of(value);
        let stored = self.assigned(value)?;
        if access == Access::Plain {
            if let Operand::Value(address) = to
                && self.plan.scalars.contains_key(&(address.0 as usize))
            {
                self.assign(*address, stored, list);
                return Ok(None);
            }
            if matches!(value, Operand::Const(Const::Undef(_))) {
                return Ok(None);
            }
            let place = self.place(to, &ty)?;
            let text = match &place {
                Some(place) => format!("{} = {}", place.text, stored.text),
                None => {
                    let address = self.argument(to)?;
                    let text = format!("{}({}, {})", self.prelude.store(&ty)?, address.text, stored.text);
                    return Ok(Some(Stmt::Do(
                        Expr::new(text, 16, CType::Other).reading(&[&address, &stored]),
                    )));
                }
            };
            let place = place.unwrap_or(stored.clone());
            return Ok(Some(Stmt::Do(Expr::new(text, 2, CType::Other).reading(&[&place, &stored]))));
        }
        let address = self.argument(to)?;
        let name = self.prelude.aliasing(&ty, align)?;
        let text = match access {
            Access::Volatile => format!("*(volatile {name} *){} = {}", address.at(15), stored.text),
            _ => format!("__atomic_store_n(({name} *){}, {}, __ATOMIC_SEQ_CST)", address.at(15), stored.text),
        };
        Ok(Some(Stmt::Do(Expr::new(text, 2, CType::Other).reading(&[&address, &stored]))))
    }

    fn atomic_update(&mut self, instruction: &Instruction) -> Result<Expr, String> {
        let Op::AtomicUpdate(name, to, by) = &instruction.op else {
            return Err("a malformed atomicrmw".into());
        };
        let align = instruction.ty.layout().size;
        let address = self.argument(to)?;
        let value = self.assigned(by)?;
        let short = self.prelude.aliasing(&instruction.ty, align)?;
        let function = match &**name {
            "xchg" => "__atomic_exchange_n",
            "add" => "__atomic_fetch_add",
            "sub" => "__atomic_fetch_sub",
            "and" => "__atomic_fetch_and",
            "or" => "__atomic_fetch_or",
            "xor" => "__atomic_fetch_xor",
            "nand" => "__atomic_fetch_nand",
            "max" | "min" | "umax" | "umin" => {
                return self.atomic_choice(name, &instruction.ty, &address, &value);
            }
            _ => return Err(format!("the atomic operation `{name}`")),
        };
        let text = format!("{function}(({short} *){}, {}, __ATOMIC_SEQ_CST)", address.at(15), value.text);
        let ty = if let Type::Int(bits) = instruction.ty {
            CType::Unsigned(container(bits))
        } else {
            CType::Other
        };
        Ok(Expr::new(text, 16, ty).reading(&[&address, &value]))
    }

    /// An atomic minimum or maximum, written as a loop, because gcc has no builtin for it.
    fn atomic_choice(&mut self, name: &str, ty: &Type, address: &Expr, value: &Expr) -> Result<Expr, String> {
        let Type::Int(bits) = ty else {
            return Err("an atomic comparison of something that is no integer".into());
        };
        let short = self.prelude.aliasing(ty, ty.layout().size)?;
        let c_name = self.prelude.name(ty)?;
        let view = if name.starts_with('u') { c_name.clone() } else { signed(*bits).to_string() };
        let sign = if name.ends_with("max") { '>' } else { '<' };
        let helper = format!("atomic_{name}_u{bits}");
        self.prelude.helper(&format!(
            "static inline {c_name} {helper}(void *p, {c_name} v)\n{{\n    \
             {c_name} old = __atomic_load_n(({short} *)p, __ATOMIC_SEQ_CST);\n    \
             while (!__atomic_compare_exchange_n(({short} *)p, &old, \
             ({view})v {sign} ({view})old ? v : old, 0,\n        \
             __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))\n        ;\n    return old;\n}}"
        ));
        let text = format!("{helper}({}, {})", address.text, value.text);
        Ok(Expr::new(text, 16, CType::Unsigned(container(*bits))).reading(&[address, value]))
    }

    fn compare_exchange(
        &mut self,
        instruction: &Instruction,
        [to, expected, new]: [&Operand; 3],
        used: Option<ValueId>,
        list: &mut Vec<Stmt>,
    ) -> Result<(), String> {
        let ty = self.body.type_of(expected);
        let (address, expected, new) = (self.argument(to)?, self.assigned(expected)?, self.assigned(new)?);
        let short = self.prelude.aliasing(&ty, ty.layout().size)?;
        let (c_name, result) = (self.prelude.name(&ty)?, self.prelude.name(&instruction.ty)?);
        let value = self.prelude.declare(&ty, "expected")?;
        let other = self.prelude.declare(&ty, "new")?;
        let helper = format!("compare_exchange_{}", self.prelude.short(&ty)?);
        self.prelude.helper(&format!(
            "static inline {result} {helper}(void *p, {value}, {other})\n{{\n    \
             bool done = __atomic_compare_exchange_n(({short} *)p, &expected, new, 0,\n        \
             __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);\n    return ({result}){{ ({c_name})expected, done }};\n}}"
        ));
        let text = format!("{helper}({}, {}, {})", address.text, expected.text, new.text);
        let call = Expr::new(text, 16, CType::Other).reading(&[&address, &expected, &new]);
        match used {
            Some(value) => self.assign(value, call, list),
            None => list.push(Stmt::Do(call)),
        }
        Ok(())
    }

    fn fill_overflow(&mut self, op: &Op, value: ValueId, list: &mut Vec<Stmt>) -> Result<(), String> {
        let Op::Call { args, .. } = op else { return Err("a malformed call".into()) };
        let name = callee(self.module, op).map_or("", |function| &function.name);
        let (Some((builtin, signedness)), [a, b]) = (kinds::overflow_builtin(name), args.as_slice()) else {
            return Err(format!("the intrinsic `{name}`"));
        };
        let bits = self.body.type_of(a).bits() as u32;
        if container(bits) != bits {
            return Err(format!("the intrinsic `{name}` of such a width"));
        }
        let (a, b) = match signedness {
            Signedness::Signed => (self.signed(a)?, self.signed(b)?),
            Signedness::Unsigned => (self.expr(a, Want::Exact)?, self.expr(b, Want::Exact)?),
        };
        let cast = match signedness {
            Signedness::Signed => format!("({} *)", signed(bits)),
            Signedness::Unsigned => String::new(),
        };
        let ty = self.body.types[value.0 as usize].clone();
        let c_name = self.prelude.name(&ty)?;
        let view = match signedness {
            Signedness::Signed => signed(bits),
            Signedness::Unsigned => super::types::unsigned(bits),
        };
        let kind = builtin.trim_start_matches("__builtin_");
        let helper = format!("{}{kind}_{bits}", if cast.is_empty() { "u" } else { "s" });
        self.prelude.helper(&format!(
            "static inline {c_name} {helper}({view} a, {view} b)\n{{\n    {c_name} r;\n    \
             r.f1 = {builtin}(a, b, {cast}&r.f0);\n    return r;\n}}"
        ));
        let call =
            Expr::new(format!("{helper}({}, {})", a.text, b.text), 16, CType::Other).reading(&[&a, &b]);
        self.assign(value, call, list);
        Ok(())
    }

    /// The expression that a `return` gives back.
    pub fn returned(&mut self, operand: Option<&Operand>) -> Result<Option<Expr>, String> {
        if returns_through_parameter(self.function) {
            return Ok(Some(self.variable(0)));
        }
        let Some(operand) = operand else { return Ok(None) };
        match (self.body.type_of(operand), self.function.result_extension) {
            (Type::Int(_), Some(Extension::Sign)) => self.signed(operand).map(Some),
            _ => self.assigned(operand).map(Some),
        }
    }

    /// For a jump to a block that only returns: the expression to return directly.
    pub fn returned_through(&mut self, from: usize, to: usize) -> Result<Option<Option<Expr>>, String> {
        let block = &self.body.blocks[to];
        let Terminator::Return(operand) = &block.terminator else { return Ok(None) };
        if !self.plan.order[to].is_empty() || !block.comment.is_empty() {
            return Ok(None);
        }
        let operand = match operand {
            Some(Operand::Value(value)) => match self.plan.op(self.body, *value) {
                Some(Op::Phi(incoming))
                    if self.plan.definition[value.0 as usize].is_some_and(|(b, _)| b == to) =>
                {
                    incoming.iter().find(|(_, block)| block.0 as usize == from).map(|(operand, _)| operand)
                }
                _ if self.plan.folded[value.0 as usize] => return Ok(None),
                _ => operand.as_ref(),
            },
            _ => operand.as_ref(),
        };
        self.returned(operand).map(Some)
    }

    /// The assignments of a block's phis when it is entered from another block.
    pub fn moves(&mut self, from: usize, to: usize) -> Result<Vec<Stmt>, String> {
        let mut pending: Vec<Move> = Vec::new();
        for instruction in &self.body.blocks[to].instructions {
            let (Op::Phi(incoming), Some(phi)) = (&instruction.op, instruction.result) else { break };
            let operand =
                incoming.iter().find(|(_, block)| block.0 as usize == from).map(|(operand, _)| operand);
            let Some(operand) = operand.filter(|_| self.plan.uses[phi.0 as usize] > 0) else { continue };
            let variable = self.variables.of(phi.0 as usize);
            let constant = match operand {
                Operand::Const(Const::Undef(_)) => continue,
                Operand::Const(Const::Int { value, .. }) => Some(*value),
                Operand::Const(_) => None,
                Operand::Value(value) => {
                    let is_variable = !self.plan.folded[value.0 as usize];
                    if is_variable && self.variables.of(value.0 as usize) == variable {
                        continue;
                    }
                    None
                }
            };
            pending.push(Move { variable, value: self.assigned(operand)?, constant });
        }
        Ok(self.one_by_one(pending))
    }

    /// Orders parallel assignments so that none overwrites a variable that a later one reads.
    fn one_by_one(&mut self, mut pending: Vec<Move>) -> Vec<Stmt> {
        let mut list = Vec::new();
        while !pending.is_empty() {
            let free = (0..pending.len()).find(|&at| {
                let target = pending[at].variable;
                pending
                    .iter()
                    .enumerate()
                    .all(|(other, one)| other == at || !one.value.reads.contains(&target))
            });
            let (variable, value, constant) = match free {
                Some(at) => {
                    let Move { variable, value, constant } = pending.remove(at);
                    (variable, value, constant)
                }
                // A cycle: one value is saved in a temporary variable.
                None => {
                    let first = &mut pending[0];
                    let variable = self.names.len();
                    let name = self.spare_name(&format!("old_{}", self.names[first.variable]));
                    self.spares.push(first.variable);
                    self.names.push(name.clone());
                    let mut waiting = Expr::new(name, 16, CType::Other);
                    waiting.reads.insert(variable);
                    (variable, std::mem::replace(&mut pending[0].value, waiting), None)
                }
            };
            list.push(Stmt::Assign { variable, value, constant, declares: None });
        }
        list
    }

    /// A name that no variable of the function has yet.
    fn spare_name(&self, wanted: &str) -> String {
        let mut name = format!("{wanted}_");
        while self.names.contains(&name) {
            name.push('_');
        }
        name
    }
}
