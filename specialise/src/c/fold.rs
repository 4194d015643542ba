//! Decides which values are folded into the expressions that use them, and which get a variable.
//!
//! A value that is used once moves into its use if it doesn't cross an operation that could change it: a load doesn't
//! cross a store or a call, and a call doesn't cross any access. Computations without memory also move across blocks,
//! but never into a loop.

use std::collections::{BTreeMap, BTreeSet};

use super::kinds;
use crate::graph::Graph;
use crate::ir::{Access, Binary, Body, Cast, Const, Function, Module, Op, Operand, ValueId};

/// The greatest number of operations in an expression.
const LARGEST: u32 = 14;

/// How a computation uses memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Not at all.
    Pure,
    /// It reads.
    Read,
    /// It must happen once, in its order.
    Effect,
}

/// The division of a body into statements and expressions.
pub(super) struct Plan {
    /// The instructions of each block other than phis, in the order in which they are written.
    pub order: Vec<Vec<usize>>,
    /// For each value, whether it is folded into its uses.
    pub folded: Vec<bool>,
    /// The number of uses of each value.
    pub uses: Vec<u32>,
    /// The block and instruction that compute each value.
    pub definition: Vec<Option<(usize, usize)>>,
    /// Stack variables that are only read and written as a whole, with the type of their value.
    pub scalars: BTreeMap<usize, crate::ir::Type>,
}

/// A use of a value: in an instruction, or at the end of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Instruction(usize, usize),
    End(usize),
}

/// The function that a call names, if it names one.
pub(super) fn callee<'m>(module: &'m Module, op: &Op) -> Option<&'m Function> {
    match op {
        Op::Call { callee: Operand::Const(Const::Function(id)), .. } => module.functions.get(id.0 as usize),
        _ => None,
    }
}

/// How an operation uses memory, apart from its operands.
pub(super) fn kind(module: &Module, op: &Op) -> Kind {
    match op {
        Op::Load { access: Access::Plain, .. } => Kind::Read,
        Op::Load { .. } | Op::Store { .. } | Op::Alloca { .. } | Op::Fence => Kind::Effect,
        Op::AtomicUpdate(..) | Op::CompareExchange(..) => Kind::Effect,
        Op::Call { .. } => match callee(module, op) {
            Some(function) if kinds::is_pure(&function.name) => Kind::Pure,
            _ => Kind::Effect,
        },
        _ => Kind::Pure,
    }
}

fn is_left_out(module: &Module, op: &Op) -> bool {
    callee(module, op).is_some_and(|function| kinds::is_left_out(&function.name))
}

impl Plan {
    /// Plans a body.
    pub fn of(module: &Module, body: &Body, graph: &Graph) -> Plan {
        let values = body.types.len();
        let definitions = body.definitions().into_iter();
        let reached =
            |place: Option<(usize, usize)>| place.filter(|(block, _)| graph.position[*block].is_some());
        let mut plan = Plan {
            order: vec![Vec::new(); body.blocks.len()],
            folded: vec![false; values],
            uses: vec![0; values],
            definition: definitions.map(reached).collect(),
            scalars: BTreeMap::new(),
        };
        let sites = plan.sites(module, body, graph);
        plan.find_scalars(body, &sites);
        for &block in &graph.order {
            plan.order_block(module, body, block, &sites);
        }
        let mut folding = Folding { module, body, graph, plan, sites, state: vec![(Kind::Pure, 1); values] };
        for &block in &graph.order {
            folding.block(block);
        }
        folding.plan
    }

