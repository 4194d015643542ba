//! First step: walks the trees, gives every component, procedure, variable, constant and interface its index and
//! makes its name known in its scope.

use crate::ast;
use crate::program::{
    Block, Component, ComponentId, Implementation, InterfaceId, Owner, Passing, Procedure, ProcedureId,
    Program, Record, RecordId, Type, Variable, VariableId,
};

use super::declarations::{
    Declarations, DeclaredComponent, DeclaredConstant, DeclaredInterface, DeclaredProcedure, DeclaredRecord,
    DeclaredVariable,
};
use super::definitions::Definitions;
use super::diagnostics::Diagnostics;
use super::predeclared::NAMES;
use super::scopes::Scopes;
use super::symbols::{ConstantId, InterfaceDeclaration, ScopeId, Symbol};

/// Declares the predeclared names and the interfaces of the system, in the outermost scope.
pub(super) fn predeclared<'a>(
    definitions: &mut Definitions<'a>,
    system: &'a ast::File,
    diagnostics: &mut Diagnostics,
) {
    definitions.scopes.add(None);
    for &(name, meaning) in NAMES {
        definitions.scopes.predeclare(name, meaning);
    }
    file(definitions, ScopeId::PREDECLARED, system, diagnostics);
}

/// Declares what is at the top level of a file.
pub(super) fn file<'a>(
    definitions: &mut Definitions<'a>,
    scope: ScopeId,
    file: &'a ast::File,
    diagnostics: &mut Diagnostics,
) {
    let Definitions { program, scopes, declared, .. } = definitions;
    let mut declarer = Declarer { program, scopes, declared, diagnostics };
    for item in &file.items {
        declarer.item(scope, None, item);
    }
}

/// What declaring adds to.
struct Declarer<'d, 'a> {
    program: &'d mut Program,
    scopes: &'d mut Scopes<'a>,
    declared: &'d mut Declarations<'a>,
    diagnostics: &'d mut Diagnostics,
}

