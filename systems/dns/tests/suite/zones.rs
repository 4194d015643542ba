//! Random zone files: valid ones in all spellings, and invalid ones.

use crate::Random;

/// A zone's name, its file, and the names and texts of files that it includes.
pub struct Written {
    pub origin: String,
    pub text: Vec<u8>,
    pub included: Vec<(String, Vec<u8>)>,
}

/// Writes entries in random spellings.
struct Writer<'r> {
    random: &'r mut Random,
    text: Vec<u8>,
    /// The last owner, which the next entry may leave out.
    last: Option<String>,
}

/// Few labels, so that names coincide.
const LABELS: [&str; 14] =
    ["a", "b", "c", "www", "Mail", "ns1", "_sip", "x-y", "0", "deep", "*", "\\065b", "q\\.r", "mx"];

const TEXTS: [&str; 8] = [
    "\"a b\"",
    "plain",
    "\"semi;colon\"",
    "\"quo\\\"te\"",
    "\\097\\032b",
    "\"\"",
    "\"(open\"",
    "\"\\255\\000\"",
];

/// Common types, and types that no name has.
pub const ASKED: [u16; 26] =
    [1, 1, 1, 2, 5, 6, 12, 13, 15, 16, 28, 28, 29, 33, 35, 39, 43, 47, 64, 65, 99, 255, 256, 257, 999, 65280];

impl Writer<'_> {
    fn say(&mut self, text: impl AsRef<[u8]>) {
        self.text.extend_from_slice(text.as_ref());
    }

    /// Space between words.
    fn space(&mut self) {
        let space = self.random.one_of(&[" ", " ", " ", "\t", "  \t"]);
        self.say(space);
    }

    fn end(&mut self) {
        let comments: [&[u8]; 6] = [b"", b"", b"", b" ; a comment", b";\"(", b" ; Gr\xfc\xdfe"];
        let comment = comments[self.random.below(comments.len())];
        self.say(comment);
        let end = self.random.one_of(&["\n", "\n", "\n", "\r\n", "\n\n", "\n ; more\n", "\n   \n"]);
        self.say(end);
    }

    fn owner(&mut self, owner: &str) {
        if self.last.as_deref() == Some(owner) && self.random.below(2) == 0 {
            return self.space();
        }
        self.last = Some(owner.to_string());
        let owner = match self.random.below(6) {
            0 => owner.to_ascii_uppercase(),
            _ => owner.to_string(),
        };
        self.say(owner);
        self.space();
    }

    /// TTL and class, in some order.
    fn head(&mut self) {
        let ttl = self.random.one_of(&["", "", "", "300", "1h", "1H30m", "2d", "0"]);
        let class = self.random.one_of(&["", "", "IN", "in", "CLASS1"]);
        let words = if self.random.below(2) == 0 { [ttl, class] } else { [class, ttl] };
        for word in words.into_iter().filter(|word| !word.is_empty()) {
            self.say(word);
            self.space();
        }
    }

    /// An entry; its data is sometimes in brackets and on several lines.
    fn entry(&mut self, owner: &str, rtype: &str, data: &str) {
        self.owner(owner);
        self.head();
        let rtype = if self.random.below(8) == 0 { rtype.to_ascii_lowercase() } else { rtype.to_string() };
        self.say(rtype);
        self.space();
        match self.random.below(8) {
            0 => {
                let lines = data.replacen(' ', " ; first\n  ", 1);
                // Within quotes a line's end is a part of the text.
                let data = if data.contains('"') { data.to_string() } else { lines };
                self.say(format!("( {data}\n )"));
            }
            1 => self.say(format!("({data})")),
            _ => self.say(data),
        }
        self.end();
    }

    fn label(&mut self) -> String {
        self.random.one_of(&LABELS).to_string()
    }

    fn owner_name(&mut self) -> String {
        let mut name = self.label();
        for _ in 0..self.random.below(3) {
            name = format!("{}.{name}", self.label());
        }
        name
    }

    /// A name in data.
    fn name(&mut self) -> String {
        match self.random.below(8) {
            0 => "@".into(),
            1 => "elsewhere.example.org.".into(),
            2 => ".".into(),
            3 => "Mixed.Case".into(),
            _ => self.owner_name(),
        }
    }

    fn number(&mut self, limit: usize) -> String {
        self.random.below(limit).to_string()
    }

    fn text(&mut self) -> String {
        self.random.one_of(&TEXTS).to_string()
    }

    fn hex(&mut self, bytes: usize) -> String {
        (0..bytes).map(|_| format!("{:02x}", self.random.below(256))).collect()
    }

    /// A type and its data.
    fn data(&mut self) -> (String, String) {
        let (name, number) = (self.name(), self.number(65536));
        let (text, more) = (self.text(), self.text());
        let small = self.number(256);
        let (rtype, data) = match self.random.below(44) {
            0..=5 => ("A", format!("192.0.2.{small}")),
            6..=8 => ("AAAA", format!("2001:db8::{}", self.hex(2))),
            9 => ("MX", format!("{number} {name}")),
            10 => ("TXT", text),
            11 => ("TXT", format!("{text} {more}")),
            12 => ("PTR", name),
            13 => ("SRV", format!("1 2 {number} {name}")),
            14 => ("HINFO", format!("{text} {more}")),
            15 => ("RP", format!("{name} {name}")),
            16 => ("AFSDB", format!("1 {name}")),
            17 => ("X25", "311061700956".into()),
            18 => ("ISDN", "150862028003217 004".into()),
            19 => ("RT", format!("10 {name}")),
            20 => ("KX", format!("{number} {name}")),
            21 => ("LOC", self.location()),
            22 => ("NAPTR", format!("100 {small} \"u\" \"E2U+sip\" \"!^.*$!sip:x@y!\" {name}")),
            23 => ("SPF", format!("{text} {more}")),
            24 => ("URI", format!("10 {small} \"ftp://ftp.example.com/public\"")),
            25 => ("CAA", format!("{} issue \"ca.example.net\"", small)),
            26 => ("SSHFP", format!("4 2 {}", self.hex(32))),
            27 => ("TLSA", format!("3 1 1 {}", self.hex(32))),
            28 => ("DS", format!("{number} 8 2 {}", self.hex(32))),
            29 => ("CERT", "PKIX 1 RSASHA256 AQIDBA==".into()),
            30 => ("SMIMEA", format!("3 0 1 {}", self.hex(32))),
            31 => ("EUI48", "00-00-5e-00-53-2a".into()),
            32 => ("EUI64", "00-00-5e-ef-10-00-00-2a".into()),
            33 => ("NID", format!("{number} 0014:4fff:ff20:ee64")),
            34 => ("L32", format!("{number} 10.1.02.0").replace("02", "2")),
            35 => ("L64", format!("{number} 2001:0DB8:1140:1000")),
            36 => ("LP", format!("10 {name}")),
            37 => ("APL", "1:192.168.32.0/21 !1:192.168.38.0/28 2:FF00:0:0:0:0:0:0:0/8".into()),
            38 => ("SVCB", format!("16 {} alpn=\"h2,h3\" port={number}", self.name())),
            39 => ("HTTPS", format!("1 . ipv4hint=192.0.2.{small} key65000=\"a\\\"b\"")),
            40 => {
                let length = self.random.below(20);
                ("TYPE65280", format!("\\# {length} {}", self.hex(length)))
            }
            41 => ("A", format!("\\# 4 {}", self.hex(4))),
            42 => ("MINFO", format!("{name} {name}")),
            _ => ("DNSKEY", "257 3 RSASHA256 AwEAAaz/tAm8yTn4 Mfeh5eyI96WSVexTBAvkMgJz".into()),
        };
        (rtype.into(), data)
    }

    fn location(&mut self) -> String {
        self.random
            .one_of(&[
                "42 21 54 N 71 06 18 W -24m 30m",
                "42 21 43.952 N 71 5 6.344 W -24m 1m 200m",
                "52 14 05 N 00 08 50 E 10m",
                "32 7 19 S 116 2 25 E 10m",
                "90 N 180 W -100000 0.00m 90000000m 5m",
                "0 S 0 E 42849672.95m",
            ])
            .to_string()
    }
}

