//! Alias analysis: the object that each pointer of a function points into, and the objects that no code outside the
//! function can reach.

use super::calls::{Known, known_call};
use super::surroundings::Surroundings;
use crate::ir::{Body, Const, GlobalId, Instruction, Op, Operand, Type, ValueId};

/// The object that a pointer points into.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Root {
    /// An object that can be reached only by pointers derived from this value: a local one (`alloca`, `malloc`), or a
    /// `noalias` parameter's, whose address does not escape.
    Private(ValueId),
    /// A local object whose address has escaped.
    Local(ValueId),
    /// The object of a `noalias` parameter whose address has escaped.
    Exclusive(ValueId),
    /// The object of another parameter.
    Param(ValueId),
    /// A global variable.
    Global(GlobalId),
    /// Anything whose address is not private.
    Unknown,
}

impl Root {
    /// Whether accesses through pointers with these roots may touch the same bytes.
    pub(crate) fn may_alias(self, other: Root) -> bool {
        use Root::{Exclusive, Global, Local, Param, Private, Unknown};
        match (self, other) {
            (Private(a), Private(b)) | (Local(a), Local(b)) | (Exclusive(a), Exclusive(b)) => a == b,
            (Global(a), Global(b)) => a == b,
            (Private(_), _) | (_, Private(_)) => false,
            (Local(_) | Exclusive(_), Unknown) | (Unknown, Local(_) | Exclusive(_)) => true,
            (Local(_) | Exclusive(_), _) | (_, Local(_) | Exclusive(_)) => false,
            (Param(_) | Global(_) | Unknown, Param(_) | Global(_) | Unknown) => true,
        }
    }
}

/// The roots of all values of a function.
pub(crate) struct Roots {
    /// The root of each value.
    of: Vec<Root>,
}

impl Roots {
    /// Finds the origin of every pointer.
    pub(crate) fn new(body: &Body, around: &Surroundings) -> Roots {
        let mut base: Vec<Option<&Operand>> = vec![None; body.types.len()];
        let mut of = vec![Root::Unknown; body.types.len()];
        for (at, param) in around.params.iter().enumerate().take(of.len()) {
            let value = ValueId(at as u32);
            if param.ty == Type::Ptr {
                let fresh = param.attributes.noalias || param.attributes.byval.is_some();
                of[at] = if fresh { Root::Private(value) } else { Root::Param(value) };
            }
        }
        for instruction in body.blocks.iter().flat_map(|block| &block.instructions) {
            let Some(result) = instruction.result else { continue };
            match &instruction.op {
                Op::Alloca { .. } => of[result.0 as usize] = Root::Private(result),
                Op::Address { base: from, .. } => base[result.0 as usize] = Some(from),
                op if known_call(around.module, op) == Some(Known::Allocate) => {
                    of[result.0 as usize] = Root::Private(result);
                }
                _ => {}
            }
        }
        follow(&base, &mut of);
        let mut roots = Roots { of };
        roots.note_escapes(body, around);
        roots
    }

    /// The root of a pointer.
    pub(crate) fn of(&self, pointer: &Operand) -> Root {
        match pointer {
            Operand::Value(value) => self.of.get(value.0 as usize).copied().unwrap_or(Root::Unknown),
            Operand::Const(Const::Global(global, _)) => Root::Global(*global),
            Operand::Const(_) => Root::Unknown,
        }
    }

    /// Objects with addresses that are used other than for accesses are not private.
    fn note_escapes(&mut self, body: &Body, around: &Surroundings) {
        let mut escaped = vec![false; self.of.len()];
        let mut escape = |operand: &Operand| {
            if let Root::Private(object) = self.of(operand) {
                escaped[object.0 as usize] = true;
            }
        };
        for block in &body.blocks {
            for instruction in &block.instructions {
                each_escaping(instruction, around, &mut escape);
            }
            block.terminator.operand().into_iter().for_each(&mut escape);
        }
        for root in &mut self.of {
            if let Root::Private(object) = *root
                && escaped[object.0 as usize]
            {
                let passed = (object.0 as usize) < around.params.len();
                *root = if passed { Root::Exclusive(object) } else { Root::Local(object) };
            }
        }
    }
}

/// Gives every address the root of its base. Each chain is walked once.
fn follow(base: &[Option<&Operand>], of: &mut [Root]) {
    let mut done: Vec<bool> = base.iter().map(Option::is_none).collect();
    let mut chain = Vec::new();
    for start in 0..base.len() {
        let mut at = start;
        let root = loop {
            if done[at] {
                break of[at];
            }
            done[at] = true; // also ends circular chains, which only unreachable code has
            chain.push(at);
            match base[at] {
                Some(Operand::Value(next)) if (next.0 as usize) < of.len() => at = next.0 as usize,
                Some(Operand::Const(Const::Global(global, _))) => break Root::Global(*global),
                _ => break Root::Unknown,
            }
        };
        chain.drain(..).for_each(|link| of[link] = root);
    }
}

/// Passes to `see` the operands through which an instruction lets a pointer escape.
fn each_escaping(instruction: &Instruction, around: &Surroundings, mut see: impl FnMut(&Operand)) {
    match &instruction.op {
        Op::Load { .. } | Op::Compare(..) => {}
        Op::Address { terms, .. } => terms.iter().for_each(|(index, _)| see(index)),
        Op::Store { value, .. } => see(value),
        op @ Op::Call { .. } => match known_call(around.module, op) {
            Some(Known::Copy | Known::Fill | Known::Lifetime | Known::Free) => {}
            _ => op.operands().for_each(see),
        },
        op => op.operands().for_each(see),
    }
}
