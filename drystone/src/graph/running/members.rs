//! The text on a box that stands for one component or for many that are alike.

use serde_json::Value;

use crate::control::{Doing, list, text};

/// Most lines about processes.
const LINES: usize = 6;

/// Whether two components are alike, given that they have the same holder or holders that are alike.
pub fn are_alike(one: &Value, other: &Value) -> bool {
    ["variable", "template", "place"].iter().all(|&what| one[what] == other[what])
}

/// `client[1]: Client`, or `client[]: Client × 1000`. The holder is the first one's.
pub fn name(members: &[&Value], holder: Option<&Value>) -> String {
    let first = members[0];
    let (path, variable, template) =
        (text(&first["path"]), text(&first["variable"]), text(&first["template"]));
    let place = match text(&first["place"]) {
        "" => String::new(),
        place => format!(" AT {place}"),
    };
    // What follows the holder's path and a point.
    let own = match holder {
        None => return template.into(),
        Some(holder) => &path[text(&holder["path"]).len() + 1..],
    };
    match members.len() {
        1 => format!("{own}: {template}{place}"),
        count => {
            let index = if own.ends_with(']') { "[]" } else { "" };
            format!("{variable}{index}: {template}{place} \u{d7} {count}")
        }
    }
}

/// What the processes wait for.
pub fn notes(members: &[&Value]) -> Vec<String> {
    let all = Doing::of(members.iter().flat_map(|component| list(&component["processes"])), true);
    let left: usize = all.iter().skip(LINES).map(|doing| doing.count).sum();
    let mut lines: Vec<String> = all.iter().take(LINES).map(line).collect();
    if left > 0 {
        lines.push(format!("and {left} processes more"));
    }
    lines
}

fn line(doing: &Doing) -> String {
    let times = if doing.count == 1 { String::new() } else { format!("{} \u{d7} ", doing.count) };
    // The file's name is enough, without its folder.
    let at = doing.at.rsplit('/').next().filter(|at| !at.is_empty());
    let at = at.map_or(String::new(), |at| format!(" at {at}"));
    format!("{times}{} {}{at}", doing.runs, doing.waits())
}
