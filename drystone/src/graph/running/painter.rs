//! The boxes of a running program: one for each component, or for a group of components that are alike.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

use super::members;
use crate::control::{list, text};
use crate::graph::picture::{Component, Interface, Picture, Port, Side};

/// Up to so many components in one place are drawn one by one.
const FEW: usize = 3;

/// Makes the boxes of components.
#[derive(Default)]
pub(super) struct Painter<'a> {
    pub(super) picture: Picture,
    /// The components, indexed by their numbers.
    pub(super) components: &'a [Value],
    /// The box of each component.
    pub(super) boxes: Vec<usize>,
    /// The box of each component and the place where it was made, by the component's path. Components of a service's
    /// processes share a path: one of them stands for all.
    pub(super) named: HashMap<&'a str, (usize, &'a str)>,
    /// Names of interfaces, indexed by their numbers.
    pub(super) interfaces: Vec<&'a str>,
}

impl<'a> Painter<'a> {
    /// Makes the boxes: outer ones first.
    pub(super) fn place(&mut self, program: usize) {
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

    /// Writes into a box the names, states and interfaces of its components.
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
    pub(super) fn port(&mut self, owner: usize, side: Side, interface: &'a str) -> Port {
        let known = self.interfaces.iter().position(|known| *known == interface);
        let id = known.unwrap_or_else(|| {
            self.interfaces.push(interface);
            self.interfaces.len() - 1
        });
        self.picture.port(owner, side, Interface { id, name: interface.into() })
    }
}
