//! The picture of a program that runs, as its control socket tells it: components with what their processes wait for
//! (`members`), connections, and bindings with what has gone through them (`joints`).
//!
//! Where a component, or a collection of its, holds more than a few that are alike, one box stands for all of them,
//! with all that they hold; and for those that hold one another one by one, as in a list. What is reached by a name is
//! a box as in the picture of a text.

mod joints;
mod members;

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use serde_json::{Value, json};

use super::picture::{Component, Interface, Picture, Port, Side};
use crate::Status;
use crate::control::{ask, list, text};

use joints::Joints;

/// So many components in one place are drawn each for itself.
const FEW: usize = 3;

/// Most components that are looked at.
const MOST: usize = 100_000;

/// Asks the program.
pub fn picture(socket: &Path) -> Result<Picture, Status> {
    let answer = ask(socket, &json!({"inspect": MOST}))?;
    let components = list(&answer["components"]);
    let mut painter = Painter { components, ..Painter::default() };
    let notes = match answer["more"].as_u64() {
        None | Some(0) => Vec::new(),
        Some(more) => vec![format!("{more} components more are not shown")],
    };
    let name = socket.display().to_string();
    let program = painter.picture.add(Component { name, notes, ..Component::default() });
    painter.place(program);
    let mut joints = Joints::default();
    (0..components.len()).for_each(|number| joints.connect(&mut painter, number));
    list(&answer["bindings"]).iter().for_each(|binding| joints.bind(&mut painter, binding));
    joints.finish(&mut painter.picture);
    Ok(painter.picture)
}

#[derive(Default)]
struct Painter<'a> {
    picture: Picture,
    /// The components: their places are their numbers.
    components: &'a [Value],
    /// Their boxes.
    boxes: Vec<usize>,
    /// Boxes of components, and where these were made, by the paths by which others tell of them. Components of a
    /// service's processes have the same path: one of them stands for all.
    named: HashMap<&'a str, (usize, &'a str)>,
    /// Names of interfaces; their places are their numbers.
    interfaces: Vec<&'a str>,
}

impl<'a> Painter<'a> {
    /// Makes the boxes: outer ones first.
    fn place(&mut self, program: usize) {
        let components = self.components;
        let are_alike = |one: usize, other: usize| members::are_alike(&components[one], &components[other]);
        let mut held = vec![Vec::new(); components.len()];
        for (number, component) in components.iter().enumerate() {
            if let Some(holder) = component["holder"].as_u64() {
                held[holder as usize].push(number);
            }
        }
        self.boxes = vec![program; components.len()];
        let entry = (!components.is_empty()).then_some((vec![0], program));
        let mut waiting: VecDeque<_> = entry.into_iter().collect();
        while let Some((mut members, parent)) = waiting.pop_front() {
            let index = self.picture.add(Component { parent: Some(parent), ..Component::default() });
            let mut groups = Vec::<Vec<usize>>::new();
            let mut next = 0;
            while let Some(&holder) = members.get(next) {
                for &number in &held[holder] {
                    match groups.iter_mut().find(|group| are_alike(group[0], number)) {
                        _ if holder != 0 && are_alike(members[0], number) => members.push(number),
                        Some(group) => group.push(number),
                        None => groups.push(vec![number]),
                    }
                }
                next += 1;
            }
            self.fill(index, &members);
            for group in groups {
                match members.len() == 1 && group.len() <= FEW {
                    true => waiting.extend(group.into_iter().map(|number| (vec![number], index))),
                    false => waiting.push_back((group, index)),
                }
            }
        }
    }

    /// Writes into a box what its components are, do and have.
    fn fill(&mut self, index: usize, numbers: &[usize]) {
        let members: Vec<_> = numbers.iter().map(|&number| &self.components[number]).collect();
        for (&number, component) in numbers.iter().zip(&members) {
            self.boxes[number] = index;
            self.named.insert(text(&component["path"]), (index, text(&component["place"])));
        }
        let holder = members[0]["holder"].as_u64().map(|holder| &self.components[holder as usize]);
        for offer in list(&members[0]["offers"]) {
            self.port(index, Side::Offered, text(&offer["interface"]));
        }
        for connection in
            list(&members[0]["requires"]).iter().filter(|connection| connection["inward"] != true)
        {
            self.port(index, Side::Required, text(&connection["interface"]));
        }
        let component = &mut self.picture.boxes[index];
        component.name = members::name(&members, holder);
        component.notes = members::notes(&members);
    }

    /// An interface of a box, by its name.
    fn port(&mut self, owner: usize, side: Side, interface: &'a str) -> Port {
        let known = self.interfaces.iter().position(|known| *known == interface);
        let id = known.unwrap_or_else(|| {
            self.interfaces.push(interface);
            self.interfaces.len() - 1
        });
        self.picture.port(owner, side, Interface { id, name: interface.into() })
    }
}
