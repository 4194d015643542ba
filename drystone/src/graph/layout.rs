//! Where everything in a drawing goes. Boxes inside one box stand in columns, clients to the left of their servers.
//! Offered interfaces are at a box's left side, required ones at its right. So all connections run from left to right,
//! also those between a box and the boxes inside it.
//!
//! Lines that meet in the space between two columns come from four kinds of interfaces: offered or required ones, of
//! the outer box or of an inner one. Each kind has its own grid of heights (`GRID`), so lines of different connections
//! never lie on one another there.

use std::collections::{HashMap, HashSet};

use super::picture::{Component, Interface, Picture, Port, Side};
use super::slots::{End, Ends, Slots, ends};

/// Width of a character, pixels.
const CHARACTER: f64 = 7.3;
/// Height of a line of text.
pub const LINE: f64 = 22.0;
/// Between lines that end at one interface.
const PITCH: f64 = 12.0;
/// Between the heights of two kinds of interfaces.
const GRID: f64 = PITCH / 4.0;
/// The height of an interface with one line.
const PORT: f64 = 2.0 * PITCH;
/// The height of a box's name.
const TITLE: f64 = 1.3 * LINE;
/// The height of a note line below the name.
pub const NOTE: f64 = 16.0;
/// Between a box's side and what is inside it.
const MARGIN: f64 = 16.0;
/// Between columns, at least.
const ACROSS: f64 = 64.0;
/// Between boxes of a column, at least.
const DOWN: f64 = 32.0;
/// Between lines side by side, at least.
const LANE: f64 = 8.0;

/// A rectangle, in pixels from the upper left corner of the drawing.
#[derive(Clone, Copy, Default)]
pub struct Frame {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Frame {
    /// The lower side.
    pub fn bottom(&self) -> f64 {
        self.y + self.height
    }
}

/// A stretch between boxes that lines can share side by side.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stretch {
    /// Left of a column, or right of the last: box around, number of the column.
    Channel(usize, usize),
    /// Below a box.
    Gap(usize),
}

/// How many lines run through each stretch.
pub type Traffic = HashMap<Stretch, usize>;

/// Frames of all boxes.
pub struct Layout {
    /// Indices are those of [`Picture::boxes`].
    pub frames: Vec<Frame>,
    /// The ends of all connections.
    pub ends: Vec<Ends>,
    /// What is in each box, by columns.
    columns: Vec<Vec<Vec<usize>>>,
    /// The height of each box's name and notes.
    heads: Vec<f64>,
    /// How deeply each box is nested.
    depths: Vec<usize>,
    slots: Slots,
    traffic: Traffic,
    /// Boxes inside which lines run.
    with_lines: HashSet<usize>,
    /// Interfaces that were moved a little to make lines straight.
    moved: HashMap<Port, f64>,
    /// Of the whole drawing.
    pub width: f64,
    /// Of the whole drawing.
    pub height: f64,
}

impl Layout {
    /// Places all boxes. `before` is the layout without knowledge of the lines, and the traffic that it led to.
    pub fn of(picture: &Picture, before: Option<(&Layout, Traffic)>) -> Layout {
        let count = picture.boxes.len();
        let height = |port| before.as_ref().map_or(0.0, |(layout, _)| layout.middle(port));
        let (ends, slots) = ends(picture, height);
        let mut layout = Layout {
            frames: vec![Frame::default(); count],
            columns: vec![Vec::new(); count],
            heads: picture.boxes.iter().map(head).collect(),
            depths: vec![0; count],
            with_lines: ends.iter().map(|ends| ends.around).collect(),
            ends,
            slots,
            traffic: before.map(|(_, traffic)| traffic).unwrap_or_default(),
            moved: HashMap::new(),
            width: 0.0,
            height: 0.0,
        };
        for index in 0..count {
            layout.depths[index] = picture.boxes[index].parent.map_or(0, |around| layout.depths[around] + 1);
        }
        let (width, height) = layout.columns(picture, None);
        layout.shift(picture, None, MARGIN, MARGIN);
        (layout.width, layout.height) = (width + 2.0 * MARGIN, height + 2.0 * MARGIN);
        layout
    }

    /// Where a connection ends.
    pub fn point(&self, end: End) -> (f64, f64) {
        let (x, first, _) = self.port(end.port);
        (x, first + PITCH * end.slot as f64)
    }

