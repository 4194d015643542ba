//! Generates programs with servers, intermediate components and guests in any nesting, which find each other by names.

use std::fmt::Write;
use std::mem::replace;

/// A program, and the total that its guests print.
pub struct Shape {
    pub program: String,
    pub printed: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Item {
    /// A server with this number's name.
    Host(usize),
    /// A server with this number's name that uses an earlier one.
    Between(usize),
    Guest,
    /// A guest that fails.
    Bomb,
}

/// Where components may be, and whether they may fail.
#[derive(Clone, Copy)]
pub struct Ground {
    /// Ports of exports by tcp and by http; `None`: there is no network.
    pub ports: Option<[u16; 2]>,
    /// Places for some components.
    pub places: &'static [&'static str],
    /// Some components fail, some are isolated: the output is unpredictable.
    pub is_rough: bool,
}

struct Maker<'a> {
    random: &'a mut dyn FnMut() -> u64,
    ground: Ground,
    names: Vec<String>,
    /// Components that others hold.
    templates: String,
    made: usize,
}

/// Generates a program.
pub fn shape(random: &mut dyn FnMut() -> u64, ground: Ground) -> Shape {
    let is_rough = ground.is_rough;
    let [hosts, between, guests] = [1, 0, 1].map(|least| least + (random() % 4) as usize);
    let name = |number| match (random() % 4, ground.ports) {
        (0, Some([port, _])) => format!("tcp://127.0.0.1:{port}/{number}"),
        (1, Some([_, port])) if is_rough => format!("http://127.0.0.1:{port}/{number}"),
        _ => format!("local:{number}"),
    };
    let names = (0..hosts + between).map(name).collect();
    let mut items: Vec<_> = (0..hosts).map(Item::Host).collect();
    items.extend((hosts..hosts + between).map(Item::Between));
    items.extend([Item::Guest].repeat(guests));
    items.extend([Item::Bomb].repeat(if is_rough { 1 + guests % 2 } else { 0 }));
    let mut maker = Maker { random, ground, names, templates: String::new(), made: 0 };
    maker.shuffle(&mut items);
    let body = maker.holder(items, 0, "BEGIN");
    let program = format!("COMPONENT Main;\nECHO\n{}{body}END Main;\n", maker.templates);
    Shape { program, printed: "2\n2\n".repeat(guests) }
}

impl Maker<'_> {
    fn below(&mut self, limit: usize) -> usize {
        (self.random)() as usize % limit
    }

    fn shuffle<T>(&mut self, all: &mut [T]) {
        for last in (1..all.len()).rev() {
            all.swap(last, self.below(last + 1));
        }
    }

    /// The variables and the body of a component that holds these items, some of them nested.
    fn holder(&mut self, mut items: Vec<Item>, depth: usize, when: &str) -> String {
        let (mut held, mut body) = (Vec::new(), Vec::new());
        while !items.is_empty() {
            let variable = format!("v{}", held.len());
            body.push(format!("NEW({variable})"));
            let made = body.len() - 1;
            if depth < 3 && self.below(5) < 2 {
                let rest = items.split_off(1 + self.below(items.len()));
                let template = self.template(replace(&mut items, rest), depth + 1);
                held.push(format!("  VARIABLE {variable}: {template};\n"));
                continue;
            }
            let item = items.remove(0);
            let template = match item {
                Item::Host(_) => "Host",
                Item::Between(_) => "Between",
                Item::Guest => "Guest",
                Item::Bomb => "Bomb",
            };
            let places = self.ground.places;
            if !places.is_empty() && self.below(3) == 0 {
                body[made] += &format!(" AT \"{}\"", places[self.below(places.len())]);
            }
            held.push(format!("  VARIABLE {variable}: {template};\n"));
            let others = match item {
                Item::Host(_) => 0,
                Item::Between(number) => number,
                Item::Guest | Item::Bomb => self.names.len(),
            };
            if others > 0 {
                let server = self.below(others);
                body.push(format!("CONNECT(Echo({variable}), \"{}\")", self.names[server]));
            }
            if let Item::Host(number) | Item::Between(number) = item {
                body.push(format!("EXPORT(Echo({variable}), \"{}\")", self.names[number]));
            }
        }
        self.shuffle(&mut held);
        format!("{}{when}\n  {}\n", held.concat(), body.join(";\n  "))
    }

    /// Adds a template; returns its name.
    fn template(&mut self, items: Vec<Item>, depth: usize) -> String {
        self.made += 1;
        let name = format!("C{}", self.made);
        let when = ["BEGIN", "ACTIVITY"][self.below(2)];
        let body = self.holder(items, depth, when);
        let isolated = if self.ground.is_rough && self.below(2) == 0 { " {ISOLATED}" } else { "" };
        writeln!(self.templates, "COMPONENT{isolated} {name};\n{body}END {name};").expect("text");
        name
    }
}
