//! What the check of statements and expressions keeps while it walks through a body. The files that check one kind of
//! statement or expression add methods to [`BodyChecker`]. They read the definitions, report errors, ask what a name
//! means here, and can change nothing else but through the methods below.

use std::collections::HashSet;

use crate::ast;
use crate::program::{
    ComponentId, Composite, CompositeId, ExpressionKind, Facet, InterfaceId, Owner, ProcedureId, Type,
    Variable, VariableId,
};
use crate::source::{Diagnostic, Span};

use super::definitions::Definitions;
use super::diagnostics::Diagnostics;
use super::scopes::Found;
use super::symbols::{ConstantId, InterfaceDeclaration, ScopeId, Symbol};

/// How many statements and expressions, and constants that need one another, may stand in one another: far more
/// than anyone writes, few enough for the stack.
const DEEPEST: usize = 1000;

/// Checks bodies, and the constants that they use.
pub(super) struct BodyChecker<'c> {
    /// All definitions of the program.
    pub(super) known: &'c Definitions<'c>,
    /// Whether crates may bring factories and schemes of names that are not known here.
    pub(super) beside_crates: bool,
    diagnostics: &'c mut Diagnostics,
    context: Context,
    depth: usize,
    constants: Vec<Constant>,
    findings: Findings,
}

/// What is found out about the program by checking its bodies.
#[derive(Default)]
pub(super) struct Findings {
    /// The blocks that may be shipped.
    pub(super) composites: Vec<Composite>,
    /// Components of which something is left out.
    pub(super) doubtful: HashSet<ComponentId>,
    /// Constants that something mentions.
    pub(super) used_constants: HashSet<ConstantId>,
    /// The variables of branches; their numbers follow those of all that are declared.
    pub(super) variables: Vec<Variable>,
}

/// Where the statement or expression stands that is being checked.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    pub(super) scope: ScopeId,
    /// The component around it; absent in what stands at the top level of a file.
    pub(super) component: Option<ComponentId>,
    /// The implementation around it.
    pub(super) service: Service,
    /// Whose body it is; absent in a constant.
    pub(super) owner: Option<Owner>,
    /// The variables of the branches around it, the innermost last.
    pub(super) bound: Vec<Bound>,
    /// How many loops are around it.
    pub(super) loops: usize,
    /// A `RETURN` was seen.
    pub(super) returns: bool,
    /// Own offered interfaces (index into `offers`) that were connected inward, and where.
    pub(super) connected_inward: Vec<(usize, Span)>,
}

/// A variable of a branch, which hides others of its name.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    pub(super) id: VariableId,
    /// Where the branch declares it.
    pub(super) span: Span,
    /// How many loops are around the branch.
    pub(super) loops: usize,
}

/// Which communication a bare `!M` uses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Service {
    /// Not in an implementation.
    #[default]
    None,
    /// In the implementation of this interface.
    Of(InterfaceId),
    /// In an implementation of something that is not offered, which was reported.
    Unknown,
}

/// How far the evaluation of a constant is.
#[derive(Clone)]
pub(super) enum Constant {
    /// Not begun.
    New,
    /// It is needed for its own value, unless this ends first.
    Running,
    /// Done; `None` if its value could not be made out.
    Known(Option<ExpressionKind>),
}

impl<'c> BodyChecker<'c> {
    pub(super) fn new(
        known: &'c Definitions<'c>,
        beside_crates: bool,
        diagnostics: &'c mut Diagnostics,
    ) -> Self {
        let constants = vec![Constant::New; known.declared.constants.len()];
        let (context, depth, findings) = Default::default();
        BodyChecker { known, beside_crates, diagnostics, context, depth, constants, findings }
    }

    /// What was found out besides the bodies.
    pub(super) fn findings(self) -> Findings {
        self.findings
    }
}

