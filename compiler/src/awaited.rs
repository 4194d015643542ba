//! Which releases of a lock must test which conditions of AWAIT.
//!
//! Every variable that a component's conditions read has a bit (the last ones share one). A condition has the bits of
//! the variables that it reads; a release has the bits of those that its block may write, procedures included. A
//! release tests the conditions with which it shares a bit. What changes without a write (time, components that end)
//! has the bit of every release.
//!
//! Elements are told apart at run time: a condition that reads a few elements names them when it is tested
//! ([`Inst::Watch`]), and a block names those that it writes ([`Inst::Wrote`]).
//!
//! [`Inst::Watch`]: crate::mir::Inst::Watch
//! [`Inst::Wrote`]: crate::mir::Inst::Wrote

use std::collections::{BTreeSet, HashMap, HashSet};

use drystone_language::accesses::{self, Access, Event};
use drystone_language::program::{self as checked, *};
use drystone_runtime::layout::WATCHED;

use crate::walk::{self, Visitor};

/// The bit that every release has.
const ALWAYS: u64 = 1 << 63;
/// The last bit that a variable can have.
const LAST: u32 = 62;
/// The bits of a release when it is unknown what has been written.
pub const EVERYTHING: u64 = u64::MAX;

/// What a condition depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependence {
    /// It is tested by releases that have one of these bits.
    pub bits: u64,
    /// It says which elements it reads, and is tested when one of them is written.
    pub watches: bool,
    /// Its answer is the same for all processes of the component.
    pub common: bool,
}

/// The bits of a variable.
#[derive(Clone, Copy, Default)]
struct Bits {
    /// For any write of it.
    any: u64,
    /// For a write that does not name its elements.
    unseen: u64,
}

/// What the conditions of a program read.
pub struct Awaited {
    bits: HashMap<VariableId, Bits>,
    /// Components with a condition that changes variables which conditions may read; `None` stands for all components.
    changing: HashSet<Option<ComponentId>>,
    /// What a call of each procedure may write.
    written: Vec<u64>,
}

impl Awaited {
    /// Looks at all conditions of a program.
    pub fn of(program: &Program) -> Awaited {
        let mut awaited = Awaited { bits: HashMap::new(), changing: HashSet::new(), written: Vec::new() };
        let mut used: HashMap<Option<ComponentId>, u32> = HashMap::new();
        for (component, reads) in conditions(program) {
            if reads.changes {
                awaited.changing.insert(component);
            }
            let used = used.entry(component).or_default();
            let mut take = |bit: &mut u64| {
                if *bit == 0 {
                    *bit = 1 << (*used).min(LAST);
                    *used += 1;
                }
            };
            for variable in reads.whole {
                take(&mut awaited.bits.entry(variable).or_default().any);
            }
            for variable in reads.elements {
                take(&mut awaited.bits.entry(variable).or_default().unseen);
            }
        }
        awaited.follow_calls(program);
        awaited
    }

    /// What a condition in that component depends on.
    pub fn dependence(
        &self,
        program: &Program,
        component: Option<ComponentId>,
        condition: &Expression,
    ) -> Dependence {
        let reads = Reads::of(program, condition);
        let common = !reads.own;
        if reads.always || [component, None].iter().any(|one| self.changing.contains(one)) {
            return Dependence { bits: ALWAYS, watches: false, common };
        }
        let whole = reads.whole.iter().map(|variable| self.bits[variable].any);
        let elements = reads.elements.iter().map(|variable| self.bits[variable].unseen);
        let bits = whole.chain(elements).fold(0, |all, bit| all | bit);
        Dependence { bits, watches: !reads.elements.is_empty(), common }
    }

    /// Whether some condition says which elements of this collection it reads.
    pub fn is_watched(&self, variable: VariableId) -> bool {
        self.bits.get(&variable).is_some_and(|bits| bits.unseen != 0)
    }

    /// What a block may have written when it releases the lock.
    pub fn written_by(&self, block: &Block) -> u64 {
        let mut written = ALWAYS;
        accesses::walk(block, None, &mut |access| written |= self.written_at(access));
        written
    }

    /// What an expression may have written when it releases the lock.
    pub fn written_in(&self, expression: &Expression) -> u64 {
        let mut written = ALWAYS;
        accesses::walk_expression(expression, &mut |access| written |= self.written_at(access));
        written
    }

    fn written_at(&self, access: Access) -> u64 {
        let bits = |variable| self.bits.get(&variable).copied().unwrap_or_default();
        match access.event {
            Event::Write(variable) => bits(variable).any,
            Event::Replace(variable) | Event::Pass(variable) => bits(variable).any | bits(variable).unseen,
            Event::Call(procedure) => self.written[procedure.index()],
            _ => 0,
        }
    }

    /// Finds what procedures write, and those that they call.
    fn follow_calls(&mut self, program: &Program) {
        self.written = vec![0; program.procedures.len()];
        let mut callers = vec![Vec::new(); program.procedures.len()];
        for (caller, procedure) in program.procedures.iter().enumerate() {
            let mut written = 0;
            accesses::walk(&procedure.body, None, &mut |access| match access.event {
                Event::Call(callee) => callers[callee.index()].push(caller),
                _ => written |= self.written_at(access),
            });
            self.written[caller] = written;
        }
        let mut open: Vec<usize> = (0..callers.len()).collect();
        while let Some(callee) = open.pop() {
            for &caller in &callers[callee] {
                let written = self.written[caller] | self.written[callee];
                if self.written[caller] != written {
                    self.written[caller] = written;
                    open.push(caller);
                }
            }
        }
    }
}

