//! A document in a text. All numbers are little-endian:
//!
//! | part | holds |
//! |---|---|
//! | head | how many nodes and how many links there are, four bytes each |
//! | nodes | 16 bytes each: its kind, a count (four bytes, from the fourth on), and its value or place (eight bytes) |
//! | links | four bytes each: numbers of nodes |
//! | bytes | those of all strings |
//!
//! The place of a string is that of its first byte; of an array and an object, that of its first link. An array's links
//! are its elements. An object has two links for each member, its name and its value, in the document's order. Behind
//! them stand the numbers of its members by the order of their names, so that one is found without looking at all.
//!
//! A program may hand over any text, so each place is looked up with its bounds: where there is nothing, it is no node.

use alloc::vec;
use alloc::vec::Vec;

const HEAD: usize = 8;
const NODE: usize = 16;

/// A tape that is read.
pub(super) struct Tape<'t> {
    nodes: &'t [u8],
    links: &'t [u8],
    bytes: &'t [u8],
}

/// What a node is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Node<'t> {
    Null,
    Truth(bool),
    Whole(i64),
    Fraction(f64),
    String(&'t [u8]),
    Array(Links),
    Object(Links),
}

/// The links of an array or object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Links {
    /// Elements or members.
    pub(super) count: usize,
    first: usize,
}

/// How a node is marked.
#[derive(Clone, Copy)]
#[repr(u8)]
pub(super) enum Mark {
    Null,
    Truth,
    Whole,
    Fraction,
    String,
    Array,
    Object,
}

impl<'t> Tape<'t> {
    pub(super) fn new(tape: &'t [u8]) -> Tape<'t> {
        let parts = || {
            let (head, rest) = tape.split_at_checked(HEAD)?;
            let count = |at: usize| Some(u32::from_le_bytes(head.get(at..at + 4)?.try_into().ok()?) as usize);
            let (nodes, rest) = rest.split_at_checked(count(0)?.checked_mul(NODE)?)?;
            let (links, bytes) = rest.split_at_checked(count(4)?.checked_mul(4)?)?;
            Some(Tape { nodes, links, bytes })
        };
        parts().unwrap_or(Tape { nodes: &[], links: &[], bytes: &[] })
    }

    pub(super) fn node(&self, number: i64) -> Option<Node<'t>> {
        let at = usize::try_from(number).ok()?.checked_mul(NODE)?;
        let node = self.nodes.get(at..at.checked_add(NODE)?)?;
        let count = u32::from_le_bytes(node[4..8].try_into().ok()?) as usize;
        let value = u64::from_le_bytes(node[8..].try_into().ok()?);
        let links = || Some(Links { count, first: usize::try_from(value).ok()? });
        Some(match node[0] {
            0 => Node::Null,
            1 => Node::Truth(value != 0),
            2 => Node::Whole(value as i64),
            3 => Node::Fraction(f64::from_bits(value)),
            4 => {
                let at = usize::try_from(value).ok()?;
                Node::String(self.bytes.get(at..at.checked_add(count)?)?)
            }
            5 => Node::Array(links()?),
            6 => Node::Object(links()?),
            _ => return None,
        })
    }

    fn link(&self, number: usize) -> Option<usize> {
        let at = number.checked_mul(4)?;
        let link = self.links.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes(link.try_into().ok()?) as usize)
    }

    /// An element, or the value of a member.
    pub(super) fn element(&self, node: i64, index: i64) -> Option<i64> {
        let index = usize::try_from(index).ok()?;
        let number = match self.node(node)? {
            Node::Array(Links { count, first }) if index < count => first + index,
            Node::Object(Links { count, first }) if index < count => first + 2 * index + 1,
            _ => return None,
        };
        Some(self.link(number)? as i64)
    }

    /// The name of a member.
    pub(super) fn key(&self, node: i64, index: i64) -> Option<&'t [u8]> {
        let index = usize::try_from(index).ok()?;
        match self.node(node)? {
            Node::Object(links) if index < links.count => self.key_of(links, index),
            _ => None,
        }
    }

    fn key_of(&self, links: Links, index: usize) -> Option<&'t [u8]> {
        match self.node(self.link(links.first + 2 * index)? as i64)? {
            Node::String(name) => Some(name),
            _ => None,
        }
    }

    /// The value of a member by its name.
    pub(super) fn member(&self, node: i64, name: &[u8]) -> Option<i64> {
        let Node::Object(links) = self.node(node)? else { return None };
        let (mut low, mut high) = (0, links.count);
        while low < high {
            let middle = low + (high - low) / 2;
            let index = self.link(links.first + 2 * links.count + middle)?;
            match self.key_of(links, index)?.cmp(name) {
                core::cmp::Ordering::Less => low = middle + 1,
                core::cmp::Ordering::Greater => high = middle,
                core::cmp::Ordering::Equal => return self.element(node, index as i64),
            }
        }
        None
    }
}