/// A valid zone, in odd spellings.
pub fn valid(random: &mut Random, number: usize) -> Written {
    let origin = format!("z{number}.test");
    let mut writer = Writer { random, text: Vec::new(), last: None };
    let mut included = Vec::new();
    if writer.random.below(2) == 0 {
        writer.say(format!("$ORIGIN {origin}.\n"));
    }
    let ttl = writer.random.one_of(&["3600", "1h", "1H", "1d12h", "2w"]);
    writer.say(format!("$TTL {ttl}\n"));
    let times = writer.random.one_of(&["7200 3600 1209600 300", "2h 1h 2w 5m", "1H30M 900 1w2d3h4m5s 1D"]);
    writer.entry("@", "SOA", &format!("ns1 Host\\.master 2026010100 {times}"));
    writer.entry("@", "NS", "ns1");
    writer.entry("ns1", "A", "192.0.2.53");
    let has_chain = writer.random.below(2) == 0;
    if has_chain {
        chain(&mut writer);
    }
    for entry in 0..2 + writer.random.below(30) {
        match writer.random.below(24) {
            0 => delegation(&mut writer, entry),
            1 => {
                let target = writer.name();
                writer.entry(&format!("d{entry}"), "DNAME", &target);
            }
            2 => {
                let (label, target) = (writer.owner_name(), writer.name());
                // Beside other records it would be refused.
                writer.entry(&format!("c{entry}.{label}"), "CNAME", &target);
            }
            3 => {
                let below = writer.owner_name();
                writer.say(format!("$ORIGIN {below}.{origin}.\n"));
                let (rtype, data) = writer.data();
                writer.entry("@", &rtype, &data);
                writer.say("$ORIGIN ");
                let whole = format!("z{number}.test.\n");
                writer.say(whole);
                writer.last = None;
            }
            4 => {
                let (rtype, data) = writer.data();
                let file = format!("z{number}-{entry}.inc");
                included.push((file.clone(), format!("inner {rtype} {data}\n@ TXT here").into_bytes()));
                let below = writer
                    .random
                    .one_of(&["", "", " sub.z.test.", " deep.a.z.test."])
                    .replace(".z.", &format!(".z{number}."));
                writer.say(format!("$INCLUDE {file}{below}\n"));
                writer.last = None;
            }
            _ => {
                let owner = match writer.random.below(4) {
                    0 => "@".to_string(),
                    1 => format!("{}.z{number}.test.", writer.owner_name()),
                    _ => writer.last.clone().unwrap_or_else(|| writer.owner_name()),
                };
                let owner = if writer.random.below(2) == 0 { writer.owner_name() } else { owner };
                let (rtype, data) = writer.data();
                writer.entry(&owner, &rtype, &data);
            }
        }
    }
    let mut text = writer.text;
    if writer.random.below(4) == 0 {
        // The last line has no line break.
        while text.last().is_some_and(|last| last.is_ascii_whitespace()) {
            text.pop();
        }
    }
    Written { origin, text, included }
}

