//! The routes of connections. They keep to the space between boxes: up and down in the *channels* between columns,
//! across a column in the *gaps* below its boxes. No two lie on one another: each has its own lane in a channel, and in
//! a gap a height at which nothing else runs beside it.

use std::collections::HashMap;

use super::layout::{Layout, Stretch, Traffic};
use super::picture::{Picture, Side};
use super::slots::{End, Ends};

/// A point of the drawing.
pub type Point = (f64, f64);

/// Between lines side by side, at least, if there is room.
const APART: f64 = 2.5;

/// The layout, and for each connection of the picture the corners of its route, from client to server.
pub fn laid_out(picture: &Picture) -> (Layout, Vec<Vec<Point>>) {
    let first = Layout::of(picture, None);
    let plans: Vec<Plan> = first.ends.iter().map(|ends| Plan::of(&first, ends)).collect();
    let mut traffic = Traffic::default();
    for stretch in plans.iter().flat_map(|plan| &plan.0) {
        *traffic.entry(*stretch).or_default() += 1;
    }
    let mut layout = Layout::of(picture, Some((&first, traffic.clone())));
    let ends = layout.ends.clone();
    for (ends, _) in ends.iter().zip(&plans).filter(|(_, plan)| plan.0.len() == 1) {
        layout.straighten(ends);
    }
    let mut lanes =
        Lanes { picture, layout: &layout, traffic, taken: HashMap::new(), heights: HashMap::new() };
    let ways = ends.iter().zip(&plans).map(|(ends, plan)| lanes.corners(ends, plan)).collect();
    (layout, ways)
}

/// The stretches that a connection runs through: a channel, then a gap and a channel for each column that it crosses.
struct Plan(Vec<Stretch>);

impl Plan {
    fn of(layout: &Layout, ends: &Ends) -> Plan {
        let Ends { around, from, to } = *ends;
        let columns = layout.columns_in(around);
        let channel_of = |end: End| {
            let column = columns.iter().position(|column| column.contains(&end.port.owner));
            match (end.inside, end.port.side) {
                (false, Side::Offered) => column.expect("it stands there"),
                (false, Side::Required) => column.expect("it stands there") + 1,
                (true, Side::Offered) => 0,
                (true, Side::Required) => columns.len(),
            }
        };
        let (first, last) = (channel_of(from), channel_of(to));
        let mut stretches = vec![Stretch::Channel(around, first)];
        let crossed: Vec<(usize, usize)> = match first <= last {
            true => (first..last).map(|column| (column, column + 1)).collect(),
            false => (last..first).rev().map(|column| (column, column)).collect(),
        };
        let (mut height, end) = (layout.point(from).1, layout.point(to).1);
        for (column, channel) in crossed {
            let middle = |owner: usize| {
                let (top, bottom) = layout.gap(around, owner);
                (top + bottom) / 2.0
            };
            let detour = |&owner: &usize| {
                (((middle(owner) - height).abs() + (middle(owner) - end).abs()) as u64, owner)
            };
            let above = columns[column].iter().min_by_key(|owner| detour(owner));
            let &above = above.expect("no column is empty");
            height = middle(above);
            stretches.extend([Stretch::Gap(above), Stretch::Channel(around, channel)]);
        }
        Plan(stretches)
    }
}

/// What has been drawn in each stretch.
struct Lanes<'a> {
    picture: &'a Picture,
    layout: &'a Layout,
    traffic: Traffic,
    /// How many lanes of each stretch are taken.
    taken: HashMap<Stretch, usize>,
    /// By outer box: the heights at which lines run across.
    heights: HashMap<usize, Vec<f64>>,
}

impl Lanes<'_> {
    /// The next free lane of a stretch that reaches from one place to another.
    fn take(&mut self, stretch: Stretch, (from, to): (f64, f64)) -> f64 {
        let taken = self.taken.entry(stretch).or_default();
        *taken += 1;
        from + (to - from) * *taken as f64 / (self.traffic[&stretch] + 1) as f64
    }

    /// Likewise the height of the next lane of a gap, apart from all lines that run beside it.
    fn take_height(&mut self, around: usize, above: usize) -> f64 {
        let (top, bottom) = self.layout.gap(around, above);
        let wanted = self.take(Stretch::Gap(above), (top, bottom));
        let (picture, layout) = (self.picture, self.layout);
        let used = self.heights.entry(around).or_insert_with(|| layout.heights(picture, around));
        let nearest = |height: f64| {
            let others = used.iter().map(|other| (other - height).abs());
            others.fold(APART, f64::min)
        };
        let steps = 2 * (bottom - top).max(0.0) as usize;
        let heights = (2..steps.saturating_sub(2)).map(|step| top + step as f64 / 2.0);
        let best = heights.chain([wanted]).max_by(|&one, &other| {
            let far = |height: f64| -(height - wanted).abs();
            nearest(one).total_cmp(&nearest(other)).then(far(one).total_cmp(&far(other)))
        });
        let height = best.unwrap_or(wanted);
        used.push(height);
        height
    }

    fn corners(&mut self, ends: &Ends, plan: &Plan) -> Vec<Point> {
        let (from, to) = (self.layout.point(ends.from), self.layout.point(ends.to));
        let mut corners = vec![from];
        let mut y = from.1;
        for (number, &stretch) in plan.0.iter().enumerate() {
            // A gap's height is taken while its line is in the channel before it.
            let Stretch::Channel(around, column) = stretch else { continue };
            let x = self.take(stretch, self.layout.channel(self.picture, around, column));
            corners.push((x, y));
            y = match plan.0.get(number + 1) {
                Some(&Stretch::Gap(above)) => self.take_height(around, above),
                _ => to.1,
            };
            corners.push((x, y));
        }
        corners.push(to);
        corners.dedup();
        corners
    }
}
