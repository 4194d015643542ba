use std::fs;

use crate::{all_programs, complaint, drystone, folder_with, printed, status};

const PROGRAM: &str = "
COMPONENT Main;
INTERFACE I; IN M END I;
COMPONENT Server OFFERS I;
  IMPLEMENTATION I; BEGIN ?M END I;
END Server;
COMPONENT Outer OFFERS I REQUIRES I;
VARIABLE inner: Server;
BEGIN NEW(inner); CONNECT(I, inner) END Outer;
VARIABLE server: Server; outer: Outer; other: ANY(I);
BEGIN
  NEW(server); NEW(outer); NEW(other, Server);
  CONNECT(I(outer), server);
  CONNECT(I(outer), other)
END Main;
";

#[test]
fn every_program_can_be_drawn() {
    for program in all_programs() {
        let folder = program.parent().expect("a program is in a folder");
        let name = program.file_name().and_then(|name| name.to_str()).expect("a plain name");
        let output = drystone(folder, &["graph", name]);
        assert_eq!(status(&output), 0, "{}", complaint(&output));
        let text = printed(&output);
        let drawing = roxmltree::Document::parse(&text).expect("it is XML");
        assert!(drawing.root_element().has_tag_name(("http://www.w3.org/2000/svg", "svg")));
        let places = text.split('"').filter(|part| part.contains("NaN") || part.contains("inf"));
        assert_eq!(places.collect::<Vec<_>>(), [""; 0], "{name}");
    }
}

#[test]
fn components_interfaces_and_connections_are_drawn() {
    let folder = folder_with(PROGRAM);
    let output = drystone(folder.path(), &["graph", "program.dry", "-o", "out.svg"]);
    assert_eq!((printed(&output).as_str(), status(&output)), ("", 0), "{}", complaint(&output));
    let text = fs::read_to_string(folder.path().join("out.svg")).expect("it is there");
    let drawing = roxmltree::Document::parse(&text).expect("it is XML");
    let count = |tag: &str, class: &str| {
        let nodes = drawing.descendants().filter(|node| node.tag_name().name() == tag);
        nodes.filter(|node| class.is_empty() || node.attribute("class") == Some(class)).count()
    };
    // Main; server, outer, other in it; inner in outer.
    assert_eq!(count("text", "name"), 5);
    assert!(text.contains(">outer: Outer<") && text.contains(">other: ANY<"));
    assert_eq!(count("rect", "any"), 1);
    assert_eq!((count("circle", "offered"), count("circle", "required")), (4, 1));
    assert_eq!(count("path", ""), 3);
    assert!(text.contains("<title>program.dry:9</title>"));
}

#[test]
fn graphviz_gets_text() {
    let folder = folder_with(PROGRAM);
    let output = drystone(folder.path(), &["graph", "--dot", "program.dry"]);
    assert_eq!(status(&output), 0);
    let text = printed(&output);
    assert!(text.starts_with("digraph program {") && text.ends_with("}\n"), "{text}");
    assert_eq!((text.matches("subgraph").count(), text.matches(" -> ").count()), (5, 3), "{text}");
    assert_eq!(text.matches('{').count(), text.matches('}').count());
}
