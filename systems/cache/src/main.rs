//! The command; see its page of the book.

use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use clap::Parser;
use drystone_cache::serve::{by_sockets, passed};
use drystone_cache::{Cache, Shadow, handler};
use drystone_handlers::{Sockets, Wish};

/// A cache for clients of memcached, which answers `get` over UDP where the datagram arrives.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(flatten)]
    wish: Wish,
    /// Of UDP and TCP
    #[arg(long, default_value_t = 11211)]
    port: u16,
    /// Megabytes of items; those that were used longest ago go when there are more
    #[arg(long, default_value_t = 64)]
    memory: usize,
    /// Megabytes of answers that the handler has
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=512))]
    answers: u16,
    /// Megabytes of values that clients are just sending or getting; the slowest clients are let go when there are more
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(2..))]
    clients: u16,
}

fn main() -> ExitCode {
    match serve(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

fn serve(Arguments { wish, port, memory, answers, clients }: &Arguments) -> Result<(), String> {
    let bytes = usize::from(*answers) << 20;
    let sockets = Sockets::open(*port).map_err(|error| format!("port {port} can't be had: {error}"))?;
    let mut service = wish.open(*port, || handler(*port, bytes))?;
    let shadow = service.as_ref().map(|service| Shadow::new(service.region().clone(), bytes));
    let cache = Arc::new(Mutex::new(Cache::new(*memory << 20, shadow)));
    by_sockets(sockets, &cache, usize::from(*clients) << 20);
    let room = format_args!("room for {answers} MB of answers");
    println!("listening at port {port}; {}", wish.told(service.as_ref(), room));
    match &mut service {
        Some(service) => passed(service, &cache).map_err(|error| format!("the interface has gone: {error}")),
        None => loop {
            std::thread::park();
        },
    }
}