    /// Where an interface is on its box's side: the heights of its first and its last slot.
    pub fn port(&self, port: Port) -> (f64, f64, f64) {
        let Port { owner, side, index } = port;
        let frame = &self.frames[owner];
        let (x, kind) = match side {
            Side::Offered => (frame.x, 0),
            Side::Required => (frame.x + frame.width, 1),
        };
        let earlier = (0..index).map(|index| self.port_height(Port { index, ..port })).sum::<f64>();
        let from = frame.y + self.heads[owner] + PITCH;
        let own = GRID * (kind + 2 * (self.depths[owner] % 2)) as f64;
        let moved = self.moved.get(&port).copied().unwrap_or(0.0);
        let first = from + (own - from).rem_euclid(PITCH) + earlier + moved;
        (x, first, first + PITCH * (self.slots.of(port) - 1) as f64)
    }

    /// Moves an interface with a single line, if that makes the line straight.
    pub fn straighten(&mut self, ends: &Ends) {
        let Ends { from, to, .. } = ends;
        let (height, own) = (self.point(*from).1, self.point(*to).1);
        let is_alone = |end: &End| !end.inside && self.slots.of(end.port) == 1;
        if is_alone(from) && is_alone(to) && !self.with_lines.contains(&to.port.owner) {
            let is_near = (height - own).abs() <= PITCH / 2.0;
            self.moved.extend(is_near.then_some((to.port, height - own)));
        }
    }

    /// Whether lines run inside a box, beside the names of its interfaces.
    pub fn has_lines(&self, index: usize) -> bool {
        self.with_lines.contains(&index)
    }

    /// The heights of all slots of a box's interfaces and of the boxes in it.
    pub fn heights(&self, picture: &Picture, around: usize) -> Vec<f64> {
        let owners = self.columns[around].iter().flatten().copied().chain([around]);
        let ports = owners.flat_map(|owner| {
            let component = &picture.boxes[owner];
            let lists = [(Side::Offered, component.offers.len()), (Side::Required, component.requires.len())];
            lists
                .into_iter()
                .flat_map(move |(side, count)| (0..count).map(move |index| Port { owner, side, index }))
        });
        let places = ports.flat_map(|port| {
            let first = self.port(port).1;
            (0..self.slots.of(port)).map(move |slot| first + PITCH * slot as f64)
        });
        places.collect()
    }

    fn middle(&self, port: Port) -> f64 {
        let (_, first, last) = self.port(port);
        (first + last) / 2.0
    }

    fn port_height(&self, port: Port) -> f64 {
        PORT + PITCH * (self.slots.of(port) - 1) as f64
    }

    /// The height of the interfaces at one side of a box.
    fn side_height(&self, owner: usize, side: Side, count: usize) -> f64 {
        (0..count).map(|index| self.port_height(Port { owner, side, index })).sum()
    }

    fn lanes(&self, stretch: Stretch) -> f64 {
        self.traffic.get(&stretch).map_or(0.0, |&lines| LANE * (lines + 1) as f64)
    }

    fn channel_width(&self, around: usize, column: usize) -> f64 {
        ACROSS.max(self.lanes(Stretch::Channel(around, column)))
    }

    /// The left and right ends of a channel: the space between two columns, or between a column and the outer box's
    /// side.
    pub fn channel(&self, picture: &Picture, around: usize, column: usize) -> (f64, f64) {
        let columns = &self.columns[around];
        let frames = |column: usize| columns[column].iter().map(|&owner| &self.frames[owner]);
        let right = |frame: &Frame| frame.x + frame.width;
        let (outer, component) = (&self.frames[around], &picture.boxes[around]);
        if columns.is_empty() {
            return (outer.x + side(&component.offers), right(outer) - side(&component.requires));
        }
        let width = self.channel_width(around, column);
        let from = match column.checked_sub(1) {
            Some(before) => frames(before).map(right).fold(f64::MIN, f64::max),
            None => frames(0).map(|frame| frame.x).fold(f64::MAX, f64::min) - width,
        };
        let to = match column < columns.len() {
            true => frames(column).map(|frame| frame.x).fold(f64::MAX, f64::min),
            false => from + width,
        };
        (from, to)
    }

    /// The upper and lower ends of a gap: the space below a box, down to the next one of its column or the outer box's
    /// side.
    pub fn gap(&self, around: usize, owner: usize) -> (f64, f64) {
        let below = self.columns[around].iter().find_map(|column| {
            let place = column.iter().position(|&other| other == owner)?;
            column.get(place + 1)
        });
        let top = self.frames[owner].bottom();
        (top, below.map_or(self.frames[around].bottom(), |&below| self.frames[below].y))
    }

    /// The boxes in a box, from left to right and from above to below.
    pub fn columns_in(&self, around: usize) -> &[Vec<usize>] {
        &self.columns[around]
    }

