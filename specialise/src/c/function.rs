//! A function as C, from its head to its closing brace.

use std::collections::{BTreeMap, BTreeSet};

use super::calls::head;
use super::declare::Scopes;
use super::expression::Writer;
use super::fold::Plan;
use super::names::{Names, plain};
use super::polish::{polish, unguard};
use super::statement::{Printer, Stmt, comment};
use super::structure::Structure;
use super::symbols::Symbols;
use super::types::Prelude;
use super::variables::Variables;
use crate::graph::Graph;
use crate::ir::{Binary, Block, Body, Const, Function, Module, Op, Operand, Terminator, Type, ValueId};

/// Writes one function.
pub(super) fn write(
    module: &Module,
    function: &Function,
    body: &Body,
    symbols: &Symbols,
    names: &Names,
    prelude: &mut Prelude,
) -> Result<String, String> {
    let graph = Graph::of(body.blocks.iter().map(targets).collect());
    let plan = Plan::of(module, body, &graph);
    let variables = Variables::find(body, &function.params, &graph, &plan);
    let counters = counters(body, &graph, &plan);
    let mut local = names.clone();
    let names = name_variables(function, body, &plan, &variables, &counters, &mut local);
    let mut writer = Writer {
        module,
        function,
        body,
        plan: &plan,
        variables: &variables,
        names,
        symbols,
        prelude,
        counters,
        spares: Vec::new(),
    };
    let (mut list, jumps_back) = Structure::write(&mut writer, &graph)?;
    polish(&mut list);
    if matches!(list.last(), Some(Stmt::Return(None))) {
        list.pop();
    }
    let c_name = function_name(module, function, symbols);
    let (parameters, mut top) = writer.parameters(&c_name, &mut local)?;
    let types = writer.declared_types(&mut top)?;
    let scopes = Scopes { types: &types, live_in: &variables.live_in };
    match jumps_back {
        true => scopes.declare_first(&mut list),
        false => {
            scopes.declare(&mut list);
            unguard(&mut list);
        }
    }
    let mut printer =
        Printer { names: &writer.names, labels: &|block| format!("block{block}"), text: String::new() };
    printer.list(&list, 1);
    let statements = printer.text;
    let head = head(writer.prelude, function, &c_name, Some(&parameters))?;
    let said =
        if function.comment.is_empty() { String::new() } else { format!("{}\n", comment(&function.comment)) };
    Ok(format!("{said}{head}\n{{\n{top}{statements}}}\n"))
}

fn function_name(module: &Module, function: &Function, symbols: &Symbols) -> String {
    let id = module.functions.iter().position(|other| std::ptr::eq(other, function));
    id.map_or(String::new(), |id| symbols.function(crate::ir::FunctionId(id as u32)).to_string())
}

/// The successors of a block, each once and in the order in which C needs them: the default of a switch comes last.
fn targets(block: &Block) -> Vec<usize> {
    let mut targets: Vec<usize> = block.terminator.successors().map(|to| to.0 as usize).collect();
    if let Terminator::Switch(..) = block.terminator {
        targets.rotate_left(1);
    }
    let mut seen = BTreeSet::new();
    targets.retain(|to| seen.insert(*to));
    targets
}

/// The values that count up from a small number by small steps. It would take centuries until such a value becomes
/// negative.
fn counters(body: &Body, graph: &Graph, plan: &Plan) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for &header in graph.loops.keys() {
        for instruction in &body.blocks[header].instructions {
            let (Op::Phi(incoming), Some(phi)) = (&instruction.op, instruction.result) else { break };
            let mut steps = Vec::new();
            let counts = instruction.ty == Type::WORD
                && incoming.iter().all(|(operand, _)| match operand {
                    Operand::Const(Const::Int { value, .. }) => *value < 1 << 32,
                    Operand::Const(_) => false,
                    Operand::Value(value) => {
                        steps.push(value.0 as usize);
                        matches!(
                            plan.op(body, *value),
                            Some(Op::Binary(
                                Binary::Add,
                                Operand::Value(from),
                                Operand::Const(Const::Int { value, .. }),
                            )) if *from == phi && *value < 1 << 16
                        )
                    }
                });
            if counts {
                found.insert(phi.0 as usize);
                found.extend(steps);
            }
        }
    }
    found
}

