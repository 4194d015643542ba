//! The name server's handler beside its process, in every engine, and its answers to other implementations' clients.

mod answers;
mod beside;
mod files;
mod mutations;
#[allow(dead_code)]
#[path = "../../../../platform/linux/handlers/tests/suite/namespace.rs"]
mod namespace;
mod network;
mod process;
mod strange;
mod zones;

pub const ZONE: &str = include_str!("../../example.zone");

/// Numbers that look as if they were random.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// Names from text to wire format.
pub fn name(text: &str) -> Vec<u8> {
    let labels = text.split('.').filter(|label| !label.is_empty());
    labels.flat_map(|label| [&[label.len() as u8], label.as_bytes()].concat()).chain([0]).collect()
}

/// A query with one question; `extended`: as EDNS0 has it, with that size.
pub fn query(id: u16, of: &str, rtype: u16, extended: Option<u16>) -> Vec<u8> {
    let mut query =
        [&id.to_be_bytes()[..], &[1, 0, 0, 1, 0, 0, 0, 0, 0, u8::from(extended.is_some())]].concat();
    query.extend(name(of));
    query.extend(rtype.to_be_bytes());
    query.extend([0, 1]);
    if let Some(size) = extended {
        query.extend([0, 0, 41]);
        query.extend(size.to_be_bytes());
        query.extend([0; 6]);
    }
    query
}

/// Questions of clients, about existing and missing names, in letters of both cases.
pub fn any_query(random: &mut Random) -> Vec<u8> {
    const NAMES: [&str; 22] = [
        "example.com",
        "www.example.com",
        "ftp.example.com",
        "away.example.com",
        "mail.example.com",
        "ns2.example.com",
        "_sip._tcp.example.com",
        "_tcp.example.com",
        "x.wild.example.com",
        "wild.example.com",
        "*.wild.example.com",
        "er.down.example.com",
        "deep.er.down.example.com",
        "lab.example.com",
        "ns.lab.example.com",
        "a.lab.example.com",
        "many.example.com",
        "long.example.com",
        "nobody.example.com",
        "a.b.nobody.example.com",
        "example.org",
        "",
    ];
    let mut text = random.one_of(&NAMES).to_string();
    if random.below(4) == 0 {
        text = format!("{}.{text}", "abcdefghijklmnopqrstuvwxyz".repeat(3).split_at(1 + random.below(62)).0);
    }
    let text: String = text
        .chars()
        .map(|letter| if random.below(3) == 0 { letter.to_ascii_uppercase() } else { letter })
        .collect();
    let rtype = random.one_of(&[1, 1, 1, 28, 28, 2, 5, 6, 15, 16, 33, 65, 43, 255, 252, 0, 65535, 257]);
    let extended = random.one_of(&[None, Some(0), Some(512), Some(1232), Some(4096)]);
    let mut query = query(random.below(65536) as u16, &text, rtype, extended);
    if random.below(4) == 0 {
        query[2] = random.one_of(&[0, 1, 0x79, 0x81]);
        query[3] = random.one_of(&[0, 0x10, 0x20, 0x30]);
    }
    if extended.is_some() && random.below(3) == 0 {
        // An option, and the flag that DNSSEC is understood.
        let end = query.len();
        query[end - 4] = 0x80;
        query[end - 1] = 12;
        query.extend([0, 10, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8]);
    }
    query
}
