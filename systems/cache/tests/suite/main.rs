//! The cache's handler beside its process, in every engine; and both beside memcached.

mod alike;
mod beside;
mod mutations;
#[allow(dead_code)]
#[path = "../../../../platform/linux/handlers/tests/suite/namespace.rs"]
mod namespace;
mod network;

/// Numbers that look as if they were random.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    pub fn one_of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}

/// What clients say, with its end: often about the same few keys. Times are such that nothing expires meanwhile.
pub fn request(random: &mut Random) -> Vec<u8> {
    let key = |random: &mut Random| format!("key{}", random.below(40));
    let (first, second) = (key(random), key(random));
    let expiry = random.one_of(&["0", "0", "0", "1000", "-1", "2000000000"]);
    let quiet = random.one_of(&["", "", "", " noreply"]);
    let value = |random: &mut Random| {
        let length = [random.below(40), random.below(1500), 0, 1][random.below(4)];
        "x".repeat(length) + &random.below(1000).to_string()
    };
    let stored = |name: &str, random: &mut Random| {
        let (value, flags) = (value(random), random.below(1 << 31));
        format!("{name} {first} {flags} {expiry} {}{quiet}\r\n{value}\r\n", value.len())
    };
    let text = match random.below(24) {
        0..=7 => format!("get {first}\r\n"),
        8 => format!("get {first} {second}\r\n"),
        9 => format!("get  {first}\r\n"),
        10..=14 => stored("set", random),
        15 => stored("add", random),
        16 => stored("replace", random),
        17 => stored(random.one_of(&["append", "prepend"]), random),
        18 => format!("delete {first}{quiet}\r\n"),
        19 => format!("touch {first} {expiry}{quiet}\r\n"),
        20 => format!("{} {first} {}{quiet}\r\n", random.one_of(&["incr", "decr"]), random.below(2000)),
        21 => {
            let number = random.below(100_000).to_string();
            format!("set {first} 0 0 {}\r\n{number}\r\n", number.len())
        }
        22 => format!("gat {expiry} {first}\r\n"),
        _ => random
            .one_of(&[
                "get\r\n",
                "set a\r\n",
                "nonsense\r\n",
                "incr key1 x\r\n",
                "set a 0 0 -1\r\n",
                "verbosity 1\r\n",
            ])
            .to_string(),
    };
    text.into_bytes()
}
