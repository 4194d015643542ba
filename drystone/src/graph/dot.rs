//! A picture as text for Graphviz: a cluster for each component, a node for each interface.

use std::fmt::Write;

use super::picture::{Picture, Port, Side};

/// The text.
pub fn write(picture: &Picture) -> String {
    let mut text =
        "digraph program {\n  rankdir=LR; node [shape=box, style=rounded, fontname=monospace];\n".to_string();
    text += "  graph [fontname=monospace];\n";
    for index in picture.inside(None) {
        cluster(&mut text, picture, index, 1);
    }
    for connection in &picture.connections {
        let (from, to) = (node(connection.from), node(connection.to));
        let _ = writeln!(text, "  {from} -> {to} [tooltip={}];", quoted(&connection.title));
    }
    text + "}\n"
}

fn cluster(text: &mut String, picture: &Picture, owner: usize, depth: usize) {
    let component = &picture.boxes[owner];
    let indent = "  ".repeat(depth);
    let style = if component.any { "dashed" } else { "solid" };
    let _ = writeln!(text, "{indent}subgraph cluster_{owner} {{");
    let lines: Vec<_> = [&component.name].into_iter().chain(&component.notes).map(String::as_str).collect();
    let _ = writeln!(text, "{indent}  label={}; style={style};", quoted(&lines.join("\n")));
    let lists = [(Side::Offered, &component.offers, "bold"), (Side::Required, &component.requires, "dashed")];
    for (side, list, style) in lists {
        for (index, interface) in list.iter().enumerate() {
            let (node, label) = (node(Port { owner, side, index }), quoted(&interface.name));
            let _ = writeln!(text, "{indent}  {node} [label={label}, style=\"rounded,{style}\"];");
        }
    }
    if component.offers.is_empty() && component.requires.is_empty() {
        // Graphviz leaves out a cluster without nodes.
        let _ = writeln!(text, "{indent}  inside_{owner} [label=\"\", style=invis];");
    }
    for inner in picture.inside(Some(owner)) {
        cluster(text, picture, inner, depth + 1);
    }
    let _ = writeln!(text, "{indent}}}");
}

fn node(port: Port) -> String {
    let side = match port.side {
        Side::Offered => "offers",
        Side::Required => "requires",
    };
    format!("{side}_{}_{}", port.owner, port.index)
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
