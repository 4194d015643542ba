//! What joins the components of a running program: connections, names, and the binding factories given by BY.

use std::collections::HashMap;

use serde_json::Value;

use super::super::picture::{Component, Connection, Picture, Port, Side};
use super::painter::Painter;
use crate::control::{Traffic, list, text};

/// Most characters of a line that says why something was lost.
const LONGEST: usize = 90;

#[derive(Default)]
pub struct Joints<'a> {
    /// Boxes of names, by the outer box.
    names: HashMap<(usize, &'a str), usize>,
    /// Boxes of BY's binding factories, by the client's box and interface.
    ways: HashMap<(usize, &'a str, &'a str), usize>,
    /// Connections between two ports: how many there are, and how many of them are used.
    counts: HashMap<(Port, Port), (usize, usize)>,
    /// Traffic by box, interface and whether that is exported; and the last reason why something was lost.
    traffic: Vec<((usize, &'a str, bool), Traffic, &'a str)>,
}

impl<'a> Joints<'a> {
    /// The connections of a component.
    pub fn connect(&mut self, painter: &mut Painter<'a>, component: usize) {
        let client = painter.boxes[component];
        for connection in list(&painter.components[component]["requires"]) {
            self.connect_one(painter, client, connection);
        }
    }

    fn connect_one(&mut self, painter: &mut Painter<'a>, client: usize, connection: &'a Value) {
        let [interface, to, by] = ["interface", "to", "by"].map(|what| text(&connection[what]));
        if to.is_empty() {
            return;
        }
        let is_inward = connection["inward"] == true;
        let around = if is_inward { client } else { around(painter, client) };
        let side = if is_inward { Side::Offered } else { Side::Required };
        let mut from = painter.port(client, side, interface);
        let next = |side: &str| painter.named.get(connection["next"][side].as_str()?).map(|found| found.0);
        let (server, passed_on) = (next("offered"), next("required"));
        if passed_on == Some(client) || (is_inward && server == Some(client)) {
            // Components that hold one another share a box.
            return;
        }
        if !by.is_empty() {
            let way = *self
                .ways
                .entry((client, interface, by))
                .or_insert_with(|| beside(painter, around, format!("BY {by}")));
            let entrance = painter.port(way, Side::Offered, interface);
            self.count(from, entrance, connection);
            from = painter.port(way, Side::Required, interface);
        }
        let to = match (server, passed_on) {
            (Some(server), _) if painter.picture.boxes[server].parent == Some(around) => {
                painter.port(server, Side::Offered, interface)
            }
            (_, Some(outer)) if outer == around => painter.port(outer, Side::Required, interface),
            // The server has no name, or has been moved away since.
            _ => {
                let name = self.name(painter, around, to);
                painter.port(name, Side::Offered, interface)
            }
        };
        self.count(from, to, connection);
    }

    fn count(&mut self, from: Port, to: Port, connection: &Value) {
        let (all, open) = self.counts.entry((from, to)).or_default();
        *all += 1;
        *open += usize::from(connection["open"] == true);
    }

    fn name(&mut self, painter: &mut Painter<'a>, around: usize, name: &'a str) -> usize {
        *self.names.entry((around, name)).or_insert_with(|| beside(painter, around, name.into()))
    }

    /// A binding's traffic is shown where the binding is drawn.
    pub fn bind(&mut self, painter: &mut Painter<'a>, binding: &'a Value) {
        let [name, interface, component] =
            ["name", "interface", "component"].map(|what| text(&binding[what]));
        // Bindings of no component stand beside the component that starts.
        let (of, place) = painter.named.get(component).copied().unwrap_or((1, ""));
        let around = around(painter, of);
        let index = if name == place {
            of
        } else if let Some(&way) =
            name.strip_prefix("local BY ").and_then(|by| self.ways.get(&(of, interface, by)))
        {
            way
        } else {
            self.name(painter, around, name)
        };
        if binding["export"] == true && index != of && !component.is_empty() {
            let from = painter.port(index, Side::Required, interface);
            let to = painter.port(of, Side::Offered, interface);
            self.counts.entry((from, to)).or_default();
        }
        let (traffic, why) = (Traffic::of(binding), text(&binding["why"]));
        let what = (index, interface, binding["export"] == true);
        match self.traffic.iter_mut().find(|known| known.0 == what) {
            Some((_, sum, last)) => {
                *sum += traffic;
                *last = if why.is_empty() { last } else { why };
            }
            None => self.traffic.push((what, traffic, why)),
        }
    }

    /// Adds the counts, in an order that doesn't depend on which box came first.
    pub fn finish(mut self, picture: &mut Picture) {
        self.traffic.sort_by_key(|(what, ..)| *what);
        for &((index, interface, is_export), ref traffic, why) in &self.traffic {
            let notes = &mut picture.boxes[index].notes;
            let exported = if is_export { " exported" } else { "" };
            notes.push(format!("{interface}{exported}: {}", traffic.communications()));
            notes.push(traffic.messages());
            if !why.is_empty() {
                notes.push(format!("lost last: {}", why.chars().take(LONGEST).collect::<String>()));
            }
        }
        let mut counts: Vec<_> = self.counts.into_iter().collect();
        counts.sort_by_key(|((from, to), _)| (from.owner, from.index, to.owner, to.index));
        for ((from, to), (all, open)) in counts {
            let title = if all == 0 { "exported".into() } else { format!("{all} connected, {open} talking") };
            picture.connections.push(Connection { from, to, title });
        }
    }
}

/// The box around another.
fn around(painter: &Painter<'_>, index: usize) -> usize {
    painter.picture.boxes[index].parent.expect("all are in the program's")
}

/// A box for something that is no component.
fn beside(painter: &mut Painter<'_>, around: usize, name: String) -> usize {
    painter.picture.add(Component { name, parent: Some(around), any: true, ..Component::default() })
}