/// The names of the variables, by the value that represents each.
fn name_variables(
    function: &Function,
    body: &Body,
    plan: &Plan,
    variables: &Variables,
    counters: &BTreeSet<usize>,
    names: &mut Names,
) -> Vec<String> {
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for value in 0..body.types.len() {
        let is_used = plan.uses[value] > 0 || value < function.params.len();
        if is_used && !plan.folded[value] {
            members.entry(variables.of(value)).or_default().push(value);
        }
    }
    let mut result = vec![String::new(); body.types.len()];
    for (variable, members) in members {
        let given = |value: &usize| -> Option<&str> {
            let param = function.params.get(*value).and_then(|param| param.name.as_deref());
            let name = param.or_else(|| body.names.get(*value).map(|name| &**name))?;
            Some(plain(name)).filter(|name| !name.is_empty())
        };
        let wanted = members.iter().find_map(given).unwrap_or(match &body.types[variable] {
            _ if variable < function.params.len() => "arg",
            _ if members.iter().any(|member| counters.contains(member)) => "i",
            Type::Ptr => "p",
            Type::Int(1) => "is",
            Type::Float | Type::Double => "f",
            Type::Int(_) => "x",
            _ => "s",
        });
        result[variable] = names.take(wanted);
    }
    result
}

impl Writer<'_> {
    /// The names of the parameters in the function's head, and the statements that must begin its body for parameters
    /// that have other types there.
    fn parameters(&mut self, c_name: &str, names: &mut Names) -> Result<(Vec<String>, String), String> {
        let mut list = Vec::new();
        let mut top = String::new();
        for (at, param) in self.function.params.iter().enumerate() {
            let name = self.names[self.variables.of(at)].clone();
            let is_main = c_name == "main" && !self.function.internal;
            if !is_main && param.attributes.byval.is_none() {
                list.push(name);
                continue;
            }
            let passed = names.take(&format!("{name}_passed"));
            let address = if param.attributes.byval.is_some() { "&" } else { "" };
            if self.plan.uses[at] > 0 {
                let declaration = self.prelude.declare(&param.ty, &name)?;
                top.push_str(&format!("    {declaration} = {address}{passed};\n"));
            }
            list.push(passed);
        }
        Ok((list, top))
    }

    /// The C types of the variables that are declared where they are used. Stack memory is declared at the top.
    fn declared_types(&mut self, top: &mut String) -> Result<BTreeMap<usize, String>, String> {
        let params: BTreeSet<usize> =
            (0..self.function.params.len()).map(|param| self.variables.of(param)).collect();
        let mut types = BTreeMap::new();
        for value in 0..self.body.types.len() {
            let variable = self.variables.of(value);
            if params.contains(&variable) || self.plan.uses[value] == 0 || self.plan.folded[value] {
                continue;
            }
            if let Some(ty) = self.plan.scalars.get(&value) {
                let declaration = self.prelude.declare(&ty.clone(), &self.names[variable])?;
                top.push_str(&format!("    {declaration};\n"));
                continue;
            }
            let id = ValueId(value as u32);
            if self.is_local(id)
                && let Some(Op::Alloca { size, count: Operand::Const(Const::Int { value, .. }), align }) =
                    self.plan.op(self.body, id)
            {
                // C has no arrays of size 0.
                let bytes = (u128::from(*size) * value).max(1);
                let name = &self.names[variable];
                let align = if *align > 1 { format!("_Alignas({align}) ") } else { String::new() };
                top.push_str(&format!("    {align}char {name}[{bytes}];\n"));
                continue;
            }
            types.insert(variable, self.prelude.name(&self.body.types[variable])?);
        }
        let values = self.body.types.len();
        for (at, &like) in self.spares.iter().enumerate() {
            let ty = if like < values { self.body.types[like].clone() } else { Type::WORD };
            types.insert(values + at, self.prelude.name(&ty)?);
        }
        Ok(types)
    }
}
