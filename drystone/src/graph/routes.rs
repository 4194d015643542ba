//! The ways that connections take. They keep to the space between boxes: up and down in the *channels* between columns,
//! across a column in the *gaps* below its boxes.

use std::collections::HashMap;

use super::layout::{Frame, Layout};
use super::picture::{Connection, Picture, Side};

/// A point of the drawing.
pub type Point = (f64, f64);

/// For each connection of the picture the corners of its way, from its client to its server.
pub fn routes(picture: &Picture, layout: &Layout) -> Vec<Vec<Point>> {
    let plans: Vec<Plan> =
        picture.connections.iter().map(|connection| Plan::of(picture, layout, connection)).collect();
    let mut lanes = Lanes::default();
    plans.iter().for_each(|plan| lanes.reserve(plan));
    plans.iter().map(|plan| lanes.corners(layout, plan)).collect()
}

/// A stretch between boxes that ways can share side by side.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Stretch {
    /// Left of a column, or right of the last: box around, number of the column.
    Channel(usize, usize),
    /// Below a box.
    Gap(usize),
}

/// Which stretches a connection runs through: a channel, then a gap and a channel for each column that it crosses.
struct Plan {
    from: Point,
    to: Point,
    stretches: Vec<Stretch>,
}

impl Plan {
    fn of(picture: &Picture, layout: &Layout, connection: &Connection) -> Plan {
        let Connection { from, to, .. } = *connection;
        // What stands in the box around, or is its own interface.
        let around = match (from.side, to.side) {
            (Side::Required, _) => picture.boxes[from.owner].parent.expect("who connects it is around it"),
            (Side::Offered, _) => from.owner,
        };
        let columns = layout.columns_in(around);
        let column_of = |owner| columns.iter().position(|column| column.contains(&owner));
        let first = column_of(from.owner).map_or(0, |column| column + 1);
        let last = column_of(to.owner).unwrap_or(columns.len());
        let mut plan = Plan {
            from: layout.point(from),
            to: layout.point(to),
            stretches: vec![Stretch::Channel(around, first)],
        };
        let crossed: Vec<(usize, usize)> = match first <= last {
            true => (first..last).map(|column| (column, column + 1)).collect(),
            false => (last..first).rev().map(|column| (column, column)).collect(),
        };
        let mut height = plan.from.1;
        for (column, channel) in crossed {
            let detour = |&owner: &usize| {
                let (top, bottom) = layout.gap(around, owner);
                let middle = (top + bottom) / 2.0;
                (((middle - height).abs() + (middle - plan.to.1).abs()) as u64, owner)
            };
            let above = columns[column].iter().min_by_key(|owner| detour(owner));
            let &above = above.expect("no column is empty");
            let (top, bottom) = layout.gap(around, above);
            height = (top + bottom) / 2.0;
            plan.stretches.extend([Stretch::Gap(above), Stretch::Channel(around, channel)]);
        }
        plan
    }
}

/// How many ways run through each stretch, and how many of them have been drawn.
#[derive(Default)]
struct Lanes(HashMap<Stretch, (usize, usize)>);

impl Lanes {
    fn reserve(&mut self, plan: &Plan) {
        for &stretch in &plan.stretches {
            self.0.entry(stretch).or_default().0 += 1;
        }
    }

    /// The next free lane of a stretch that reaches from one place to another.
    fn take(&mut self, stretch: Stretch, (from, to): (f64, f64)) -> f64 {
        let (all, taken) = self.0.get_mut(&stretch).expect("it was reserved");
        *taken += 1;
        from + (to - from) * *taken as f64 / (*all + 1) as f64
    }

    fn corners(&mut self, layout: &Layout, plan: &Plan) -> Vec<Point> {
        let mut corners = vec![plan.from];
        let mut y = plan.from.1;
        for (number, &stretch) in plan.stretches.iter().enumerate() {
            match stretch {
                Stretch::Channel(around, column) => {
                    let x = self.take(stretch, layout.channel(around, column));
                    corners.push((x, y));
                    y = match plan.stretches.get(number + 1) {
                        Some(&gap @ Stretch::Gap(above)) => self.take(gap, layout.gap(around, above)),
                        _ => plan.to.1,
                    };
                    corners.push((x, y));
                }
                Stretch::Gap(_) => {} // Its height was taken in the channel before it.
            }
        }
        corners.push(plan.to);
        corners.dedup();
        corners
    }
}

impl Layout {
    /// From left to right: the space between two columns, or a column and the side of the box around.
    fn channel(&self, around: usize, column: usize) -> (f64, f64) {
        let columns = self.columns_in(around);
        let frames = |column: usize| columns[column].iter().map(|&owner| &self.frames[owner]);
        let right = |frame: &Frame| frame.x + frame.width;
        let outer = &self.frames[around];
        let from = match column.checked_sub(1) {
            Some(before) => frames(before).map(right).fold(f64::MIN, f64::max),
            None if columns.is_empty() => outer.x,
            None => frames(0).map(|frame| frame.x).fold(f64::MAX, f64::min) - super::layout::ACROSS,
        };
        let to = match column < columns.len() {
            true => frames(column).map(|frame| frame.x).fold(f64::MAX, f64::min),
            false if columns.is_empty() => right(outer),
            false => from + super::layout::ACROSS,
        };
        (from, to)
    }

    /// From above to below: the space below a box, down to the next one of its column, or the side of the box around.
    fn gap(&self, around: usize, owner: usize) -> (f64, f64) {
        let columns = self.columns_in(around);
        let below = columns.iter().find_map(|column| {
            let place = column.iter().position(|&other| other == owner)?;
            column.get(place + 1)
        });
        let top = self.frames[owner].bottom();
        (top, below.map_or(self.frames[around].bottom(), |&below| self.frames[below].y))
    }
}