/// Errors.
impl BodyChecker<'_> {
    pub(super) fn report(&mut self, error: Diagnostic) {
        self.diagnostics.report(error);
    }

    /// The number of errors so far.
    pub(super) fn reported(&self) -> usize {
        self.diagnostics.count()
    }

    /// Replaces the help of the only error since there were `reported`, if it has this code.
    pub(super) fn explain(&mut self, reported: usize, code: &str, help: &str) {
        self.diagnostics.explain(reported, code, help);
    }

    /// Reports an attribute that means nothing where it stands.
    pub(super) fn unknown_attribute(&mut self, attribute: &ast::Name, help: &str) {
        self.diagnostics.unknown_attribute(attribute, help);
    }

    /// Reports an interface of the component that its header does not offer.
    pub(super) fn not_offered(&mut self, component: ComponentId, name: &ast::Name) {
        self.known.not_offered(component, name, self.diagnostics);
    }

    /// Reports a name that is declared again.
    pub(super) fn duplicate(&mut self, name: &ast::Name, earlier: Span) {
        self.diagnostics.duplicate(name, earlier, "already declared here as a variable".into());
    }

    /// Something of the component around the present place is left out.
    pub(super) fn doubt(&mut self) {
        self.findings.doubtful.extend(self.context.component);
    }
}

/// Names, as seen from here.
impl BodyChecker<'_> {
    /// What a name means; reports nothing.
    pub(super) fn lookup(&self, name: &ast::Name) -> Found {
        if let Some(bound) = self.bound_by_name(name) {
            return Found::Symbol(Symbol::Variable(bound.id), bound.span);
        }
        self.known.scopes.lookup(self.context.scope, name)
    }

    /// What a name means; an error if nothing.
    pub(super) fn symbol(&mut self, name: &ast::Name) -> Option<(Symbol, Span)> {
        if let Some(bound) = self.bound_by_name(name) {
            return Some((Symbol::Variable(bound.id), bound.span));
        }
        self.known.symbol(self.context.scope, name, self.diagnostics)
    }

    /// The variable of that name of a branch around this place.
    fn bound_by_name(&self, name: &ast::Name) -> Option<&Bound> {
        self.context.bound.iter().rev().find(|bound| self.variable(bound.id).name == name.text)
    }

    /// A variable, also of a branch.
    pub(super) fn variable(&self, id: VariableId) -> &Variable {
        let declared = &self.known.program.variables;
        declared.get(id.index()).unwrap_or_else(|| &self.findings.variables[id.index() - declared.len()])
    }

    /// The declaration of an interface; reports nothing.
    pub(super) fn find_interface(&self, name: &ast::Name) -> Option<(InterfaceDeclaration, Span)> {
        self.known.scopes.find_interface(self.context.scope, name)
    }

    /// An interface by name alone; an error if there is none.
    pub(super) fn interface_in_scope(&mut self, name: &ast::Name) -> Option<InterfaceId> {
        let found = self.find_interface(name);
        if found.is_none() {
            self.known.unknown_interface(self.context.scope, name, self.diagnostics);
        }
        found.map(|(declaration, _)| self.known.declared.interface(declaration))
    }

    /// The type that a bare name stands for, if it does for one; reports nothing.
    pub(super) fn type_by_name(&self, name: &ast::Name) -> Option<Type> {
        if self.bound_by_name(name).is_some() {
            return None;
        }
        self.known.type_by_name(self.context.scope, name)
    }

    /// The type that is written, if it makes sense.
    pub(super) fn resolve_type(&mut self, ty: &ast::Type) -> Option<Type> {
        self.known.resolve_type(self.context.scope, ty, self.diagnostics)
    }

    /// Facets as written, and whether all their interfaces are known.
    pub(super) fn resolve_facets(&mut self, facets: &[ast::Facet]) -> (Vec<Facet>, bool) {
        self.known.resolve_facets(&[self.context.scope], facets, self.diagnostics)
    }
}

