//! The command; see its page of the book.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Parser;
use drystone_dns::handler;
use drystone_dns::ready::Table;
use drystone_dns::reload::{Handler, Watched};
use drystone_dns::serve::{Current, by_sockets, passed};
use drystone_handlers::{Sockets, Wish};
use signal_hook::consts::SIGHUP;
use signal_hook::flag;

/// A name server for one zone, which answers most questions where the datagram arrives.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The zone's file
    zone: PathBuf,
    /// What names in the file are below that don't end with a dot, if the file doesn't say it
    #[arg(long, value_name = "NAME")]
    origin: Option<String>,
    #[command(flatten)]
    wish: Wish,
    /// Of UDP and TCP
    #[arg(long, default_value_t = 53)]
    port: u16,
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

fn serve(Arguments { zone, origin, wish, port }: &Arguments) -> Result<(), String> {
    let (watched, zone) = Watched::load(zone.clone(), origin.clone())?;
    let is_wished = Arc::new(AtomicBool::new(false));
    flag::register(SIGHUP, is_wished.clone()).map_err(|error| format!("no signal can be had: {error}"))?;
    let sockets = Sockets::open(*port).map_err(|error| format!("port {port} can't be had: {error}"))?;
    let table = wish.on.as_ref().map(|_| Table::new(&zone));
    let extent = table.as_ref().map(Table::extent).unwrap_or_default();
    let mut service = wish.open(*port, || handler(*port, extent))?;
    if let (Some(service), Some(table)) = (&service, &table) {
        table.give(service.region());
    }
    let answers = table.map_or(0, |table| table.count());
    let current = Current::new(zone);
    by_sockets(sockets, &current);
    println!("listening at port {port}; {}", wish.told(service.as_ref(), format_args!("{answers} answers")));
    let handler = service.as_ref().map(|service| Handler::of(service, extent));
    watched.keep(current.clone(), handler, is_wished);
    match &mut service {
        Some(service) => {
            passed(service, &current).map_err(|error| format!("the interface has gone: {error}"))
        }
        None => loop {
            std::thread::park();
        },
    }
}