    /// Sizes all boxes in a box, places them within it, and returns the size of all together.
    fn columns(&mut self, picture: &Picture, parent: Option<usize>) -> (f64, f64) {
        let (mut x, mut lowest) = (0.0, 0.0f64);
        let columns = columns(picture, parent);
        let channel =
            |layout: &Layout, column| parent.map_or(ACROSS, |parent| layout.channel_width(parent, column));
        if let Some(parent) = parent {
            self.columns[parent].clone_from(&columns);
        }
        for (number, column) in columns.iter().enumerate() {
            if number > 0 {
                x += channel(self, number);
            }
            let (mut y, mut widest) = (0.0, 0.0f64);
            for (place, &index) in column.iter().enumerate() {
                let (width, height) = self.size(picture, index);
                self.frames[index] = Frame { x, y, width, height };
                widest = widest.max(width);
                let lanes = self.lanes(Stretch::Gap(index));
                y += height + if place + 1 < column.len() { DOWN.max(lanes) } else { lanes };
            }
            x += widest;
            lowest = lowest.max(y);
        }
        (x, lowest)
    }

    fn size(&mut self, picture: &Picture, index: usize) -> (f64, f64) {
        let component = &picture.boxes[index];
        let (mut width, mut height) = self.columns(picture, Some(index));
        let lines = self.side_height(index, Side::Offered, component.offers.len()).max(self.side_height(
            index,
            Side::Required,
            component.requires.len(),
        ));
        let columns = self.columns[index].len();
        if width > 0.0 {
            width += self.channel_width(index, 0) + self.channel_width(index, columns);
            height += MARGIN;
        } else {
            width = MARGIN.max(self.lanes(Stretch::Channel(index, 0)));
        }
        width += side(&component.offers) + side(&component.requires);
        let texts = component.notes.iter().chain([&component.name]);
        let longest = texts.map(|text| text.chars().count()).max().unwrap_or(0);
        width = width.max(longest as f64 * CHARACTER + 2.0 * MARGIN);
        (width, self.heads[index] + height.max(lines) + MARGIN)
    }

    /// Turns places within the outer box into places in the drawing.
    fn shift(&mut self, picture: &Picture, parent: Option<usize>, x: f64, y: f64) {
        for index in picture.inside(parent) {
            let frame = &mut self.frames[index];
            (frame.x, frame.y) = (frame.x + x, frame.y + y);
            let head = self.heads[index];
            let left = frame.x + side(&picture.boxes[index].offers);
            let (x, y) = (left, frame.y + head);
            let x = x + self.channel_width(index, 0);
            self.shift(picture, Some(index), x, y);
        }
    }
}

/// The height of a box's name and notes.
fn head(component: &Component) -> f64 {
    TITLE + NOTE * component.notes.len() as f64
}

/// The width of the names at one side of a box.
fn side(interfaces: &[Interface]) -> f64 {
    let longest = interfaces.iter().map(|interface| interface.name.len()).max();
    longest.map_or(0.0, |length| length as f64 * CHARACTER + MARGIN)
}

/// The boxes in a box, by columns.
fn columns(picture: &Picture, parent: Option<usize>) -> Vec<Vec<usize>> {
    let here = |port: Port| (picture.boxes[port.owner].parent == parent).then_some(port.owner);
    let ends =
        picture.connections.iter().filter_map(|connection| here(connection.from).zip(here(connection.to)));
    let joined: Vec<(usize, usize)> = ends.filter(|(from, to)| from != to).collect();
    let mut ranks = vec![Rank::Unknown; picture.boxes.len()];
    let mut columns: Vec<Vec<usize>> = Vec::new();
    for index in picture.inside(parent) {
        let column = rank(index, &joined, &mut ranks);
        columns.resize(columns.len().max(column + 1), Vec::new());
        columns[column].push(index);
    }
    for column in 1..columns.len() {
        let (before, rest) = columns.split_at_mut(column);
        let place =
            |index: usize| before.iter().find_map(|column| column.iter().position(|&other| other == index));
        // At the height of the boxes that they are joined with.
        rest[0].sort_by_key(|&index| {
            let clients = joined.iter().filter(|(_, to)| *to == index).filter_map(|(from, _)| place(*from));
            let (count, sum) = clients.fold((0, 0), |(count, sum), place| (count + 1, sum + place));
            (100 * sum).checked_div(count).unwrap_or(usize::MAX)
        });
    }
    columns
}

#[derive(Clone, Copy)]
enum Rank {
    Unknown,
    /// Being computed: asked for again, it closes a circle, which is cut here.
    Asked,
    Known(usize),
}

/// The column of a box: right of all its clients.
fn rank(index: usize, joined: &[(usize, usize)], ranks: &mut [Rank]) -> usize {
    if let Rank::Known(rank) = ranks[index] {
        return rank;
    }
    ranks[index] = Rank::Asked;
    let mut column = 0;
    for &(client, server) in joined {
        if server == index && !matches!(ranks[client], Rank::Asked) {
            column = column.max(rank(client, joined, ranks) + 1);
        }
    }
    ranks[index] = Rank::Known(column);
    column
}
