//! The picture of a program's text: the component that starts, the templates that its variables hold, and so on inward,
//! with their interfaces and the connections that `CONNECT` and `EXPORT` statements make.
//!
//! A box stands for all variables of one component that hold the same template. The inside of a template is shown once,
//! in the first of its boxes, so that recursive templates end. A name is a box as well, beside the components that are
//! connected to it or exported by it.

use std::collections::{HashMap, HashSet, VecDeque};

use drystone_language::program::{
    AnyType, Block, ComponentId, ConnectEnd, Expression, ExpressionKind, Facet, InterfaceId, Owner, Place,
    Program, Statement, StatementKind, Type, Variable, VariableId,
};
use drystone_language::source::{SourceFile, Span};

use super::picture::{Component, Connection, Interface, Picture, Port, Side};

/// The picture of a program.
pub fn picture(program: &Program, files: &[SourceFile]) -> Picture {
    let mut painter = Painter { program, files, picture: Picture::default(), inside: HashMap::new() };
    let mut shown = HashSet::new();
    let mut waiting = VecDeque::new();
    // The component that starts, then those that nothing holds; components of imported files alone aren't the
    // program's.
    let all = (0..program.components.len() as u32).map(ComponentId);
    let own = all.filter(|id| !program.imported.contains(&program.components[id.index()].span.file));
    for id in program.entry.into_iter().chain(own) {
        if !shown.contains(&id) {
            let component = &program.components[id.index()];
            waiting.push_back((id, painter.add(component.name.clone(), None, &Type::Component(id))));
        }
        while let Some((id, index)) = waiting.pop_front() {
            if shown.insert(id) {
                waiting.extend(painter.look_inside(id, index));
            }
        }
    }
    painter.picture
}

/// What an inner box stands for.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Held {
    /// All variables of the template.
    Template(ComponentId),
    /// A variable of a type that several templates fit.
    Any(VariableId),
    /// A name, as the text has it.
    Name(String),
}

struct Painter<'a> {
    program: &'a Program,
    files: &'a [SourceFile],
    picture: Picture,
    /// Boxes by the outer box and what they stand for.
    inside: HashMap<(usize, Held), usize>,
}