impl<'a> Declarer<'_, 'a> {
    fn item(&mut self, scope: ScopeId, owner: Option<Owner>, item: &'a ast::Declaration) {
        match (item, owner) {
            (ast::Declaration::Component(tree), _) => self.component(scope, owner, tree),
            (ast::Declaration::Interface(tree), _) => {
                let declaration = InterfaceDeclaration(self.declared.interfaces.len());
                self.declared.interfaces.push(DeclaredInterface { tree, scope, id: InterfaceId(u32::MAX) });
                self.scopes.declare_interface(scope, &tree.name, declaration, self.diagnostics);
            }
            (ast::Declaration::Constant(tree), _) => {
                let constant = ConstantId(self.declared.constants.len());
                self.declared.constants.push(DeclaredConstant { tree, scope });
                self.scopes.declare(scope, &tree.name, Symbol::Constant(constant), self.diagnostics);
            }
            (ast::Declaration::Record(tree), _) => {
                let id = RecordId(self.program.records.len() as u32);
                let (name, span) = (tree.name.text.clone(), tree.name.span);
                self.program.records.push(Record { name, span, fields: Vec::new() });
                self.declared.records.push(DeclaredRecord { tree, scope, id });
                self.scopes.declare(scope, &tree.name, Symbol::Record(id), self.diagnostics);
            }
            (ast::Declaration::Variables(tree), Some(owner)) => {
                for (name, indices) in &tree.variables {
                    let declared = DeclaredVariable {
                        name,
                        ty: &tree.ty,
                        indices: indices.as_deref(),
                        attributes: &tree.attributes,
                        scope,
                    };
                    let variable = self.variable(owner, None, declared);
                    self.program.variables_of(owner).push(variable);
                }
            }
            (ast::Declaration::Procedure(tree), owner) => {
                self.procedure(scope, owner.unwrap_or(Owner::Program), tree);
            }
            (ast::Declaration::Implementation(tree), Some(Owner::Component(component))) => {
                self.implementation(scope, component, tree);
            }
            (ast::Declaration::Lost(names), owner) => {
                names.iter().for_each(|name| self.scopes.lose(scope, name));
                match owner {
                    Some(owner) => self.lose_part(owner),
                    None => self.declared.lost_component = true,
                }
            }
            // The parser lets none of these stand there.
            (ast::Declaration::Variables(_), None) | (ast::Declaration::Implementation(_), _) => (),
        }
    }

    fn component(&mut self, around: ScopeId, owner: Option<Owner>, tree: &'a ast::Component) {
        let id = ComponentId(self.program.components.len() as u32);
        self.program.components.push(Component {
            name: tree.name.text.clone(),
            span: tree.name.span,
            outer: owner.and_then(|owner| self.component_of(owner)),
            isolated: false,
            virtual_time: false,
            native: tree.native.as_ref().map(|native| native.path.clone()),
            offers: Vec::new(),
            requires: Vec::new(),
            variables: Vec::new(),
            implementations: Vec::new(),
            begin: None,
            activity: None,
            finally: None,
        });
        let scope = self.scopes.add_component(around);
        self.declared.components.push(DeclaredComponent {
            tree,
            around,
            scope,
            implementations: Vec::new(),
            top_level: owner.is_none(),
            lost: [&tree.begin, &tree.activity, &tree.finally].into_iter().flatten().any(|block| block.lost),
        });
        self.scopes.declare(around, &tree.name, Symbol::Template(id), self.diagnostics);
        for item in &tree.declarations {
            self.item(scope, Some(Owner::Component(id)), item);
        }
    }

    fn implementation(&mut self, around: ScopeId, component: ComponentId, tree: &'a ast::Implementation) {
        let implementations = &mut self.program.components[component.index()].implementations;
        let owner = Owner::Implementation(component, implementations.len());
        implementations.push(Implementation {
            offered: usize::MAX,
            span: tree.name.span,
            handler: false,
            variables: Vec::new(),
            body: Block::default(),
            finally: None,
        });
        let scope = self.scopes.add(Some(around));
        self.declared.components[component.index()].implementations.push((tree, scope));
        if tree.body.iter().chain(&tree.finally).any(|block| block.lost) {
            self.lose_part(owner);
        }
        for item in &tree.declarations {
            self.item(scope, Some(owner), item);
        }
    }

    fn procedure(&mut self, around: ScopeId, owner: Owner, tree: &'a ast::Procedure) {
        let id = ProcedureId(self.program.procedures.len() as u32);
        self.program.procedures.push(Procedure {
            name: tree.name.text.clone(),
            native: None,
            span: tree.name.span,
            owner,
            component: self.component_of(owner),
            parameters: Vec::new(),
            result: None,
            variables: Vec::new(),
            body: Block::default(),
        });
        let scope = self.scopes.add(Some(around));
        self.declared.procedures.push(DeclaredProcedure { tree, scope });
        if tree.body.as_ref().is_some_and(|body| body.lost) {
            self.lose_part(owner);
        }
        self.scopes.declare(around, &tree.name, Symbol::Procedure(id), self.diagnostics);
        let inside = Owner::Procedure(id);
        for formal in &tree.formals {
            let passing = if formal.variable { Passing::Reference } else { Passing::Value };
            for name in &formal.names {
                let declared =
                    DeclaredVariable { name, ty: &formal.ty, indices: None, attributes: &[], scope };
                let parameter = self.variable(inside, Some(passing), declared);
                self.program.procedures[id.index()].parameters.push(parameter);
            }
        }
        for item in &tree.declarations {
            self.item(scope, Some(inside), item);
        }
    }

    fn variable(
        &mut self,
        owner: Owner,
        parameter: Option<Passing>,
        declared: DeclaredVariable<'a>,
    ) -> VariableId {
        let id = VariableId(self.program.variables.len() as u32);
        self.program.variables.push(Variable {
            name: declared.name.text.clone(),
            span: declared.name.span,
            ty: Type::Integer,
            collection: None,
            owner,
            parameter,
        });
        self.scopes.declare(declared.scope, declared.name, Symbol::Variable(id), self.diagnostics);
        self.declared.variables.push(declared);
        id
    }

    /// Something in a component could not be read.
    fn lose_part(&mut self, owner: Owner) {
        if let Some(component) = self.component_of(owner) {
            self.declared.components[component.index()].lost = true;
        }
    }

    /// The component in which something is declared, if it is in one.
    fn component_of(&self, owner: Owner) -> Option<ComponentId> {
        match owner {
            Owner::Program => None,
            Owner::Component(id) | Owner::Implementation(id, _) => Some(id),
            Owner::Procedure(id) => self.program.procedures[id.index()].component,
        }
    }
}
