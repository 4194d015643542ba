//! One suite for all engines: the same object and messages must give the same verdicts, regions and tables.

mod behind;
mod clients;
mod composed;
mod devices;
mod dispatchers;
mod filters;
mod initiation;
mod kept;
mod licences;
mod load;
mod namespace;
#[path = "../../../../../extension/tests/handler/objects.rs"]
mod objects;
mod owner;
mod pages;
mod signals;
mod there;

use drystone_extension::handler::{Ended, Frame, Handler, Image, Machine, Settings, Verdict};
use drystone_handlers::{Region, Xdp};
use objects::{compiled, datagram};

/// Where a handler runs.
trait Engine {
    /// What becomes of a message, and how it looks then.
    fn arrives(&mut self, message: &[u8]) -> (Verdict, Vec<u8>);
    fn region(&mut self) -> Vec<u8>;
    /// As the application writes to it.
    fn write(&mut self, bytes: &[u8]);
    fn value(&mut self, table: &str, key: &[u8]) -> Option<Vec<u8>>;
    /// All that it has said.
    fn heard(&mut self, ring: &str) -> Vec<Vec<u8>>;
}

/// Drystone's own.
struct Own(Handler, Option<Region>);

impl Own {
    fn new(image: &Image, interpreted: bool) -> Own {
        let settings = Settings { interpreted, key: 7, ..Settings::default() };
        Own(Handler::of(image, settings).expect("it is accepted"), None)
    }

    fn with_shared_region(image: &Image) -> Own {
        let length = image.region_bytes() as usize;
        if length == 0 {
            return Own::new(image, false);
        }
        let region = Region::new(None, length).expect("there is room");
        let handler =
            drystone_handlers::handler(image, &region, Settings::default()).expect("it is accepted");
        Own(handler, Some(region))
    }
}

const AROUND: usize = 256;

impl Engine for Own {
    fn arrives(&mut self, message: &[u8]) -> (Verdict, Vec<u8>) {
        let mut buffer = [&[0; AROUND], message, &[0; AROUND]].concat();
        let mut frame = Frame::new(&mut buffer, AROUND, AROUND + message.len());
        let Ended::With(verdict) = self.0.run(&mut frame, (1, 0), 5) else { panic!("it was stopped") };
        (verdict, frame.bytes().to_vec())
    }

