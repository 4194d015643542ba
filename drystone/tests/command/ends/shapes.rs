//! Programs in which servers, those between, and guests are held anywhere, and find each other by names.

use std::fmt::Write;
use std::mem::replace;

/// One of them, and what its guests print together.
pub struct Shape {
    pub program: String,
    pub printed: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Item {
    /// Has the name of this number.
    Host(usize),
    /// Has this one, and uses one of those before.
    Between(usize),
    Guest,
    /// A guest that fails.
    Bomb,
}

/// Where components may be, and what becomes of them.
#[derive(Clone, Copy)]
pub struct Ground {
    /// Those that are exported by tcp share the first one, those by http the second; none: there is no network.
    pub ports: Option<[u16; 2]>,
    /// Where some are made.
    pub places: &'static [&'static str],
    /// Some fail, some are isolated: nobody knows what will be printed.
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

/// Makes one.
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

    /// The variables and the body of one that holds these, some of them in others.
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

    /// Its name.
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
