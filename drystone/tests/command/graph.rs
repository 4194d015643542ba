mod drawn;

use std::fs;
use std::time::{Duration, Instant};

use crate::peer::Peer;
use crate::{DRYSTONE, all_programs, complaint, drystone, folder_with, printed, status};
use drystone_golden::free_port;

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
    // Main; in it server, outer and other; in outer inner.
    assert_eq!(count("text", "name"), 5);
    assert!(text.contains(">outer: Outer<") && text.contains(">other: ANY<"));
    assert_eq!(count("rect", "any"), 1);
    assert_eq!((count("circle", "offered"), count("circle", "required")), (4, 1));
    assert_eq!(count("path", ""), 3);
    assert!(text.contains("<title>program.dry:9</title>"));
}

#[test]
fn a_name_stands_between_what_it_joins() {
    let folder = folder_with(
        "COMPONENT Main;
INTERFACE I; IN M END I;
COMPONENT Server OFFERS I; IMPLEMENTATION I; BEGIN ?M END I; END Server;
COMPONENT Client REQUIRES I; BEGIN I!M END Client;
VARIABLE server: Server; client, other: Client; host: TEXT;
BEGIN
  host := \"h\"; NEW(server); NEW(client); NEW(other);
  EXPORT(I(server), \"local:i\"); CONNECT(I(client), \"local:i\"); CONNECT(I(other), \"tcp://\" + host)
END Main;
",
    );
    let output = drystone(folder.path(), &["graph", "--dot", "program.dry"]);
    let text = printed(&output);
    let label = |number: usize, name: &str| format!("subgraph cluster_{number} {{\n      label=\"{name}\"");
    for expected in [
        &label(1, "server: Server"),
        &label(2, "client, other: Client"),
        &label(3, "local:i"),
        &label(4, "\\\"tcp://\\\" + host"),
        "requires_3_0 -> offers_1_0",
        "requires_2_0 -> offers_3_0",
        "requires_2_0 -> offers_4_0",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
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

/// A thousand guests of one host, which in the end keeps them all waiting; and guests connected by a name, by BY, and
/// to a host elsewhere.
const TOWN: &str = "
COMPONENT Town;
INTERFACE Greet; { IN Name(x: INTEGER) OUT Greeting(x: INTEGER) } END Greet;
COMPONENT Host OFFERS Greet;
  IMPLEMENTATION Greet;
  VARIABLE x: INTEGER;
  BEGIN WHILE ?Name DO ?Name(x); IF x = 0 THEN PASSIVATE(1000000) END; !Greeting(x + 1) END END Greet;
END Host;
COMPONENT Guest REQUIRES Greet;
VARIABLE x: INTEGER;
BEGIN Greet!Name(1); Greet?Greeting(x); Greet!Name(0); Greet?Greeting(x) END Guest;
COMPONENT Inn OFFERS Greet;
VARIABLE room[i: INTEGER]: Host; i: INTEGER;
BEGIN FOR i := 1 TO 5 DO NEW(room[i]) END; CONNECT(Greet, room[3]) END Inn;
COMPONENT Link OFFERS Greet;
  IMPLEMENTATION Greet;
  VARIABLE next: Link; x: INTEGER;
  BEGIN
    WHILE ?Name DO
      ?Name(x); IF x > 0 THEN NEW(next); next!Name(x - 1); next?Greeting(x) END; !Greeting(x)
    END
  END Greet;
END Link;
VARIABLE host, far: Host; inn: Inn; chain: Link; guest[i: INTEGER]: Guest; traveller, visitor, tourist, \
  sleeper: Guest; i: INTEGER;
BEGIN
  NEW(host); NEW(inn); NEW(far) AT \"worker:1\";
  EXPORT(Greet(host), \"tcp://127.0.0.1:NUMBER/host\");
  FOR i := 1 TO 1000 DO NEW(guest[i]); CONNECT(Greet(guest[i]), host) END;
  NEW(traveller); CONNECT(Greet(traveller), \"tcp://127.0.0.1:NUMBER/host\");
  NEW(visitor); CONNECT(Greet(visitor), host) BY Monitored();
  NEW(tourist); CONNECT(Greet(tourist), far);
  NEW(chain); chain!Name(20); chain?Greeting(i);
  NEW(sleeper); CONNECT(Greet(sleeper), inn);
  WRITE(\"ready\"); WRITELINE; PASSIVATE(1000000)
END Town;
";

#[test]
fn a_program_that_runs_is_drawn() {
    let folder = folder_with(&TOWN.replace("NUMBER", &free_port().to_string()));
    let mut town = Peer::start(folder.path(), DRYSTONE, &["run", "--control", "socket", "program.dry"]);
    assert_eq!(town.line(), "ready");
    let draw = |file: &str| {
        let output = drystone(folder.path(), &["graph", "--live", "socket", "-o", file]);
        assert_eq!((complaint(&output).as_str(), status(&output)), ("", 0));
        fs::read_to_string(folder.path().join(file)).expect("it is there")
    };
    let boxes = [
        "1000 \u{d7} BEGIN waits",
        "1002 \u{d7} Greet waits for its time",
        "guest[]: Guest \u{d7} 1000\\n1000 \u{d7} BEGIN waits for a message from Town.host at program.dry:",
        "traveller: Guest\\nBEGIN waits for a message from tcp://127.0.0.1:",
        "visitor: Guest\\nBEGIN waits for a message from Town.host at",
        "BY Monitored\\nGreet: 1 communications, 1 open, 0 lost\\nsent 2 messages (16 bytes), received 1 \
         messages (8 bytes)",
        "/host\\nGreet: 1 communications, 1 open, 0 lost\\nsent 2 messages (16 bytes), received 1 messages (8 bytes)\\n\
         Greet exported: 1 communications, 1 open, 0 lost\\nsent 1 messages (8 bytes), received 2 messages (16 bytes)",
        "far: Host AT worker:1\\n",
        "room[]: Host \u{d7} 5",
        "next: Link \u{d7} 20\\n20 \u{d7} Greet waits for a message at",
    ];
    let is_quiet = |text: &str| boxes.iter().all(|box_| text.contains(box_)) && !text.contains("can run");
    let until = Instant::now() + Duration::from_secs(20);
    let mut text = draw("out.dot");
    while !is_quiet(&text) && Instant::now() < until {
        text = draw("out.dot");
    }
    for box_ in boxes {
        assert!(text.contains(box_), "{box_}: {text}");
    }
    let node = |name: &str, interface: &str| {
        let (_, cluster) = text.split_once(&format!("label=\"{name}")).expect("it is drawn");
        let (node, _) = cluster.split_once(&format!(" [label=\"{interface}\"")).expect("it has it");
        node.rsplit(' ').next().expect("a word").to_string()
    };
    let requiring = |name: &str| node(name, "Greet").replace("offers", "requires");
    for (client, server) in [
        (node("guest[]", "Greet"), node("host", "Greet")),
        (node("traveller", "Greet"), node("tcp:", "Greet")),
        (requiring("tcp:"), node("host", "Greet")),
        (node("visitor", "Greet"), node("BY", "Greet")),
        (requiring("BY"), node("host", "Greet")),
        (node("tourist", "Greet"), node("far", "Greet")),
        (node("sleeper", "Greet"), node("inn", "Greet")),
        (node("inn", "Greet"), node("room[]", "Greet")),
    ] {
        assert!(text.contains(&format!("  {client} -> {server} ")), "{client} -> {server}: {text}");
    }
    assert_eq!((text.matches("subgraph").count(), text.matches(" -> ").count()), (15, 8), "{text}");
    let drawing = draw("out.svg");
    assert!(drawing.contains("<title>1000 connected, 1000 talking</title>"));
    assert_eq!(crossings(&drawing), [""; 0]);
}

/// The components of all of a service's processes have the same path.
const DESK: &str = "
COMPONENT Office;
INTERFACE Ask; { IN Name(x: INTEGER) } END Ask;
COMPONENT Pen; END Pen;
COMPONENT Clerk; VARIABLE pen: Pen; BEGIN NEW(pen) END Clerk;
COMPONENT Desk OFFERS Ask;
  IMPLEMENTATION Ask;
  VARIABLE x: INTEGER; clerk: Clerk;
  BEGIN NEW(clerk); WHILE ?Name DO ?Name(x) END END Ask;
END Desk;
COMPONENT Guest REQUIRES Ask; BEGIN Ask!Name(1); Ask!Name(2); PASSIVATE(1000000) END Guest;
VARIABLE desk: Desk; guest[i: INTEGER]: Guest; i: INTEGER;
BEGIN
  NEW(desk); FOR i := 1 TO 20 DO NEW(guest[i]); CONNECT(Ask(guest[i]), desk) END;
  WRITE(\"ready\"); WRITELINE; PASSIVATE(1000000)
END Office;
";

#[test]
fn what_a_service_holds_is_counted_once_for_each_of_its_processes() {
    let folder = folder_with(DESK);
    let mut office = Peer::start(folder.path(), DRYSTONE, &["run", "--control", "socket", "program.dry"]);
    assert_eq!(office.line(), "ready");
    let boxes = ["clerk: Clerk \u{d7} 20\"", "pen: Pen \u{d7} 20\"", "guest[]: Guest \u{d7} 20\\n"];
    let until = Instant::now() + Duration::from_secs(20);
    let mut text = String::new();
    while !boxes.iter().all(|box_| text.contains(box_)) && Instant::now() < until {
        text = printed(&drystone(folder.path(), &["graph", "--dot", "--live", "socket"]));
    }
    for box_ in boxes {
        assert!(text.contains(box_), "{box_}: {text}");
    }
}

#[test]
fn only_a_program_that_runs_is_drawn_by_its_socket() {
    let folder = folder_with(PROGRAM);
    let output = drystone(folder.path(), &["graph", "--live", "socket"]);
    assert_eq!(
        (complaint(&output).as_str(), status(&output)),
        ("error: socket: there is no such socket\n", 1)
    );
    assert_eq!(status(&drystone(folder.path(), &["graph", "--live", "socket", "program.dry"])), 2);
    assert_eq!(status(&drystone(folder.path(), &["graph"])), 2);
}

/// The sides of a rectangle, or of a stretch of a line.
type Sides = (f64, f64, f64, f64);

/// Reports stretches of connections that cross a box which they don't lead to or out of.
fn crossings(svg: &str) -> Vec<String> {
    let drawing = roxmltree::Document::parse(svg).expect("it is XML");
    let number = |node: &roxmltree::Node, name: &str| node.attribute(name)?.parse::<f64>().ok();
    let nodes = |tag: &'static str| drawing.descendants().filter(move |node| node.tag_name().name() == tag);
    let boxes: Vec<Sides> = nodes("rect")
        .filter_map(|node| {
            let (x, y) = number(&node, "x").zip(number(&node, "y"))?;
            Some((x, y, x + number(&node, "width")?, y + number(&node, "height")?))
        })
        .collect();
    let mut found = Vec::new();
    for path in nodes("path").filter_map(|node| node.attribute("d")) {
        let numbers = path.split(|c: char| !c.is_ascii_digit() && c != '.' && c != '-');
        let numbers: Vec<f64> = numbers.filter_map(|text| text.parse().ok()).collect();
        let points: Vec<(f64, f64)> = numbers.chunks(2).map(|pair| (pair[0], pair[1])).collect();
        let around = |&&(left, top, right, bottom): &&Sides| {
            points.iter().all(|&(x, y)| {
                // Coordinates have one decimal.
                left - 0.2 <= x && x <= right + 0.2 && top - 0.2 <= y && y <= bottom + 0.2
            })
        };
        let others = boxes.iter().filter(|sides| !around(sides));
        for &(left, top, right, bottom) in others {
            let crosses = points.windows(2).any(|ends| {
                let ((x, y), (to_x, to_y)) = (ends[0], ends[1]);
                // Stretches that are neither horizontal nor vertical are rounded corners, a few pixels long.
                x.min(to_x) < right - 1.0
                    && x.max(to_x) > left + 1.0
                    && y.min(to_y) < bottom - 1.0
                    && y.max(to_y) > top + 1.0
            });
            if crosses {
                found.push(format!("{path} through {left},{top} to {right},{bottom}"));
            }
        }
    }
    found
}

#[test]
fn connections_go_round_what_they_have_nothing_to_do_with() {
    for program in all_programs() {
        let folder = program.parent().expect("a program is in a folder");
        let name = program.file_name().and_then(|name| name.to_str()).expect("a plain name");
        let output = drystone(folder, &["graph", name]);
        assert_eq!(crossings(&printed(&output)), [""; 0], "{name}");
    }
    let mut random = 1u64;
    let mut below = |n: u64| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) % n
    };
    for _ in 0..60 {
        let folder = folder_with(&many_connections(&mut below));
        let output = drystone(folder.path(), &["graph", "program.dry"]);
        assert_eq!(status(&output), 0, "{}", complaint(&output));
        let text = fs::read_to_string(folder.path().join("program.dry")).expect("it is there");
        assert_eq!(crossings(&printed(&output)), [""; 0], "{text}");
        assert_eq!(drawn::faults(&printed(&output)), [""; 0], "{text}");
    }
}

/// Components of several sizes with random connections: forwards, backwards, to themselves, inward and outward.
fn many_connections(below: &mut impl FnMut(u64) -> u64) -> String {
    let templates = 2 + below(5);
    let mut text = "INTERFACE I; END I;\nINTERFACE AnotherInterface; END AnotherInterface;\n".to_string();
    for number in 0..templates {
        let more = if below(2) == 0 { ", AnotherInterface" } else { "" };
        let name = ["C", "SomeLongerName"][below(2) as usize];
        text += &format!("COMPONENT {name}{number} OFFERS I REQUIRES I{more};\n");
        let inside = number.min(below(5));
        if inside > 0 {
            let held: Vec<String> =
                (0..inside).map(|inner| format!("v{inner}: ANY(I | I, AnotherInterface)")).collect();
            text += &format!("VARIABLE {};\nBEGIN CONNECT(I, v0)", held.join("; "));
            for _ in 0..below(3 * inside) {
                let (from, to) = (below(inside), below(inside + 1));
                let to = if to == inside { "I".to_string() } else { format!("v{to}") };
                text += &format!("; CONNECT(I(v{from}), {to})");
            }
        } else if below(2) == 0 {
            text += "BEGIN CONNECT(I, I)";
        } else {
            text += "IMPLEMENTATION I; END I;";
        }
        text += &format!("\nEND {name}{number};\n");
    }
    let names: Vec<String> = text
        .lines()
        .filter_map(|line| line.strip_prefix("COMPONENT ")?.split_once(' '))
        .map(|(name, _)| name.to_string())
        .collect();
    text += "COMPONENT Main;\n";
    for (number, name) in names.iter().enumerate() {
        text += &format!("VARIABLE x{number}: {name};\n");
    }
    text += "BEGIN WRITELINE";
    for _ in 0..below(4 * templates) {
        let to = match below(templates + 1) {
            to if to < templates => format!("x{to}"),
            _ => "\"local:somewhere\"".to_string(),
        };
        text += &format!("; CONNECT(I(x{}), {to})", below(templates));
    }
    text + "\nEND Main;\n"
}