    fn region(&mut self) -> Vec<u8> {
        match &self.1 {
            None => self.0.region().to_vec(),
            Some(region) => {
                let mut bytes = vec![0; region.length()];
                region.read(0, &mut bytes);
                bytes
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        match &self.1 {
            None => self.0.region()[..bytes.len()].copy_from_slice(bytes),
            Some(region) => region.write(0, bytes),
        }
    }

    fn value(&mut self, table: &str, key: &[u8]) -> Option<Vec<u8>> {
        self.0.table(table)?.get(key).map(|value| value.to_vec())
    }

    fn heard(&mut self, ring: &str) -> Vec<Vec<u8>> {
        match self.0.table(ring) {
            Some(drystone_extension::handler::tables::Table::Ring(ring)) => {
                std::iter::from_fn(|| ring.hear()).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Linux's, for messages that are handed to it without a device.
struct Linux(Xdp, Option<drystone_handlers::Ring>);

impl Engine for Linux {
    fn arrives(&mut self, message: &[u8]) -> (Verdict, Vec<u8>) {
        let (verdict, message, _) = self.0.run(message, 1).expect("it runs");
        (verdict, message)
    }

    fn region(&mut self) -> Vec<u8> {
        let Some(region) = self.0.region() else { return Vec::new() };
        let mut bytes = vec![0; region.length()];
        region.read(0, &mut bytes);
        bytes
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.region().expect("it has one").write(0, bytes);
    }

    fn value(&mut self, table: &str, key: &[u8]) -> Option<Vec<u8>> {
        self.0.table(table)?.get(key).expect("it can be read")
    }

    fn heard(&mut self, _: &str) -> Vec<Vec<u8>> {
        self.1.iter_mut().flat_map(|ring| std::iter::from_fn(|| ring.hear())).collect()
    }
}

type Engines = Vec<(&'static str, Box<dyn Engine>)>;

/// All of them, for a program that is made of some objects.
fn engines(name: &str, objects: &[Vec<u8>]) -> Engines {
    let objects: Vec<&[u8]> = objects.iter().map(Vec::as_slice).collect();
    let image = Image::composed(&objects, None, Machine::Drystone).expect("they are objects");
    let mut engines: Engines = vec![
        ("compiled", Box::new(Own::new(&image, false))),
        ("interpreted", Box::new(Own::new(&image, true))),
        ("with a shared region", Box::new(Own::with_shared_region(&image))),
    ];
    let image = Image::composed(&objects, None, Machine::Linux).expect("they are objects");
    match Xdp::load(&image) {
        Ok(xdp) => {
            let ring = image.maps.iter().find(|map| map.definition.is_some_and(|it| it.kind == 27));
            let ring = ring.map(|map| xdp.ring(&map.name).expect("it is a ring"));
            engines.push(("Linux", Box::new(Linux(xdp, ring))));
        }
        Err(why) if why.contains("not permitted") => println!("skipped: linux: {why}"),
        Err(why) => panic!("{name}: {why}"),
    }
    engines
}

/// Gives the messages to all engines, and compares them with the first.
fn compare(name: &str, messages: &[Vec<u8>], tables: &[(&str, Vec<Vec<u8>>)], ring: &str) {
    let Some(object) = compiled(name) else { return };
    compare_all(name, &mut engines(name, &[object]), messages, tables, ring);
}

/// The same for engines that were prepared for it.
fn compare_all(
    name: &str,
    engines: &mut Engines,
    messages: &[Vec<u8>],
    tables: &[(&str, Vec<Vec<u8>>)],
    ring: &str,
) {
    for (number, message) in messages.iter().enumerate() {
        let mut first = None;
        for (which, engine) in engines.iter_mut() {
            let answer = engine.arrives(message);
            let wanted = first.get_or_insert_with(|| answer.clone());
            assert_eq!(&answer, wanted, "{name}, {which}, message {number}: {message:02x?}");
        }
    }
    let mut first = None;
    for (which, engine) in engines.iter_mut() {
        let values: Vec<_> = tables
            .iter()
            .flat_map(|(table, keys)| keys.iter().map(|key| (table.to_string(), key.clone())))
            .map(|(table, key)| engine.value(&table, &key))
            .collect();
        let now = (engine.region(), values, engine.heard(ring));
        let wanted = first.get_or_insert_with(|| now.clone());
        let differs = now.0.iter().zip(&wanted.0).position(|(a, b)| a != b);
        assert_eq!(differs, None, "{name}, {which}: where the region differs");
        assert_eq!((&now.1, &now.2), (&wanted.1, &wanted.2), "{name}, {which}");
    }
}

/// Numbers that look as if they were random.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn bytes(&mut self, most: usize) -> Vec<u8> {
        let length = self.below(most + 1);
        (0..length).map(|_| self.below(256) as u8).collect()
    }
}

/// Messages of that kind, and such that are nearly so: cut off, with other bytes, with more.
fn with_damaged(mut messages: impl FnMut(&mut Random) -> Vec<u8>) -> Vec<Vec<u8>> {
    let mut random = Random(42);
    let cases = std::env::var("DRYSTONE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2000);
    let damaged = (0..cases).map(|_| {
        let mut message = messages(&mut random);
        match random.below(4) {
            0 => message.truncate(14 + random.below(message.len() - 13)),
            1 => {
                let at = random.below(message.len());
                message[at] = random.below(256) as u8;
            }
            2 => message.extend(random.bytes(64)),
            _ => {}
        }
        message
    });
    damaged.collect()
}

#[test]
fn increments_are_the_same() {
    let messages = with_damaged(|random| datagram(7000, &random.bytes(40)));
    compare("increment", &messages, &[], "");
}

#[test]
fn writes_are_the_same() {
    let messages = with_damaged(|random| {
        let (at, length) = (random.below(33000) as u32, random.below(100) as u32);
        datagram(7001, &[&at.to_be_bytes(), &length.to_be_bytes(), &random.bytes(120)[..]].concat())
    });
    compare("place", &messages, &[], "");
}

#[test]
fn tables_are_the_same() {
    let key = |number: usize| [b"key....", &[b'0' + number as u8][..]].concat();
    let messages = with_damaged(|random| {
        let (what, key) = (random.below(4) as u32, key(random.below(6)));
        datagram(7002, &[&what.to_be_bytes(), &key[..], &random.bytes(12)].concat())
    });
    let keys = (0..6).map(key).collect();
    let counts = (0..4u32).map(|number| number.to_le_bytes().to_vec()).collect();
    compare("cache", &messages, &[("values", keys), ("counts", counts)], "missed");
}

#[test]
fn pipes_do_the_same() {
    let messages = with_damaged(|random| {
        let key =
            if random.below(2) == 0 { random.below(300) as u64 } else { random.below(1 << 31) as u64 * 977 };
        let head = [random.below(6) as u8, random.below(2) as u8, 0, 0, 0, 0, 0, 0];
        datagram(7005, &[&head, &key.to_le_bytes()[..], &random.bytes(300)].concat())
    });
    compare("pipes", &messages, &[], "");
}
