//! What a drawing shows: nested boxes with their interfaces, and connections. This file knows neither where a picture
//! comes from ([`written`](super::written): a program's text; [`running`](super::running): a running program) nor how
//! it is drawn.

/// The whole program.
#[derive(Default)]
pub struct Picture {
    /// Outer ones before inner ones.
    pub boxes: Vec<Component>,
    /// Each once.
    pub connections: Vec<Connection>,
}

/// One component, several, or something else that has interfaces.
#[derive(Default)]
pub struct Component {
    /// What is written on it.
    pub name: String,
    /// The lines below the name.
    pub notes: Vec<String>,
    /// The outer box.
    pub parent: Option<usize>,
    /// Whether it is a name, or may hold any template that fits.
    pub any: bool,
    /// Interfaces that it offers.
    pub offers: Vec<Interface>,
    /// Interfaces that it requires.
    pub requires: Vec<Interface>,
}

/// An offered or required interface.
pub struct Interface {
    /// Interfaces are the same if their numbers are.
    pub id: usize,
    /// Its name, with the cardinality.
    pub name: String,
}

/// From the client to the server; from a box's own offered interface inward; from the inside to its own required one.
pub struct Connection {
    /// Where the client's messages come from.
    pub from: Port,
    /// Where they go.
    pub to: Port,
    /// The tooltip: the first statement that makes it, and how many there are.
    pub title: String,
}

/// One interface of one box.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Port {
    /// Index into [`Picture::boxes`].
    pub owner: usize,
    /// Which list.
    pub side: Side,
    /// Index into that.
    pub index: usize,
}

/// Offered or required.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Offered.
    Offered,
    /// Required.
    Required,
}

impl Picture {
    /// Adds a box.
    pub fn add(&mut self, component: Component) -> usize {
        self.boxes.push(component);
        self.boxes.len() - 1
    }

    /// The boxes directly inside a box, or outermost.
    pub fn inside(&self, parent: Option<usize>) -> impl Iterator<Item = usize> {
        (0..self.boxes.len()).filter(move |&index| self.boxes[index].parent == parent)
    }

    /// An interface of a box; it is added if the box hasn't it yet.
    pub fn port(&mut self, owner: usize, side: Side, interface: Interface) -> Port {
        let component = &mut self.boxes[owner];
        let list = match side {
            Side::Offered => &mut component.offers,
            Side::Required => &mut component.requires,
        };
        let index = list.iter().position(|known| known.id == interface.id).unwrap_or_else(|| {
            list.push(interface);
            list.len() - 1
        });
        Port { owner, side, index }
    }
}
