//! Where everything in a drawing goes. Boxes inside one box stand in columns, clients to the left of their servers;
//! offered interfaces are at a box's left side, required ones at its right, so that all connections run from left to
//! right, also those between a box and what is inside it.

use super::picture::{Component, Interface, Picture, Port, Side};

/// Width of a character, pixels.
const CHARACTER: f64 = 7.3;
/// Height of a line of text.
pub const LINE: f64 = 22.0;
/// What the name of a box takes.
const TITLE: f64 = 1.3 * LINE;
/// What a line below that takes.
pub const NOTE: f64 = 16.0;
/// Between a box's side and what is inside it.
const MARGIN: f64 = 16.0;
/// Between columns.
pub const ACROSS: f64 = 64.0;
/// Between boxes of a column.
const DOWN: f64 = 32.0;

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

/// Frames of all boxes.
pub struct Layout {
    /// Indices are those of [`Picture::boxes`].
    pub frames: Vec<Frame>,
    /// What is in each box, by columns.
    columns: Vec<Vec<Vec<usize>>>,
    /// What name and notes of each box take.
    heads: Vec<f64>,
    /// Of the whole drawing.
    pub width: f64,
    /// Of the whole drawing.
    pub height: f64,
}

impl Layout {
    /// Places all boxes.
    pub fn of(picture: &Picture) -> Layout {
        let count = picture.boxes.len();
        let mut layout = Layout {
            frames: vec![Frame::default(); count],
            columns: vec![Vec::new(); count],
            heads: picture.boxes.iter().map(head).collect(),
            width: 0.0,
            height: 0.0,
        };
        let (width, height) = layout.columns(picture, None);
        layout.shift(picture, None, MARGIN, MARGIN);
        (layout.width, layout.height) = (width + 2.0 * MARGIN, height + 2.0 * MARGIN);
        layout
    }

    /// Where an interface is on the side of its box.
    pub fn point(&self, port: Port) -> (f64, f64) {
        let frame = &self.frames[port.owner];
        let x = match port.side {
            Side::Offered => frame.x,
            Side::Required => frame.x + frame.width,
        };
        (x, frame.y + self.heads[port.owner] + LINE * (port.index as f64 + 0.5))
    }

    /// The boxes in a box, from left to right and from above to below.
    pub fn columns_in(&self, around: usize) -> &[Vec<usize>] {
        &self.columns[around]
    }

    /// Sizes of all boxes in a box and their places within it; what they take altogether.
    fn columns(&mut self, picture: &Picture, parent: Option<usize>) -> (f64, f64) {
        let (mut x, mut lowest) = (0.0, 0.0f64);
        let columns = columns(picture, parent);
        if let Some(parent) = parent {
            self.columns[parent].clone_from(&columns);
        }
        for column in columns {
            let (mut y, mut widest) = (0.0, 0.0f64);
            for index in column {
                let (width, height) = self.size(picture, index);
                self.frames[index] = Frame { x, y, width, height };
                widest = widest.max(width);
                y += height + DOWN;
            }
            x += widest + ACROSS;
            lowest = lowest.max(y);
        }
        if x == 0.0 { (0.0, 0.0) } else { (x - ACROSS, lowest - DOWN) }
    }

    fn size(&mut self, picture: &Picture, index: usize) -> (f64, f64) {
        let component = &picture.boxes[index];
        let (mut width, mut height) = self.columns(picture, Some(index));
        let lines = component.offers.len().max(component.requires.len());
        if width > 0.0 {
            width += 2.0 * ACROSS;
            height += MARGIN;
        } else {
            width = MARGIN;
        }
        width += side(&component.offers) + side(&component.requires);
        let texts = component.notes.iter().chain([&component.name]);
        let longest = texts.map(|text| text.chars().count()).max().unwrap_or(0);
        width = width.max(longest as f64 * CHARACTER + 2.0 * MARGIN);
        (width, self.heads[index] + height.max(LINE * lines as f64) + MARGIN)
    }

    /// From places within the box around to places in the drawing.
    fn shift(&mut self, picture: &Picture, parent: Option<usize>, x: f64, y: f64) {
        for index in picture.inside(parent) {
            let frame = &mut self.frames[index];
            (frame.x, frame.y) = (frame.x + x, frame.y + y);
            let head = self.heads[index];
            let (x, y) = (frame.x + side(&picture.boxes[index].offers) + ACROSS, frame.y + head);
            self.shift(picture, Some(index), x, y);
        }
    }
}

/// What name and notes of a box take.
fn head(component: &Component) -> f64 {
    TITLE + NOTE * component.notes.len() as f64
}

/// What the names at one side of a box take.
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
        // At the height of what they are joined with.
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
    /// Being found: whoever asks closes a circle, which is cut here.
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
