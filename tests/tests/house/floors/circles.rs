//! Circles of a graph: its strongly connected components of more than one node.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What files use: for each pair a line of the first file that uses the second.
pub type Uses = BTreeMap<(String, String), (usize, String)>;

/// Files that use each other, in order.
#[derive(Debug)]
pub struct Circle {
    pub files: BTreeSet<String>,
    pub arrows: Vec<Arrow>,
}

/// That one file uses another one.
#[derive(Debug)]
pub struct Arrow {
    pub from: String,
    pub to: String,
    /// The number of a line in `from` that says so.
    pub line: usize,
    pub text: String,
}

impl fmt::Display for Circle {
    /// For people: the files, and for each of the arrows between them a line that makes it.
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        writeln!(out, "a circle of {} files:", self.files.len())?;
        self.files.iter().try_for_each(|file| writeln!(out, "  {file}"))?;
        for Arrow { from, to, line, text } in &self.arrows {
            writeln!(out, "{from} uses {to}:\n  {line}: {text}")?;
        }
        Ok(())
    }
}

/// The circles of a graph.
pub fn circles(uses: &Uses) -> Vec<Circle> {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in uses.keys() {
        next.entry(from).or_default().push(to);
    }
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        next.keys().map(|&file| (file, reached_from(file, &next))).collect();
    let reaches = |from: &str, to: &str| reached.get(from).is_some_and(|files| files.contains(to));
    let mut done: BTreeSet<&str> = BTreeSet::new();
    let mut circles = Vec::new();
    for &file in next.keys() {
        if done.contains(file) || !reaches(file, file) {
            continue;
        }
        let members: BTreeSet<&str> =
            reached[file].iter().copied().filter(|other| reaches(other, file)).collect();
        done.extend(&members);
        let within = |(from, to): &(String, String)| members.contains(&**from) && members.contains(&**to);
        let arrows = uses.iter().filter(|(pair, _)| within(pair)).map(|((from, to), (line, text))| Arrow {
            from: from.clone(),
            to: to.clone(),
            line: *line,
            text: text.clone(),
        });
        circles.push(Circle {
            arrows: arrows.collect(),
            files: members.into_iter().map(str::to_owned).collect(),
        });
    }
    circles
}

/// What can be reached from a file by one arrow or more.
fn reached_from<'a>(file: &'a str, next: &BTreeMap<&'a str, Vec<&'a str>>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![file];
    while let Some(file) = open.pop() {
        for &other in next.get(file).into_iter().flatten() {
            if reached.insert(other) {
                open.push(other);
            }
        }
    }
    reached
}