/// The place that is being checked.
impl BodyChecker<'_> {
    /// The component around it.
    pub(super) fn component(&self) -> Option<ComponentId> {
        self.context.component
    }

    /// The communication that a bare `!M` uses.
    pub(super) fn service(&self) -> Service {
        self.context.service
    }

    /// The procedure around it.
    pub(super) fn procedure(&self) -> Option<ProcedureId> {
        match self.context.owner {
            Some(Owner::Procedure(id)) => Some(id),
            _ => None,
        }
    }

    /// Declares variables for a branch, checks it, and gives the variables. Branches that are not within one another
    /// share a variable of the same name and type.
    pub(super) fn in_branch<T>(
        &mut self,
        variables: impl IntoIterator<Item = (ast::Name, Type)>,
        check: impl FnOnce(&mut Self, &[VariableId]) -> T,
    ) -> T {
        let before = self.context.bound.len();
        let mut ids = Vec::new();
        for (name, ty) in variables {
            let id = self.branch_variable(&name, ty);
            self.context.bound.push(Bound { id, span: name.span, loops: self.context.loops });
            ids.push(id);
        }
        let checked = check(self, &ids);
        self.context.bound.truncate(before);
        checked
    }

    fn branch_variable(&mut self, name: &ast::Name, ty: Type) -> VariableId {
        let owner = self.context.owner.expect("a statement stands in a body");
        let declared = self.known.program.variables.len();
        let is_free = |id: VariableId| self.context.bound.iter().all(|bound| bound.id != id);
        let mut known = self
            .findings
            .variables
            .iter()
            .enumerate()
            .map(|(index, variable)| (VariableId((declared + index) as u32), variable));
        let alike =
            known.find(|(id, it)| it.owner == owner && it.name == name.text && it.ty == ty && is_free(*id));
        if let Some((id, _)) = alike {
            return id;
        }
        let (text, span) = (name.text.clone(), name.span);
        self.findings.variables.push(Variable {
            name: text,
            span,
            ty,
            collection: None,
            owner,
            parameter: None,
        });
        VariableId((declared + self.findings.variables.len() - 1) as u32)
    }

    /// The variables of the branches around this place that are within the innermost loop.
    pub(super) fn bound_in_loop(&self) -> Vec<VariableId> {
        let within = self.context.bound.iter().filter(|bound| bound.loops == self.context.loops);
        within.map(|bound| bound.id).collect()
    }

    /// The variables of all branches around this place.
    pub(super) fn all_bound(&self) -> Vec<VariableId> {
        self.context.bound.iter().map(|bound| bound.id).collect()
    }

    /// What `check` checks is repeated by a loop.
    pub(super) fn in_loop<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> T {
        self.context.loops += 1;
        let checked = check(self);
        self.context.loops -= 1;
        checked
    }

    /// Whether a loop repeats what is checked here.
    pub(super) fn is_in_loop(&self) -> bool {
        self.context.loops > 0
    }

    /// Notes that there is a RETURN.
    pub(super) fn returns(&mut self) {
        self.context.returns = true;
    }

    /// Notes that an own offered interface is connected inward.
    pub(super) fn connects_inward(&mut self, offered: usize, span: Span) {
        self.context.connected_inward.push((offered, span));
    }

    /// Checks something at another place of the program. Gives what was noted there, too.
    pub(super) fn elsewhere<T>(
        &mut self,
        context: Context,
        what: impl FnOnce(&mut Self) -> T,
    ) -> (T, Context) {
        let here = std::mem::replace(&mut self.context, context);
        let result = what(self);
        (result, std::mem::replace(&mut self.context, here))
    }

    /// Checks something one level deeper; an error instead if that is too deep.
    pub(super) fn deeper<T>(&mut self, span: Span, what: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth == DEEPEST {
            if !self.diagnostics.contains("nesting-too-deep") {
                let error = Diagnostic::new("nesting-too-deep", span, "this is nested too deeply")
                    .label(format!("more than {DEEPEST} levels"))
                    .help("split it: name parts of it, or use a procedure");
                self.report(error);
            }
            return None;
        }
        self.depth += 1;
        let result = what(self);
        self.depth -= 1;
        result
    }
}

/// What bodies use and make.
impl BodyChecker<'_> {
    /// How far the evaluation of a constant is.
    pub(super) fn constant(&mut self, id: ConstantId) -> &mut Constant {
        &mut self.constants[id.0]
    }

    /// Notes that something mentions a constant.
    pub(super) fn uses_constant(&mut self, id: ConstantId) {
        self.findings.used_constants.insert(id);
    }

    /// Adds a block that may be shipped.
    pub(super) fn add_composite(&mut self, composite: Composite) -> CompositeId {
        self.findings.composites.push(composite);
        CompositeId(self.findings.composites.len() as u32 - 1)
    }
}
