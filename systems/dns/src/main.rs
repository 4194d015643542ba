//! The command; see the book's page on it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use drystone_dns::serve::{by_sockets, passed};
use drystone_dns::{Zone, handler, ready};
use drystone_handlers::{Sockets, Wish};

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
    let zone = Arc::new(Zone::load(zone, origin.as_deref()).1?);
    let sockets = Sockets::open(*port).map_err(|error| format!("port {port} can't be had: {error}"))?;
    let sets = ready::sets_for(&zone);
    let mut service = wish.open(*port, || handler(*port, sets))?;
    let answers = service.as_ref().map_or(0, |service| ready::fill(service.region(), sets, &zone));
    by_sockets(sockets, &zone);
    println!("listening at port {port}; {}", wish.told(service.as_ref(), format_args!("{answers} answers")));
    match &mut service {
        Some(service) => passed(service, &zone).map_err(|error| format!("the interface has gone: {error}")),
        None => loop {
            std::thread::park();
        },
    }
}
