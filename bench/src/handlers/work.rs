//! Requests, and the check of their answers.

use clap::ValueEnum;

/// The port that is flooded.
pub const FLOODED: u16 = 7001;

/// See the head of this file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Work {
    /// Add one to a number of the server's, and return it.
    Increment,
    /// The same by a service in the language: `Add(1)` of `systems/Counter.dry`.
    Counter,
    /// The values of a thousand keys, in turn, over memcached's protocol.
    Memcached,
    /// The addresses of a thousand names, in turn.
    Dns,
}

/// As `drystone describe --udp systems/Counter.dry Counting` says.
const COUNTING: u32 = 0x13eb_849d;

const KEYS: u64 = 1000;
/// The TTL of an address.
const TTL: u32 = 3600;

impl Work {
    /// Its word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Work::Increment => "increment",
            Work::Counter => "counter",
            Work::Memcached => "memcached",
            Work::Dns => "dns",
        }
    }

    /// The server's port.
    pub fn port(self) -> u16 {
        match self {
            Work::Increment | Work::Counter => 7000,
            Work::Memcached => 11211,
            Work::Dns => 5300,
        }
    }

    /// A request that is always answered and changes nothing: it shows that the server is there.
    pub fn greeting(self) -> Vec<u8> {
        match self {
            Work::Increment => vec![0; 8],
            Work::Counter => counted(u64::MAX, 0, 0),
            Work::Memcached => framed(0, b"version\r\n"),
            Work::Dns => query(u64::MAX),
        }
    }

    /// Whether it is the answer to a greeting, which may come late.
    pub fn is_greeting(self, answer: &[u8]) -> bool {
        match self {
            Work::Increment => answer == [0; 8],
            Work::Counter => answer.get(4..8) == Some(&[255; 4]),
            Work::Memcached => answer.get(8..).is_some_and(|text| text.starts_with(b"VERSION ")),
            Work::Dns => answer.starts_with(&[255, 255]),
        }
    }

    /// How many preparing requests are needed before measuring.
    pub fn preparations(self) -> u64 {
        match self {
            Work::Increment | Work::Counter | Work::Dns => 0,
            Work::Memcached => KEYS,
        }
    }

    /// A preparing request and its answer. Answers begin with the request's 16-bit number.
    pub fn preparation(self, number: u64) -> (Vec<u8>, Vec<u8>) {
        let value = value(number);
        let text = format!("set {} 0 0 {}\r\n{value}\r\n", key(number), value.len());
        (framed(number, text.as_bytes()), framed(number, b"STORED\r\n"))
    }

    /// A request.
    pub fn request(self, number: u64) -> Vec<u8> {
        match self {
            Work::Increment => 1u64.to_be_bytes().to_vec(),
            Work::Counter => counted(number, 0, 1),
            Work::Memcached => framed(number, format!("get {}\r\n", key(number % KEYS)).as_bytes()),
            Work::Dns => query(number),
        }
    }

    /// The low 16 bits of the number of an answer's request.
    pub fn number_of(self, answer: &[u8]) -> Option<u16> {
        match self {
            Work::Increment => {
                answer.first_chunk().map(|sum| u64::from_be_bytes(*sum).wrapping_sub(1) as u16)
            }
            Work::Counter => answer.get(6..8).map(|id| u16::from_be_bytes([id[0], id[1]])),
            Work::Memcached | Work::Dns => answer.first_chunk().map(|number| u16::from_be_bytes(*number)),
        }
    }

    /// Whether it is the right answer to a request, given how many were answered before.
    pub fn is_answer(self, number: u64, answer: &[u8]) -> bool {
        match self {
            Work::Increment => answer == (number + 1).to_be_bytes(),
            Work::Counter => answer == counted(number, 1, number + 1),
            Work::Memcached => {
                let (key, value) = (key(number % KEYS), value(number % KEYS));
                let text = format!("VALUE {key} 0 {}\r\n{value}\r\nEND\r\n", value.len());
                answer == framed(number, text.as_bytes())
            }
            Work::Dns => is_address(number, answer),
        }
    }
}

/// A datagram of a `udp:` name: a message with one INTEGER.
fn counted(id: u64, message: u32, parameter: u64) -> Vec<u8> {
    let head = [COUNTING, id as u32, message].map(u32::to_be_bytes).concat();
    [head, parameter.to_be_bytes().to_vec()].concat()
}

fn key(number: u64) -> String {
    format!("session:{number:06}")
}

fn value(number: u64) -> String {
    format!("{number:032}")
}

/// A datagram of memcached's protocol.
fn framed(number: u64, text: &[u8]) -> Vec<u8> {
    [&(number as u16).to_be_bytes()[..], &[0, 0, 0, 1, 0, 0], text].concat()
}

/// The zone's file.
pub fn zone() -> String {
    let head =
        "$ORIGIN example.com.\n$TTL 3600\n@ SOA ns host 1 7200 3600 1209600 300\n@ NS ns\nns A 192.0.2.1\n";
    let hosts = (0..KEYS).map(|number| {
        let [_, _, high, low] = (number as u32).to_be_bytes();
        format!("host{number:04} A 10.1.{high}.{low}\n")
    });
    head.to_string() + &hosts.collect::<String>()
}

fn query(number: u64) -> Vec<u8> {
    let host = format!("host{:04}", number % KEYS);
    let id = (number as u16).to_be_bytes();
    [&id[..], &[1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 8], host.as_bytes(), b"\x07example\x03com\0\0\x01\0\x01"]
        .concat()
}

/// Whether the answer begins correctly; servers may add more.
fn is_address(number: u64, answer: &[u8]) -> bool {
    let query = query(number);
    let [_, _, high, low] = ((number % KEYS) as u32).to_be_bytes();
    let record = [&[0xc0, 12, 0, 1, 0, 1][..], &TTL.to_be_bytes(), &[0, 4, 10, 1, high, low]].concat();
    let head_is_right = answer.get(..8).is_some_and(|head| {
        head[..2] == query[..2] && head[2] == 0x85 && head[3] & 0x7f == 0 && head[4..] == [0, 1, 0, 1]
    });
    head_is_right && answer[12..].strip_prefix(&query[12..]).is_some_and(|rest| rest.starts_with(&record))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_those_of_their_requests() {
        assert!(Work::Increment.is_answer(4, &5u64.to_be_bytes()));
        let answer =
            framed(1001, b"VALUE session:000001 0 32\r\n00000000000000000000000000000001\r\nEND\r\n");
        assert!(Work::Memcached.is_answer(1001, &answer));
        assert!(!Work::Memcached.is_answer(1002, &answer));
        assert_eq!(Work::Memcached.number_of(&answer), Some(1001));
        assert_eq!(Work::Increment.number_of(&5u64.to_be_bytes()), Some(4));
    }
}