    /// The operation that computes a value; `None` for parameters.
    pub fn op<'b>(&self, body: &'b Body, value: ValueId) -> Option<&'b Op> {
        let (block, at) = self.definition[value.0 as usize]?;
        Some(&body.blocks[block].instructions[at].op)
    }

    /// Finds and counts all uses of needed values, starting from the instructions with effects.
    fn sites(&mut self, module: &Module, body: &Body, graph: &Graph) -> Vec<Vec<Use>> {
        let mut sites = vec![Vec::new(); body.types.len()];
        let mut needed = BTreeSet::new();
        let mut pending = Vec::new();
        let mut count = |operand: &Operand, site: Use, pending: &mut Vec<usize>| {
            if let Operand::Value(value) = operand {
                sites[value.0 as usize].push(site);
                pending.push(value.0 as usize);
            }
        };
        for &block in &graph.order {
            for (at, instruction) in body.blocks[block].instructions.iter().enumerate() {
                let must = kind(module, &instruction.op) == Kind::Effect;
                if must
                    && !matches!(instruction.op, Op::Alloca { .. })
                    && !is_left_out(module, &instruction.op)
                {
                    needed.insert((block, at));
                    for operand in instruction.op.operands() {
                        count(operand, Use::Instruction(block, at), &mut pending);
                    }
                }
            }
            if let Some(operand) = body.blocks[block].terminator.operand() {
                count(operand, Use::End(block), &mut pending);
            }
        }
        while let Some(value) = pending.pop() {
            let Some((block, at)) = self.definition[value] else { continue };
            if !needed.insert((block, at)) {
                continue;
            }
            match &body.blocks[block].instructions[at].op {
                Op::Phi(incoming) => {
                    for (operand, from) in
                        incoming.iter().filter(|(_, from)| graph.position[from.0 as usize].is_some())
                    {
                        count(operand, Use::End(from.0 as usize), &mut pending);
                    }
                }
                op => {
                    for operand in op.operands() {
                        count(operand, Use::Instruction(block, at), &mut pending);
                    }
                }
            }
        }
        for &(block, at) in &needed {
            if !matches!(body.blocks[block].instructions[at].op, Op::Phi(_)) {
                self.order[block].push(at);
            }
        }
        self.uses = sites.iter().map(|sites| sites.len() as u32).collect();
        sites
    }

    fn find_scalars(&mut self, body: &Body, sites: &[Vec<Use>]) {
        for (value, sites) in sites.iter().enumerate().take(body.types.len()) {
            let Some(Op::Alloca { size, count: Operand::Const(Const::Int { value: 1, .. }), .. }) =
                self.op(body, ValueId(value as u32))
            else {
                continue;
            };
            let mut types = sites.iter().map(|site| match site {
                Use::Instruction(block, at) => {
                    whole_access(body, &body.blocks[*block].instructions[*at], value)
                }
                Use::End(_) => None,
            });
            let Some(Some(first)) = types.next() else { continue };
            if first.layout().size == *size
                && first.is_scalar()
                && types.all(|ty| ty.as_ref() == Some(&first))
            {
                self.scalars.insert(value, first);
            }
        }
    }

    /// Moves pure computations down to their first use. A counter's step then stands at the end of its loop.
    fn order_block(&mut self, module: &Module, body: &Body, block: usize, sites: &[Vec<Use>]) {
        let instructions = &body.blocks[block].instructions;
        // For each instruction, the first instruction that needs it and stays where it is.
        let mut anchors: BTreeMap<usize, usize> = BTreeMap::new();
        for &at in self.order[block].iter().rev() {
            let instruction = &instructions[at];
            let anchor = match instruction.result {
                Some(value) if kind(module, &instruction.op) == Kind::Pure => sites[value.0 as usize]
                    .iter()
                    .filter_map(|site| match site {
                        Use::Instruction(b, user) if *b == block => anchors.get(user).copied(),
                        _ => None,
                    })
                    .min()
                    .unwrap_or(usize::MAX),
                _ => at,
            };
            anchors.insert(at, anchor);
        }
        self.order[block].sort_by_key(|at| (anchors[at], *at));
    }
}

/// The type with which an instruction reads or writes a whole variable, if it uses the variable's address for nothing
/// else.
fn whole_access(
    body: &Body,
    instruction: &crate::ir::Instruction,
    address: usize,
) -> Option<crate::ir::Type> {
    let is_address = |operand: &Operand| *operand == Operand::Value(ValueId(address as u32));
    match &instruction.op {
        Op::Load { access: Access::Plain, .. } => Some(instruction.ty.clone()),
        Op::Store { value, access: Access::Plain, .. } if !is_address(value) => Some(body.type_of(value)),
        _ => None,
    }
}

/// The walk that decides on each value.
struct Folding<'a> {
    module: &'a Module,
    body: &'a Body,
    graph: &'a Graph,
    plan: Plan,
    sites: Vec<Vec<Use>>,
    /// For each folded value, with everything folded into it: its use of memory, and its size.
    state: Vec<(Kind, u32)>,
}

