//! First step: walks the trees, gives every component, procedure, variable, constant and interface its index and
//! makes its name known in its scope.

use crate::ast;
use crate::program::{
    Block, Component, ComponentId, Implementation, Owner, Passing, Procedure, ProcedureId, Type, Variable,
    VariableId,
};

use super::Checker;
use super::constants::Constant;
use super::interfaces::Declared;
use super::scopes::{ConstantId, InterfaceDeclaration, ScopeId, Symbol};

/// A component as declared.
pub(super) struct DeclaredComponent<'a> {
    pub(super) tree: &'a ast::Component,
    /// Around it.
    pub(super) around: ScopeId,
    /// Its own.
    pub(super) scope: ScopeId,
    pub(super) implementations: Vec<(&'a ast::Implementation, ScopeId)>,
    /// Declared outside every component.
    pub(super) top_level: bool,
    /// Some interface in its header is not known: what is missing there is not reported again.
    pub(super) incomplete: bool,
    /// Some part of it could not be read: what it seems to lack may be there.
    pub(super) lost: bool,
}

/// A procedure as declared.
pub(super) struct DeclaredProcedure<'a> {
    pub(super) tree: &'a ast::Procedure,
    /// Its own scope.
    pub(super) scope: ScopeId,
}

/// A variable or parameter as declared.
pub(super) struct DeclaredVariable<'a> {
    pub(super) name: &'a ast::Name,
    pub(super) ty: &'a ast::Type,
    pub(super) indices: Option<&'a [ast::Section]>,
    pub(super) attributes: &'a [ast::Name],
    pub(super) scope: ScopeId,
}

impl<'a> Checker<'a> {
    /// Declares what is at the top level of a file.
    pub(super) fn declare_file(&mut self, scope: ScopeId, file: &'a ast::File) {
        for item in &file.items {
            self.declare_item(scope, None, item);
        }
    }

    fn declare_item(&mut self, scope: ScopeId, owner: Option<Owner>, item: &'a ast::Declaration) {
        match (item, owner) {
            (ast::Declaration::Component(tree), _) => self.declare_component(scope, owner, tree),
            (ast::Declaration::Interface(tree), _) => {
                let declaration = InterfaceDeclaration(self.interface_declarations.len());
                self.interface_declarations.push(Declared::new(tree, scope));
                self.declare_interface(scope, &tree.name, declaration);
            }
            (ast::Declaration::Constant(tree), _) => {
                let constant = ConstantId(self.constants.len());
                self.constants.push(Constant::new(tree, scope));
                self.declare(scope, &tree.name, Symbol::Constant(constant));
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
                    let variable = self.declare_variable(owner, None, declared);
                    match owner {
                        Owner::Component(id) => self.program.components[id.index()].variables.push(variable),
                        Owner::Implementation(id, implementation) => {
                            let component = &mut self.program.components[id.index()];
                            component.implementations[implementation].variables.push(variable);
                        }
                        Owner::Procedure(id) => self.program.procedures[id.index()].variables.push(variable),
                        Owner::Program => unreachable!("variables do not stand at the top level"),
                    }
                }
            }
            (ast::Declaration::Procedure(tree), owner) => {
                self.declare_procedure(scope, owner.unwrap_or(Owner::Program), tree);
            }
            (ast::Declaration::Implementation(tree), Some(Owner::Component(component))) => {
                self.declare_implementation(scope, component, tree);
            }
            (ast::Declaration::Lost(names), owner) => {
                names.iter().for_each(|name| self.lose(scope, name));
                match owner {
                    Some(owner) => self.lose_part(owner),
                    None => self.lost_component = true,
                }
            }
            // The parser lets none of these stand there.
            (ast::Declaration::Variables(_), None) | (ast::Declaration::Implementation(_), _) => (),
        }
    }

    fn declare_component(&mut self, around: ScopeId, owner: Option<Owner>, tree: &'a ast::Component) {
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
        let scope = self.new_scope(Some(around), true);
        self.components.push(DeclaredComponent {
            tree,
            around,
            scope,
            implementations: Vec::new(),
            top_level: owner.is_none(),
            incomplete: false,
            lost: [&tree.begin, &tree.activity, &tree.finally].into_iter().flatten().any(|block| block.lost),
        });
        self.declare(around, &tree.name, Symbol::Template(id));
        for item in &tree.declarations {
            self.declare_item(scope, Some(Owner::Component(id)), item);
        }
    }

    fn declare_implementation(
        &mut self,
        around: ScopeId,
        component: ComponentId,
        tree: &'a ast::Implementation,
    ) {
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
        let scope = self.new_scope(Some(around), false);
        self.components[component.index()].implementations.push((tree, scope));
        if tree.body.iter().chain(&tree.finally).any(|block| block.lost) {
            self.lose_part(owner);
        }
        for item in &tree.declarations {
            self.declare_item(scope, Some(owner), item);
        }
    }

    fn declare_procedure(&mut self, around: ScopeId, owner: Owner, tree: &'a ast::Procedure) {
        let id = ProcedureId(self.program.procedures.len() as u32);
        self.program.procedures.push(Procedure {
            name: tree.name.text.clone(),
            span: tree.name.span,
            owner,
            component: self.component_of(owner),
            parameters: Vec::new(),
            result: None,
            variables: Vec::new(),
            body: Block::default(),
        });
        let scope = self.new_scope(Some(around), false);
        self.procedures.push(DeclaredProcedure { tree, scope });
        if tree.body.as_ref().is_some_and(|body| body.lost) {
            self.lose_part(owner);
        }
        self.declare(around, &tree.name, Symbol::Procedure(id));
        let inside = Owner::Procedure(id);
        for formal in &tree.formals {
            let passing = if formal.variable { Passing::Reference } else { Passing::Value };
            for name in &formal.names {
                let declared =
                    DeclaredVariable { name, ty: &formal.ty, indices: None, attributes: &[], scope };
                let parameter = self.declare_variable(inside, Some(passing), declared);
                self.program.procedures[id.index()].parameters.push(parameter);
            }
        }
        for item in &tree.declarations {
            self.declare_item(scope, Some(inside), item);
        }
    }

    fn declare_variable(
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
        self.declare(declared.scope, declared.name, Symbol::Variable(id));
        self.variables.push(declared);
        id
    }

    /// Something in a component could not be read.
    fn lose_part(&mut self, owner: Owner) {
        if let Some(component) = self.component_of(owner) {
            self.components[component.index()].lost = true;
        }
    }

    /// The component in which something is declared, if it is in one.
    pub(super) fn component_of(&self, owner: Owner) -> Option<ComponentId> {
        match owner {
            Owner::Program => None,
            Owner::Component(id) | Owner::Implementation(id, _) => Some(id),
            Owner::Procedure(id) => self.program.procedures[id.index()].component,
        }
    }
}