/// What the conditions of a program read, each with its component (none at the top level).
fn conditions(program: &Program) -> Vec<(Option<ComponentId>, Reads)> {
    let mut conditions = Conditions { program, component: None, found: Vec::new() };
    for (index, component) in program.components.iter().enumerate() {
        conditions.component = Some(ComponentId(index as u32));
        component.blocks().for_each(|body| walk::block(&mut conditions, body));
    }
    for procedure in &program.procedures {
        conditions.component = procedure.component;
        walk::block(&mut conditions, &procedure.body);
    }
    conditions.found
}

struct Conditions<'a> {
    program: &'a Program,
    component: Option<ComponentId>,
    found: Vec<(Option<ComponentId>, Reads)>,
}

impl Conditions<'_> {
    fn find(&mut self, condition: &Expression) {
        self.found.push((self.component, Reads::of(self.program, condition)));
    }
}

impl Visitor for Conditions<'_> {
    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Await(condition) => self.find(condition),
            StatementKind::Select(alternatives) => {
                for alternative in alternatives {
                    if let Alternative::Await(condition, _) = alternative {
                        self.find(condition);
                    }
                }
            }
            _ => {}
        }
    }

    fn expression(&mut self, expression: &Expression) {
        if let ExpressionKind::Await(condition, _) = &expression.kind {
            self.find(condition);
        }
    }
}

/// What a condition reads of its component.
#[derive(Default)]
struct Reads {
    /// Variables and whole collections.
    whole: BTreeSet<VariableId>,
    /// Collections of which it reads elements that it can name.
    elements: BTreeSet<VariableId>,
    /// It uses something of the process's own.
    own: bool,
    /// It may become true without a write, or a program can see that it is tested.
    always: bool,
    /// Testing it changes something.
    changes: bool,
}

impl Reads {
    fn of(program: &Program, condition: &Expression) -> Reads {
        let mut reads = Reads::default();
        let (mut reached, mut open, mut elements) = (HashSet::new(), Vec::new(), Vec::new());
        let mut restless = Restless(false);
        walk::expression(&mut restless, condition);
        accesses::walk_expression(condition, &mut |access| match access.event {
            Event::Call(procedure) => open.push(procedure),
            Event::Read(variable) if is_element_of_component(program, variable) => elements.push(variable),
            event => reads.add(program, None, event),
        });
        while let Some(procedure) = open.pop() {
            if reached.insert(procedure) {
                let Procedure { owner, body, .. } = &program.procedures[procedure.index()];
                reads.own |= matches!(owner, Owner::Procedure(_) | Owner::Implementation(..));
                walk::block(&mut restless, body);
                accesses::walk(body, None, &mut |access| match access.event {
                    Event::Call(procedure) => open.push(procedure),
                    event => reads.add(program, Some(procedure), event),
                });
            }
        }
        reads.always |= restless.0;
        // Who awaits what is common to all is tested once for all, and so doesn't tell elements apart.
        if reads.own && elements.len() <= WATCHED {
            reads.elements.extend(elements);
        } else {
            reads.whole.extend(elements);
        }
        reads
    }

    /// Something that the condition does itself, or in a procedure.
    fn add(&mut self, program: &Program, within: Option<ProcedureId>, event: Event) {
        let (variable, is_read) = match event {
            Event::Read(variable) => (variable, true),
            Event::Write(variable) | Event::Replace(variable) | Event::Pass(variable) => (variable, false),
            _ => return,
        };
        let declared = &program.variables[variable.index()];
        match declared.owner {
            // It is there for this call only.
            Owner::Procedure(owner) if within == Some(owner) => return,
            Owner::Component(_) => _ = self.whole.insert(variable),
            _ => self.own = true,
        }
        self.changes |= !is_read;
        // Components end by themselves, and what a VARIABLE parameter stands for is known to the caller only.
        self.always |= declared.ty.is_component() || declared.parameter == Some(Passing::Reference);
    }
}

/// Whether a variable, of which an expression reads an element if it is a collection, is one of the component that
/// holds no components.
fn is_element_of_component(program: &Program, variable: VariableId) -> bool {
    let declared = &program.variables[variable.index()];
    declared.collection.is_some()
        && matches!(declared.owner, Owner::Component(_))
        && !declared.ty.is_component()
}

/// Finds what changes by itself, and what can be seen from outside.
struct Restless(bool);

impl Visitor for Restless {
    fn statement(&mut self, statement: &Statement) {
        use StatementKind::*;
        self.0 |= matches!(statement.kind, Write(_) | WriteHex(_) | WriteLine | Halt(_));
    }

    fn expression(&mut self, expression: &Expression) {
        use ExpressionKind::*;
        self.0 |= matches!(
            expression.kind,
            Count(_) | Builtin(checked::Builtin::Time | checked::Builtin::Random, _)
        );
    }
}