impl Folding<'_> {
    fn block(&mut self, block: usize) {
        // Folded values that use memory and have not reached their use.
        let mut waiting: Vec<usize> = Vec::new();
        for at in self.plan.order[block].clone() {
            let instruction = &self.body.blocks[block].instructions[at];
            let mut kind = kind(self.module, &instruction.op);
            let mut size = 1;
            for (index, operand) in instruction.op.operands().enumerate() {
                let Operand::Value(value) = operand else { continue };
                let value = value.0 as usize;
                if !self.plan.folded[value] {
                    continue;
                }
                let (own, weight) = self.state[value];
                let may_be_skipped = index > 0 && self.may_skip(&instruction.op, &instruction.ty);
                let grows_too_large = size + weight > LARGEST && self.plan.uses[value] == 1;
                let is_read_in_pieces = matches!(instruction.op, Op::InsertValue(..)) && own != Kind::Pure;
                if (own == Kind::Effect && may_be_skipped) || grows_too_large || is_read_in_pieces {
                    self.settle(value);
                    waiting.retain(|&other| other != value);
                    continue;
                }
                waiting.retain(|&other| other != value);
                kind = kind.max(own);
                size += weight;
            }
            // A waiting value that is not part of this instruction gets a variable if this instruction could change it.
            let own = self::kind(self.module, &instruction.op);
            let conflicts = |other: Kind| other.max(own) == Kind::Effect && other.min(own) != Kind::Pure;
            for value in std::mem::take(&mut waiting) {
                match conflicts(self.state[value].0) {
                    true => self.settle(value),
                    false => waiting.push(value),
                }
            }
            let Some(value) = instruction.result.map(|value| value.0 as usize) else { continue };
            self.state[value] = (kind, size);
            if self.folds(value, &instruction.op, block) {
                self.plan.folded[value] = true;
                if kind != Kind::Pure {
                    waiting.push(value);
                }
            }
        }
    }

    /// Gives a variable to a value that was to be folded.
    fn settle(&mut self, value: usize) {
        self.plan.folded[value] = false;
    }

    /// Whether C may skip operands of this operation: those of `?:`, `&&` and `||` after the first.
    fn may_skip(&self, op: &Op, ty: &crate::ir::Type) -> bool {
        match op {
            Op::Select(..) => true,
            Op::Binary(Binary::And | Binary::Or, ..) => *ty == crate::ir::Type::Int(1),
            // The C text of such an intrinsic may repeat its operands.
            Op::Call { .. } => callee(self.module, op).is_some_and(|f| kinds::is_pure(&f.name)),
            _ => false,
        }
    }

    fn folds(&self, value: usize, op: &Op, block: usize) -> bool {
        let (kind, _) = self.state[value];
        if matches!(op, Op::Alloca { .. }) {
            return false;
        }
        if kinds::fills_structure(callee(self.module, op)) || matches!(op, Op::CompareExchange(..)) {
            return false;
        }
        if let Op::Address { base, terms, .. } = op
            && terms.is_empty()
            && self.is_fixed(base)
            && !self.steps_a_loop(value)
        {
            return true;
        }
        match self.sites[value].as_slice() {
            [Use::Instruction(to, _) | Use::End(to)] if *to == block => {
                !(kind == Kind::Effect
                    && matches!(self.sites[value][0], Use::End(_))
                    && self.ends_in_moves(block))
            }
            [Use::Instruction(to, _) | Use::End(to)] => {
                kind == Kind::Pure && self.graph.depth[*to] <= self.graph.depth[block]
            }
            _ => false,
        }
    }

    /// Whether a successor of the block has phis, which are then assigned at the block's end.
    fn ends_in_moves(&self, block: usize) -> bool {
        let starts_with_phi = |to: &usize| {
            let first = self.body.blocks[*to].instructions.first();
            first.is_some_and(|first| matches!(first.op, Op::Phi(_)))
        };
        self.graph.successors[block].iter().any(starts_with_phi)
    }

    /// Whether an address stays the same wherever it can be used: a parameter, a stack variable, a constant.
    fn is_fixed(&self, base: &Operand) -> bool {
        match base {
            Operand::Const(_) => true,
            Operand::Value(value) => match self.plan.op(self.body, *value) {
                None | Some(Op::Alloca { .. }) => true,
                Some(Op::Phi(_)) => false,
                Some(Op::Address { terms, .. }) if terms.is_empty() => true,
                Some(Op::Cast(Cast::BitCast, _) | Op::Freeze(_)) => false,
                Some(_) => !self.plan.folded[value.0 as usize],
            },
        }
    }

    fn steps_a_loop(&self, value: usize) -> bool {
        self.sites[value].len() > 1 && self.sites[value].iter().any(|site| matches!(site, Use::End(_)))
    }
}
