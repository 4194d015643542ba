//! What a drawing shows: component templates inside one another, their interfaces, and the connections that
//! `CONNECT` statements make. How it looks is no concern of this file.

use std::collections::HashMap;

use drystone_language::program::{
    Block, Component, ComponentId, ConnectEnd, Facet, InterfaceId, Owner, Place, PlaceKind, Program,
    Statement, StatementKind, Type, VariableId,
};
use drystone_language::source::{SourceFile, Span};

/// The whole program.
pub struct Picture {
    /// First the templates, with the indices that they have in the program.
    pub boxes: Vec<Template>,
    /// Each once, in the order of the text.
    pub connections: Vec<Connection>,
}

/// A component template; or a variable whose component may be of any that fits.
pub struct Template {
    /// What is written on it.
    pub name: String,
    /// The one around it.
    pub parent: Option<usize>,
    /// Whether any template may be in its place.
    pub any: bool,
    /// Interfaces that it offers.
    pub offers: Vec<Interface>,
    /// Interfaces that it requires.
    pub requires: Vec<Interface>,
}

/// An offered or required interface.
pub struct Interface {
    id: InterfaceId,
    /// Its name, with the cardinality.
    pub name: String,
}

/// From the client to the server; from an own offered interface inward; from the inside to an own required one.
pub struct Connection {
    /// Where the client's messages come from.
    pub from: Port,
    /// Where they go.
    pub to: Port,
    /// The first statement that makes it: file and line.
    pub place: String,
}

/// One interface of one box.
#[derive(Clone, Copy, PartialEq)]
pub struct Port {
    /// Index into [`Picture::boxes`].
    pub owner: usize,
    /// Which list.
    pub side: Side,
    /// Index into that.
    pub index: usize,
}

/// Offered or required.
#[derive(Clone, Copy, PartialEq)]
pub enum Side {
    /// Offered.
    Offered,
    /// Required.
    Required,
}

impl Picture {
    /// The picture of a program.
    pub fn of(program: &Program, files: &[SourceFile]) -> Picture {
        let boxes = program.components.iter().map(|component| template(program, component)).collect();
        let picture = Picture { boxes, connections: Vec::new() };
        let mut finder = Finder { program, files, picture, variables: HashMap::new() };
        for (index, component) in program.components.iter().enumerate() {
            let own = [&component.begin, &component.activity, &component.finally].into_iter().flatten();
            let services = component.implementations.iter().map(|implementation| &implementation.body);
            let id = ComponentId(index as u32);
            let procedures = program.procedures.iter().filter(|procedure| procedure.component == id);
            for block in services.chain(procedures.map(|procedure| &procedure.body)).chain(own) {
                finder.block(index, block);
            }
        }
        finder.picture
    }

    /// The boxes directly inside a box, or outermost.
    pub fn inside(&self, parent: Option<usize>) -> impl Iterator<Item = usize> {
        (0..self.boxes.len()).filter(move |&index| self.boxes[index].parent == parent)
    }
}

fn template(program: &Program, component: &Component) -> Template {
    Template {
        name: component.name.clone(),
        parent: component.outer.map(ComponentId::index),
        any: false,
        offers: interfaces(program, &component.offers),
        requires: interfaces(program, &component.requires),
    }
}

fn interfaces(program: &Program, facets: &[Facet]) -> Vec<Interface> {
    facets.iter().map(|facet| interface(program, facet)).collect()
}

fn interface(program: &Program, facet: &Facet) -> Interface {
    let mut name = program.interfaces[facet.interface.index()].name.clone();
    if let Some(cardinality) = facet.cardinality {
        let to = cardinality.to.map_or("*".to_string(), |to| to.to_string());
        name += &format!("[{}..{to}]", cardinality.from);
    }
    Interface { id: facet.interface, name }
}

/// Looks for `CONNECT` statements.
struct Finder<'a> {
    program: &'a Program,
    files: &'a [SourceFile],
    picture: Picture,
    /// Boxes of variables that hold any component.
    variables: HashMap<VariableId, usize>,
}

impl Finder<'_> {
    fn block(&mut self, component: usize, block: &Block) {
        for Statement { kind, span } in &block.statements {
            match kind {
                StatementKind::Connect(client, server) => {
                    let from = self.port(component, client, Side::Required);
                    let to = self.port(component, server, Side::Offered);
                    self.connection(from, to, *span);
                }
                StatementKind::If(cases, rest) => {
                    cases
                        .iter()
                        .map(|(_, block)| block)
                        .chain(rest)
                        .for_each(|block| self.block(component, block));
                }
                StatementKind::While(_, body)
                | StatementKind::Repeat(body, _)
                | StatementKind::For { body, .. }
                | StatementKind::Foreach { body, .. }
                | StatementKind::Block(body) => self.block(component, body),
                _ => {}
            }
        }
    }

    fn connection(&mut self, from: Port, to: Port, span: Span) {
        if !self.picture.connections.iter().any(|known| known.from == from && known.to == to) {
            let file = &self.files[span.file as usize];
            let place = format!("{}:{}", file.path, file.line_column(span.start).0);
            self.picture.connections.push(Connection { from, to, place });
        }
    }

    /// `side`: of an interface of another component.
    fn port(&mut self, component: usize, end: &ConnectEnd, side: Side) -> Port {
        match end {
            ConnectEnd::Of { component: place, interface, .. } => self.of(place, *interface, side),
            ConnectEnd::OwnOffered(index) => Port { owner: component, side: Side::Offered, index: *index },
            ConnectEnd::OwnRequired(index, _) => {
                Port { owner: component, side: Side::Required, index: *index }
            }
        }
    }

    fn of(&mut self, place: &Place, interface: InterfaceId, side: Side) -> Port {
        let owner = match &place.ty {
            Type::Component(id) => id.index(),
            _ => self.variable(place),
        };
        let template = &mut self.picture.boxes[owner];
        let list = match side {
            Side::Offered => &mut template.offers,
            Side::Required => &mut template.requires,
        };
        let index = list.iter().position(|known| known.id == interface).unwrap_or_else(|| {
            // A variable's type need not name it.
            list.push(self::interface(self.program, &Facet { interface, cardinality: None }));
            list.len() - 1
        });
        Port { owner, side, index }
    }

    /// The box of the variable that holds the component.
    fn variable(&mut self, place: &Place) -> usize {
        let id = match &place.kind {
            PlaceKind::Variable(id) | PlaceKind::Element(id, _) | PlaceKind::Character(id, _) => *id,
            PlaceKind::Guarded(place) => return self.variable(place),
        };
        let variable = &self.program.variables[id.index()];
        let holder = match variable.owner {
            Owner::Component(id) | Owner::Implementation(id, _) => id,
            Owner::Procedure(id) => self.program.procedures[id.index()].component,
        };
        *self.variables.entry(id).or_insert_with(|| {
            let name = format!("{}: ANY", variable.name);
            let parent = Some(holder.index());
            self.picture.boxes.push(Template { name, parent, any: true, offers: vec![], requires: vec![] });
            self.picture.boxes.len() - 1
        })
    }
}
