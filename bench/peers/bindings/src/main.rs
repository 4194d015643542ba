//! What else joins two sides of a program:
//!
//! ```text
//! peers WAY serve ADDRESS              says `listening`, and serves until it is ended
//! peers WAY ask|put|text N ADDRESS     {"ms": .., "sum": ..}
//! ```
//!
//! `ask` sends N numbers one after the other, each answered by the next one; `put` N numbers without answers, whose sum
//! is told in the end; `text` so many texts of 100 bytes, of whose lengths the sum is told. A tenth of that is done
//! before and not measured. An address is `host:port` or `unix:path`;
//! `mpsc` needs none, and `nats` that of the NATS.

mod address;
mod capnproto;
mod grpc;
mod mpsc;
mod nats;
mod work;

use address::Address;
use work::{Outcome, Work};

fn main() {
    if let Err(error) = run() {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}

fn run() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["mpsc", work, n] => mpsc::measure(work_of(work)?, n.parse()?),
        ["grpc", "serve", address] => grpc::serve(Address::parse(address)?),
        ["grpc", work, n, address] => grpc::measure(work_of(work)?, n.parse()?, Address::parse(address)?),
        ["capnp", "serve", address] => capnproto::serve(address.parse()?),
        ["capnp", work, n, address] => capnproto::measure(work_of(work)?, n.parse()?, address.parse()?),
        ["nats", "serve", address] => nats::serve(address),
        ["nats", work, n, address] => nats::measure(work_of(work)?, n.parse()?, address),
        _ => Err("peers mpsc|grpc|capnp|nats serve|ask|put|text [N] [ADDRESS]".into()),
    }
}

fn work_of(word: &str) -> Outcome<Work> {
    match word {
        "ask" => Ok(Work::Ask),
        "put" => Ok(Work::Put),
        "text" => Ok(Work::Text),
        _ => Err(format!("{word}: not ask, put or text").into()),
    }
}