/// Chains and circles of aliases.
fn chain(writer: &mut Writer<'_>) {
    let length = 1 + writer.random.below(20);
    for link in 0..length {
        writer.entry(&format!("chain{link}"), "CNAME", &format!("chain{}", link + 1));
    }
    let end = writer.random.below(4);
    match end {
        0 => writer.entry(&format!("chain{length}"), "A", "192.0.2.99"),
        1 => writer.entry(&format!("chain{length}"), "CNAME", "chain0"),
        2 => writer.entry(&format!("chain{length}"), "CNAME", "away.example.org."),
        _ => {}
    }
}

fn delegation(writer: &mut Writer<'_>, entry: usize) {
    let cut = format!("cut{entry}");
    writer.entry(&cut, "NS", &format!("ns.{cut}"));
    writer.entry(&cut, "NS", "ns1");
    writer.entry(&format!("ns.{cut}"), "A", "192.0.2.98");
    if writer.random.below(2) == 0 {
        writer.entry(&format!("ns.{cut}"), "AAAA", "2001:db8::98");
        writer.entry(&format!("hidden.{cut}"), "TXT", "\"nobody sees this\"");
    }
    if writer.random.below(2) == 0 {
        let digest = writer.hex(32);
        writer.entry(&cut, "DS", &format!("1 8 2 {digest}"));
    }
}

/// A zone with one or more mistakes.
pub fn broken(random: &mut Random, number: usize) -> Written {
    const LINES: [&str; 29] = [
        "x A 192.0.2.256\n",
        "x A\n",
        "x A 192.0.2.1 192.0.2.2\n",
        "x NOTHING y\n",
        "x TXT \"open\n",
        "x TXT ( \"open\"\n",
        "x TXT ) \"closed\"\n",
        "x TXT \"\\300\"\n",
        "away.example.org. A 192.0.2.1\n",
        "@ CNAME x\n",
        "x CNAME y\nx A 192.0.2.1\n",
        "x A 192.0.2.1\nx CNAME y\n",
        "x CNAME y\nx CNAME z\n",
        "x CH A 192.0.2.1\n",
        "@ SOA ns1 host 2 1 1 1 1\n",
        "x..y A 192.0.2.1\n",
        "x MX 65536 y\n",
        "x TYPE999 \\# 3 0102\n",
        "x TYPE1 \\# 3 010203\n",
        "$TTL many\n",
        "$NOTHING\n",
        "$INCLUDE nowhere.inc\n",
        "x AAAA 2001::db8::1\n",
        "w DNAME y\nz.w A 192.0.2.1\n",
        "x HINFO \"a;\"b\n",
        "x CAA 0 \"issue\"\"x\"\n",
        "x \"A\"192.0.2.1\n",
        "x MX \"10\"b\n",
        "x SVCB 1 . alpn=\"h2\"port=1\n",
    ];
    let mut written = valid(random, number);
    if random.below(2) == 0 {
        let line = random.one_of(&LINES);
        written.text.extend_from_slice(b"\n");
        written.text.extend_from_slice(line.as_bytes());
        return written;
    }
    for _ in 0..1 + random.below(3) {
        let at = random.below(written.text.len());
        match random.below(4) {
            0 => written.text.truncate(at + 1),
            1 => drop(written.text.remove(at)),
            2 => {
                written.text[at] =
                    random.one_of(&[b' ', b'"', b'(', b')', b'\\', b'\n', b'.', b'@', b'$', b'\t', 0xe4])
            }
            _ => written.text.insert(at, random.one_of(b" \"()\\\n.;1a")),
        }
    }
    written
}
