//! The identity of an interface, as a text that is the same in every program that declares it. It consists of the name,
//! the messages (name, direction and the types of what they carry, in order) and the automaton, and of the same for all
//! interfaces that the messages mention. A record that a message carries is the same as its fields.

use std::fmt::Write;

use crate::ast::Direction;
use crate::program::{AnyType, Component, Facet, InterfaceId, Program, Type};

impl Program {
    /// The identity of an interface: interfaces of two programs are the same if their identities are.
    pub fn identity(&self, interface: InterfaceId) -> String {
        let mut writer = Writer { program: self, mentioned: vec![interface], text: String::new() };
        let mut next = 0;
        while let Some(&interface) = writer.mentioned.get(next) {
            writer.interface(interface);
            next += 1;
        }
        writer.text
    }
}

struct Writer<'p> {
    program: &'p Program,
    /// Interfaces are numbered in the order in which they are mentioned. No other order is the same in every program.
    mentioned: Vec<InterfaceId>,
    text: String,
}

impl Writer<'_> {
    fn interface(&mut self, id: InterfaceId) {
        let interface = &self.program.interfaces[id.index()];
        self.text += &interface.name;
        for message in &interface.messages {
            self.text += if message.direction == Direction::In { "\nIN " } else { "\nOUT " };
            self.text += &message.name;
            for (_, ty) in &message.values {
                self.text.push(' ');
                self.ty(ty);
            }
        }
        for state in &interface.states {
            self.text += if state.may_end { "\n." } else { "\n" };
            for (message, to) in &state.transitions {
                let _ = write!(self.text, " {message}>{to}");
            }
        }
        self.text += "\n\n";
    }

    fn ty(&mut self, ty: &Type) {
        match ty {
            Type::Boolean => self.text += "BOOLEAN",
            Type::Character => self.text += "CHARACTER",
            Type::Integer => self.text += "INTEGER",
            Type::Real => self.text += "REAL",
            Type::Text => self.text += "TEXT",
            // Only as an element of a sequence: otherwise a message carries the fields of records.
            Type::Record(id) => {
                self.text.push('(');
                for (_, ty) in &self.program.records[id.index()].fields {
                    self.ty(ty);
                    self.text.push(' ');
                }
                self.text.push(')');
            }
            Type::Sequence(element) => {
                self.text += "SEQUENCE OF ";
                self.ty(element);
            }
            Type::Component(id) => {
                let Component { name, offers, requires, .. } = &self.program.components[id.index()];
                self.text += name;
                self.facets(offers, Some(requires));
            }
            Type::Any(AnyType { offers, requires }) => {
                self.text += "ANY";
                self.facets(offers, requires.as_deref());
            }
        }
    }

    fn facets(&mut self, offers: &[Facet], requires: Option<&[Facet]>) {
        for facets in [Some(offers), requires] {
            let Some(facets) = facets else {
                self.text += "|*";
                continue;
            };
            self.text.push('|');
            let is_declared =
                |facet: &&Facet| !self.program.interfaces[facet.interface.index()].is_for_block();
            let mut facets: Vec<&Facet> = facets.iter().filter(is_declared).collect();
            facets.sort_by_key(|facet| &self.program.interfaces[facet.interface.index()].name);
            for facet in facets {
                self.facet(facet);
            }
        }
    }

    fn facet(&mut self, facet: &Facet) {
        let known = self.mentioned.iter().position(|&id| id == facet.interface);
        let number = known.unwrap_or_else(|| {
            self.mentioned.push(facet.interface);
            self.mentioned.len() - 1
        });
        let _ = write!(self.text, "#{number}");
        if let Some(cardinality) = facet.cardinality {
            let to = cardinality.to.map_or("*".into(), |to| to.to_string());
            let _ = write!(self.text, "[{}..{to}]", cardinality.from);
        }
    }
}
