//! Random requests, complete and often about the same few keys. Their times are such that nothing expires meanwhile.

use crate::Random;

fn key(random: &mut Random) -> String {
    format!("key{}", random.below(40))
}

fn value(random: &mut Random) -> String {
    let length = [random.below(40), random.below(1500), 0, 1][random.below(4)];
    "x".repeat(length) + &random.below(1000).to_string()
}

const EXPIRIES: [&str; 6] = ["0", "0", "0", "1000", "-1", "2000000000"];

/// Valid requests, and some common mistakes.
pub fn request(random: &mut Random) -> Vec<u8> {
    let (first, second) = (key(random), key(random));
    let expiry = random.one_of(&EXPIRIES);
    let quiet = random.one_of(&["", "", "", " noreply"]);
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

/// All commands, meta commands too, with odd numbers and words.
pub fn any_request(random: &mut Random) -> Vec<u8> {
    match random.below(4) {
        0 => request(random),
        1 => classic(random),
        2 => meta(random),
        _ => {
            let text = if random.below(2) == 0 { classic(random) } else { meta(random) };
            // A long value that isn't taken for one is a line that is too long.
            // One second of a delay is none to memcached.
            let is_binary = text.windows(3).any(|part| part == b" b\r" || part == b" b ");
            // What isn't Base64 is something to it in any case.
            if text.len() < 2000 && !text.starts_with(b"flush_all") && !is_binary {
                damaged(random, text)
            } else {
                text
            }
        }
    }
}

fn number(random: &mut Random) -> String {
    const NUMBERS: [&str; 16] = [
        "0",
        "1",
        "-1",
        "+7",
        "007",
        "4294967295",
        "4294967296",
        "18446744073709551615",
        "18446744073709551616",
        "-18446744073709551615",
        "2147483647",
        "2147483648",
        "-",
        "x",
        "5x",
        "noreply",
    ];
    if random.below(2) == 0 { random.below(3000).to_string() } else { random.one_of(&NUMBERS).to_string() }
}

/// A time that doesn't pass while the test runs, unless it has passed already.
fn time(random: &mut Random) -> String {
    let time = number(random);
    let seconds: i64 = time.trim_end_matches('x').parse().unwrap_or(0);
    if (1..500).contains(&seconds) { "500".into() } else { time }
}

/// A value that is a number, or nearly. Not one beyond 63 bits: memcached looks for a sign in what lies behind it in
/// its memory.
fn countable(random: &mut Random) -> String {
    const VALUES: [&str; 10] =
        ["0", "9", "99", "9000000000000000000", "18446744073709551616", "12 ", "12 34", " 7", "-5", ""];
    random.one_of(&VALUES).to_string()
}

fn classic(random: &mut Random) -> Vec<u8> {
    let (first, second) = (key(random), key(random));
    let expiry = random.one_of(&EXPIRIES);
    let quiet = random.one_of(&["", "", "", "", " noreply", " reply", " noreply noreply"]);
    let some = number(random);
    let text = match random.below(22) {
        0 => {
            let value = countable(random);
            format!("set {first} 0 {expiry} {}\r\n{value}\r\n", value.len())
        }
        1..=4 => {
            let (name, value) =
                (random.one_of(&["set", "add", "replace", "append", "prepend"]), value(random));
            format!("{name} {first} {some} {expiry} {}{quiet}\r\n{value}\r\n", value.len())
        }
        5 => {
            let length = number(random);
            // Otherwise the rest of the value would be awaited.
            let length = if length.len() > 4 { "1".into() } else { length };
            format!("set {first} 0 0 {length}{quiet}\r\n{}\r\n", "v".repeat(length.parse().unwrap_or(1)))
        }
        6 => {
            // Longer or shorter than its length says.
            let value = "abcdefghij".split_at(1 + random.below(9)).0;
            format!("set {first} 0 0 {}{quiet}\r\n{value}\r\n\r\n", 1 + random.below(value.len() + 1))
        }
        7..=9 => format!("cas {first} 0 {expiry} 1 {}{quiet}\r\nc\r\n", random.below(400)),
        10 => format!("gets {first} {second}\r\n"),
        11 => format!("{} {} {first} {second}\r\n", random.one_of(&["gat", "gats"]), time(random)),
        12..=13 => format!("{} {first} {some}{quiet}\r\n", random.one_of(&["incr", "decr"])),
        14 => format!(
            "delete {first}{}\r\n",
            random.one_of(&["", " 0", " 1", " noreply", " 0 noreply", " 0 0", " a b c"])
        ),
        15 => format!("touch {first} {}{quiet}\r\n", time(random)),
        16 => format!(
            "flush_all{}\r\n",
            random.one_of(&["", " 0", " -1", " x", " noreply", " 0 noreply", " 1 2 3"])
        ),
        17 => format!(
            "verbosity{}\r\n",
            random.one_of(&["", " 1", " x", " noreply", " 1 noreply", " 1 2 3", " -1"])
        ),
        18 => {
            let long = "k".repeat(249 + random.below(4));
            match random.below(4) {
                0 => format!("get {long} {first}\r\n"),
                1 => format!("set {long} 0 0 1{quiet}\r\nl\r\n"),
                2 => format!("incr {long} 1{quiet}\r\n"),
                _ => format!("touch {long} 0{quiet}\r\n"),
            }
        }
        // About the greatest length of an item.
        19 if random.below(8) == 0 => {
            let length = (1 << 20) - 80 + random.below(90);
            format!("set {first} {} 0 {length}\r\n{}\r\n", random.below(2), "y".repeat(length))
        }
        20 => random.one_of(&["stats noreply\r\n", "stats nothing\r\n", "stats sizes\r\n"]).to_string(),
        _ => random
            .one_of(&[
                "\r\n",
                "\n",
                " \r\n",
                "a\r\n",
                "get\r\n",
                "gets\r\n",
                "gat\r\n",
                "gat 1\r\n",
                "bget key1\r\n",
                "add key1 0 0\r\n",
                "cas key1 0 0 1\r\n",
                "delete\r\n",
                "incr key1\r\n",
                "touch key1\r\n",
                "quit\r\n",
                "quit now\r\n",
                "GET key1\r\n",
                "POST / HTTP/1.1\r\n",
                "get HTTP/1.1\r\n",
                "get key1\n",
                "get key1\r\r\n",
                "get key1 \r\n",
                "gets noreply\r\n",
            ])
            .to_string(),
    };
    text.into_bytes()
}

fn flags(random: &mut Random, letters: &[&str]) -> String {
    let mut flags = String::new();
    for _ in 0..random.below(6) {
        let flag = match random.one_of(letters) {
            // Items that are told have been asked for, also where that is too long.
            "O" if letters.contains(&"I") => format!("O{}", "o".repeat([0, 3, 31, 32][random.below(4)])),
            "O" => format!("O{}", "o".repeat([0, 3, 31][random.below(3)])),
            letter @ ("N" | "T" | "R") => {
                format!("{letter}{}", random.one_of(&["0", "1000", "2000", "-1", "x", "", "2000000000"]))
            }
            letter @ ("F" | "C" | "J" | "D") if random.below(2) == 0 => {
                format!("{letter}{}", random.below(400))
            }
            letter @ ("F" | "C" | "D") => letter.to_string() + &number(random),
            "J" => random
                .one_of(&["J", "Jx", "J-1", "J18446744073709551616", "J9000000000000000000"])
                .to_string(),
            "M" => format!(
                "M{}",
                random.one_of(&["E", "A", "P", "R", "S", "I", "D", "i", "d", "+", "-", "a", "", "x", "SS"])
            ),
            letter => letter.to_string(),
        };
        flags = flags + " " + &flag;
    }
    flags
}

fn meta(random: &mut Random) -> Vec<u8> {
    let mut key = key(random);
    let is_binary = random.below(8) == 0;
    if is_binary {
        // Some of them are keys that other requests spell plainly.
        key = random.one_of(&["a2V5MQ==", "a2V5MTE=", "AAEC/w==", "a2V5MQ=", "====", "k"]).to_string();
    }
    let binary = if is_binary { " b" } else { "" };
    let text = match random.below(12) {
        0..=3 => {
            let all = ["v", "v", "t", "c", "f", "s", "k", "h", "O", "q", "N", "T", "R", "u", "E", "v"];
            format!("mg {key}{binary}{}\r\n", flags(random, &all))
        }
        4..=6 => {
            let all = ["c", "k", "O", "q", "F", "I", "C", "T", "M", "M", "x"];
            let value = if random.below(3) == 0 { countable(random) } else { value(random) };
            let length = if random.below(12) == 0 { number(random) } else { value.len().to_string() };
            // Otherwise the rest of the value would be awaited.
            let length = if length.parse().is_ok_and(|length: i64| length > value.len() as i64) {
                value.len().to_string()
            } else {
                length
            };
            format!("ms {key} {length}{binary}{}\r\n{value}\r\n", flags(random, &all))
        }
        7..=8 => format!("md {key}{binary}{}\r\n", flags(random, &["q", "k", "O", "C", "I", "T", "x"])),
        9..=10 => {
            // Not T: memcached forgets it where the number needs more room.
            let all = ["v", "v", "t", "c", "k", "O", "q", "N", "J", "D", "M", "C", "x"];
            format!("ma {key}{binary}{}\r\n", flags(random, &all))
        }
        _ => random
            .one_of(&[
                "mn\r\n",
                "mn now\r\n",
                "mg\r\n",
                "ms key1\r\n",
                "md\r\n",
                "ma\r\n",
                "me\r\n",
                "me none\r\n",
                "mx key1\r\n",
                "m\r\n",
            ])
            .to_string(),
    };
    text.into_bytes()
}

/// With one byte of the first line changed.
fn damaged(random: &mut Random, mut text: Vec<u8>) -> Vec<u8> {
    let line = text.iter().position(|byte| *byte == b'\n').unwrap_or(0);
    let at = random.below(line.max(1));
    // Changed digits might be times, and items would expire meanwhile.
    if text[at.saturating_sub(1)..(at + 1).min(text.len())].iter().any(u8::is_ascii_digit) {
        return text;
    }
    match random.below(4) {
        0 => drop(text.remove(at)),
        1 => text.insert(at, [b' ', b'\t', 0, b'-', b'k', b'\r'][random.below(6)]),
        2 => text[at] = [b' ', b'\t', 0, b'x', b'1', 0xff][random.below(6)],
        _ => text.insert(at, text[at]),
    }
    // With a changed length the value would be awaited, or be taken for commands, which is tested elsewhere.
    text
}