impl Painter<'_> {
    fn add(&mut self, name: String, parent: Option<usize>, ty: &Type) -> usize {
        let (offers, requires): (&[Facet], &[Facet]) = match ty {
            Type::Component(id) => {
                let component = &self.program.components[id.index()];
                (&component.offers, &component.requires)
            }
            Type::Any(any) => (&any.offers, any.requires.as_deref().unwrap_or_default()),
            _ => unreachable!("only components are drawn"),
        };
        let [offers, requires] = [offers, requires]
            .map(|facets| facets.iter().map(|facet| interface(self.program, facet)).collect());
        let any = matches!(ty, Type::Any(_));
        self.picture.add(Component { name, parent, any, offers, requires, ..Component::default() })
    }

    /// Shows the inside of a template; returns the boxes inside, with their templates.
    fn look_inside(&mut self, id: ComponentId, index: usize) -> Vec<(ComponentId, usize)> {
        let program = self.program;
        for (number, variable) in program.variables.iter().enumerate() {
            let owner = match variable.owner {
                Owner::Component(owner) | Owner::Implementation(owner, _) => Some(owner),
                Owner::Procedure(procedure) => program.procedures[procedure.index()].component,
                Owner::Program => None,
            };
            if owner == Some(id) && variable.parameter.is_none() && variable.ty.is_component() {
                self.hold(index, VariableId(number as u32), variable);
            }
        }
        let component = &program.components[id.index()];
        let procedures = program.procedures.iter().filter(|procedure| procedure.component == Some(id));
        for block in component.blocks().chain(procedures.map(|procedure| &procedure.body)) {
            self.block(index, block);
        }
        let inside = self.inside.iter().filter_map(|((around, held), &inner)| match held {
            Held::Template(template) if *around == index => Some((*template, inner)),
            _ => None,
        });
        let mut inside: Vec<_> = inside.collect();
        inside.sort_by_key(|&(_, inner)| inner);
        inside
    }

    /// The box of a variable; its name is added to it if it is new.
    fn hold(&mut self, around: usize, id: VariableId, variable: &Variable) -> usize {
        let (held, ty) = match &variable.ty {
            Type::Component(template) => {
                (Held::Template(*template), self.program.components[template.index()].name.as_str())
            }
            _ => (Held::Any(id), "ANY"),
        };
        let index = if variable.collection.is_some() { "[]" } else { "" };
        let name = format!("{}{index}", variable.name);
        if let Some(&known) = self.inside.get(&(around, held.clone())) {
            let names = &mut self.picture.boxes[known].name;
            let (variables, _) = names.split_once(": ").expect("it was made below");
            if !variables.split(", ").any(|known| known == name) {
                *names = format!("{variables}, {name}: {ty}");
            }
            return known;
        }
        let inner = self.add(format!("{name}: {ty}"), Some(around), &variable.ty);
        self.inside.insert((around, held), inner);
        inner
    }

    fn block(&mut self, around: usize, block: &Block) {
        for Statement { kind, span } in &block.statements {
            match kind {
                StatementKind::Bind { required, interface, name, .. } => {
                    let from = self.port(around, required, Side::Required);
                    let to = self.name_port(around, name, *interface, Side::Offered);
                    self.connection(from, to, *span);
                }
                StatementKind::Export { offered, interface, name, .. } => {
                    let from = self.name_port(around, name, *interface, Side::Required);
                    let to = self.port(around, offered, Side::Offered);
                    self.connection(from, to, *span);
                }
                StatementKind::Connect(client, server, _) => {
                    let from = self.port(around, client, Side::Required);
                    let to = self.port(around, server, Side::Offered);
                    self.connection(from, to, *span);
                }
                structured => structured.blocks().into_iter().for_each(|block| self.block(around, block)),
            }
        }
    }

    fn connection(&mut self, from: Port, to: Port, span: Span) {
        if !self.picture.connections.iter().any(|known| known.from == from && known.to == to) {
            let file = &self.files[span.file as usize];
            let location = format!("{}:{}", file.path, file.line_column(span.start).0);
            self.picture.connections.push(Connection { from, to, title: location });
        }
    }

    /// `side` is that of an inner component's interface.
    fn port(&mut self, around: usize, end: &ConnectEnd, side: Side) -> Port {
        match end {
            ConnectEnd::Of { component: place, interface, .. } => {
                self.port_inside(around, place, *interface, side)
            }
            ConnectEnd::OwnOffered(index) => Port { owner: around, side: Side::Offered, index: *index },
            ConnectEnd::OwnRequired(index, _) => Port { owner: around, side: Side::Required, index: *index },
        }
    }

    fn port_inside(&mut self, around: usize, place: &Place, id: InterfaceId, side: Side) -> Port {
        let variable = place.variable();
        let owner = self.hold(around, variable, &self.program.variables[variable.index()]);
        self.port_of(owner, id, side)
    }

    /// An interface of a name, between its clients and the component exported by it.
    fn name_port(&mut self, around: usize, name: &Expression, id: InterfaceId, side: Side) -> Port {
        let text = match &name.kind {
            ExpressionKind::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            _ => self.files[name.span.file as usize].text[name.span.start as usize..name.span.end as usize]
                .into(),
        };
        let key = (around, Held::Name(text.clone()));
        let owner = self.inside.get(&key).copied().unwrap_or_else(|| {
            let nothing = AnyType { offers: Vec::new(), requires: None };
            self.add(text, Some(around), &Type::Any(nothing))
        });
        self.inside.insert(key, owner);
        self.port_of(owner, id, side)
    }

    /// Adds the interface if it is missing: a name has none of its own, and the type of a variable for any component
    /// need not list it.
    fn port_of(&mut self, owner: usize, id: InterfaceId, side: Side) -> Port {
        let interface = interface(self.program, &Facet { interface: id, cardinality: None });
        self.picture.port(owner, side, interface)
    }
}

fn interface(program: &Program, facet: &Facet) -> Interface {
    let mut name = program.interfaces[facet.interface.index()].name.clone();
    if let Some(cardinality) = facet.cardinality {
        let to = cardinality.to.map_or("*".to_string(), |to| to.to_string());
        name += &format!("[{}..{to}]", cardinality.from);
    }
    Interface { id: facet.interface.index(), name }
}
