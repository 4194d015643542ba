//! Where at an interface each connection ends. Connections that end at one interface, on the same side of its box, have
//! slots of their own there, so that no two share a line.

use std::collections::HashMap;

use super::picture::{Connection, Picture, Port, Side};

/// The ends of a connection: the box that it runs in, and where it ends at its interfaces.
#[derive(Clone, Copy)]
pub struct Ends {
    /// The box around both ends, or whose own interfaces they are.
    pub around: usize,
    /// The client's end.
    pub from: End,
    /// The server's end.
    pub to: End,
}

/// One end: a slot at an interface.
#[derive(Clone, Copy)]
pub struct End {
    /// The interface.
    pub port: Port,
    /// Whether the connection is inside the interface's box.
    pub inside: bool,
    /// The number of the slot, from above.
    pub slot: usize,
}

/// How many slots each interface needs; at least one.
#[derive(Clone, Default)]
pub struct Slots(HashMap<Port, usize>);

impl Slots {
    /// The number of an interface's slots.
    pub fn of(&self, port: Port) -> usize {
        self.0.get(&port).copied().unwrap_or(1)
    }
}

/// The ends of all connections; those of one interface in the order of their other ends' `height`.
pub fn ends(picture: &Picture, height: impl Fn(Port) -> f64) -> (Vec<Ends>, Slots) {
    let mut all: Vec<Ends> = picture.connections.iter().map(|it| ends_of(picture, it)).collect();
    let mut order: Vec<(usize, bool)> = (0..all.len()).flat_map(|it| [(it, false), (it, true)]).collect();
    order.sort_by(|&one, &other| {
        let leads_to = |(number, is_to): (usize, bool)| {
            let Ends { from, to, .. } = all[number];
            height(if is_to { from.port } else { to.port })
        };
        leads_to(one).total_cmp(&leads_to(other))
    });
    let mut taken: HashMap<(Port, bool), usize> = HashMap::new();
    let mut slots = Slots::default();
    for (number, is_to) in order {
        let Ends { from, to, .. } = &mut all[number];
        let end = if is_to { to } else { from };
        let next = taken.entry((end.port, end.inside)).or_default();
        end.slot = *next;
        *next += 1;
        let count = slots.0.entry(end.port).or_default();
        *count = (*count).max(*next);
    }
    (all, slots)
}

fn ends_of(picture: &Picture, connection: &Connection) -> Ends {
    let Connection { from, to, .. } = *connection;
    let parent = |port: Port| picture.boxes[port.owner].parent;
    let around = if parent(to) == Some(from.owner) {
        from.owner
    } else if parent(from) == Some(to.owner) {
        to.owner
    } else if from.owner == to.owner && (from.side == Side::Offered || to.side == Side::Required) {
        from.owner
    } else {
        parent(from).expect("who connects it is around it")
    };
    let end = |port: Port| End { port, inside: port.owner == around, slot: 0 };
    Ends { around, from: end(from), to: end(to) }
}