/// A tape that is made.
#[derive(Default)]
pub(super) struct Making {
    nodes: Vec<u8>,
    links: Vec<u8>,
    bytes: Vec<u8>,
}

impl Making {
    /// A node whose value follows; gives its number.
    pub(super) fn begin(&mut self) -> u32 {
        let number = (self.nodes.len() / NODE) as u32;
        self.nodes.extend([0; NODE]);
        number
    }

    /// The value of a node that has begun.
    pub(super) fn set(&mut self, number: u32, mark: Mark, count: u32, value: u64) {
        let node = &mut self.nodes[number as usize * NODE..][..NODE];
        node[0] = mark as u8;
        node[4..8].copy_from_slice(&count.to_le_bytes());
        node[8..].copy_from_slice(&value.to_le_bytes());
    }

    pub(super) fn set_string(&mut self, number: u32, string: &str) {
        let place = self.bytes.len() as u64;
        self.bytes.extend(string.as_bytes());
        self.set(number, Mark::String, string.len() as u32, place);
    }

    /// An array, by the numbers of its elements.
    pub(super) fn set_array(&mut self, number: u32, elements: &[u32]) {
        let first = self.add_links(elements.iter().copied());
        self.set(number, Mark::Array, elements.len() as u32, first);
    }

    /// An object, by the numbers of the names and values of its members. If a name occurs again, the member stays where
    /// it is and gets the last value.
    pub(super) fn set_object(&mut self, number: u32, members: &mut Vec<[u32; 2]>) {
        let mut order = self.in_order(members);
        if order.is_sorted_by(|&a, &b| self.name_of(members, a) != self.name_of(members, b)) {
            return self.add_object(number, members, &order);
        }
        let mut is_kept = vec![true; members.len()];
        let mut values = Vec::new();
        for same in order.chunk_by(|&a, &b| self.name_of(members, a) == self.name_of(members, b)) {
            let [first, .., last] = same else { continue };
            values.push((*first as usize, members[*last as usize][1]));
            same[1..].iter().for_each(|&index| is_kept[index as usize] = false);
        }
        values.into_iter().for_each(|(index, value)| members[index][1] = value);
        let mut is_kept = is_kept.into_iter();
        members.retain(|_| is_kept.next().expect("there is one for each"));
        order = self.in_order(members);
        self.add_object(number, members, &order);
    }

    /// An object whose names differ.
    fn add_object(&mut self, number: u32, members: &[[u32; 2]], order: &[u32]) {
        let first = self.add_links(members.iter().flatten().chain(order).copied());
        self.set(number, Mark::Object, members.len() as u32, first);
    }

    /// The name of a member.
    fn name_of(&self, members: &[[u32; 2]], index: u32) -> &[u8] {
        let number = members[index as usize][0];
        let node = &self.nodes[number as usize * NODE..][..NODE];
        let count = u32::from_le_bytes(node[4..8].try_into().expect("there are four")) as usize;
        let place = u64::from_le_bytes(node[8..].try_into().expect("there are eight")) as usize;
        &self.bytes[place..place + count]
    }

    /// The numbers of members by the order of their names; equal ones as they stand.
    fn in_order(&self, members: &[[u32; 2]]) -> Vec<u32> {
        let mut order: Vec<u32> = (0..members.len() as u32).collect();
        order.sort_by(|&a, &b| self.name_of(members, a).cmp(self.name_of(members, b)));
        order
    }

    fn add_links(&mut self, links: impl Iterator<Item = u32>) -> u64 {
        let first = self.links.len() / 4;
        self.links.extend(links.flat_map(u32::to_le_bytes));
        first as u64
    }

    /// The tape.
    pub(super) fn finish(self) -> Vec<u8> {
        let Making { nodes, links, bytes } = self;
        let mut tape = Vec::with_capacity(HEAD + nodes.len() + links.len() + bytes.len());
        tape.extend(((nodes.len() / NODE) as u32).to_le_bytes());
        tape.extend(((links.len() / 4) as u32).to_le_bytes());
        [nodes, links, bytes].iter().for_each(|part| tape.extend(part));
        tape
    }
}
