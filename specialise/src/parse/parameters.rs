//! Parameter names from debug information, for IR that has dropped its own names.

/// Positions and names of the source's parameters, for a function whose body begins at a place of the text. A structure
/// that is passed in several registers has several parameters in the IR. Then the positions differ, and no names are
/// given.
pub(super) fn in_source(text: &str, start: usize) -> Vec<(usize, String)> {
    let header = &text[text[..start].rfind('\n').map_or(0, |at| at + 1)..start];
    let Some(subprogram) = header.split("!dbg !").nth(1).and_then(number) else { return Vec::new() };
    let scope = format!("scope: !{subprogram},");
    text.match_indices("!DILocalVariable(name: \"")
        .filter_map(|(at, begin)| {
            let line = text[at + begin.len()..].lines().next()?;
            let (name, rest) = line.split_once('"')?;
            let position: usize = number(rest.split_once("arg: ")?.1)?;
            (rest.contains(&scope) && position > 0).then(|| (position - 1, name.to_owned()))
        })
        .collect()
}

/// The number at the beginning of a text.
fn number(text: &str) -> Option<usize> {
    text.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}
