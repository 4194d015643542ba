//! The command; see its page of the book.

use std::net::{SocketAddr, UdpSocket};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use drystone_handlers::{Service, Wish};
use drystone_memory::relax::{COLUMNS, Work, Worker, relax, share};
use drystone_memory::{Memory, Peer, handler};

/// Time to answer neighbours whose last acknowledgement was lost: they write again.
const LINGER: Duration = Duration::from_millis(200);

/// One of several workers on a plate whose upper edge is hot: neighbours write the rows to its memory that border on
/// its own.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(flatten)]
    wish: Wish,
    /// Of UDP, where others write
    #[arg(long, default_value_t = 7300)]
    port: u16,
    /// The worker that has the rows above this one's: ADDRESS:PORT
    #[arg(long, value_name = "ADDRESS")]
    above: Option<SocketAddr>,
    /// The worker that has the rows below
    #[arg(long, value_name = "ADDRESS")]
    below: Option<SocketAddr>,
    /// Which one this is, from above, of how many: 1/3
    #[arg(long, default_value = "1/1", value_parser = which)]
    worker: (usize, usize),
    /// Of the whole plate
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..))]
    rows: u32,
    /// Of the plate
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..=COLUMNS as i64))]
    columns: u32,
    /// How often all points are renewed
    #[arg(long, default_value_t = 1000)]
    rounds: u64,
    /// Seconds that a neighbour may be silent
    #[arg(long, default_value_t = 30)]
    patience: u64,
}

fn which(text: &str) -> Result<(usize, usize), String> {
    let numbers = text.split_once('/').and_then(|(one, all)| Some((one.parse().ok()?, all.parse().ok()?)));
    match numbers {
        Some((one @ 1.., all)) if one <= all => Ok((one - 1, all)),
        _ => Err("it is NUMBER/HOW-MANY, as 1/3".into()),
    }
}

fn main() -> ExitCode {
    match work(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

fn work(arguments: &Arguments) -> Result<(), String> {
    let Arguments { wish, port, worker: (number, workers), .. } = arguments;
    let longest = Duration::from_secs(arguments.patience);
    let work =
        Work { rows: arguments.rows as usize, columns: arguments.columns as usize, rounds: arguments.rounds };
    let rows = share(work, *number, *workers);
    if rows.is_empty() {
        return Err(format!("{} rows are too few for {workers} workers", work.rows));
    }
    let service = wish.open(*port, || handler(*port))?;
    println!("{}", wish.told(service.as_ref(), "the memory that others write to"));
    let memory = memory(service, *port)?;
    let peer = |address: Option<SocketAddr>| address.map(|it| Peer::new(it, longest)).transpose();
    let said = |error: std::io::Error| error.to_string();
    let (above, below) = (peer(arguments.above).map_err(said)?, peer(arguments.below).map_err(said)?);
    let worker = Worker { memory: &memory, above: above.as_ref(), below: below.as_ref(), longest };
    let begin = Instant::now();
    let plate = relax(work, rows.clone(), &worker).map_err(said)?;
    let (took, sum) = (begin.elapsed(), plate.iter().sum::<f64>());
    if above.is_some() || below.is_some() {
        thread::sleep(LINGER);
    }
    println!("rows {} to {}: {sum:?} in all, after {} rounds, {took:.2?}", rows.start, rows.end, work.rounds);
    Ok(())
}

/// The memory that neighbours write to, as long as this process lives: through the handler, through a socket, and
/// through requests that the handler passes on.
fn memory(service: Option<Service>, port: u16) -> Result<Memory, String> {
    let memory = service.as_ref().map_or_else(Memory::default, |it| it.region().clone().into());
    let by_socket = memory.clone();
    let socket = UdpSocket::bind(("0.0.0.0", port)).map_err(|error| format!("port {port}: {error}"))?;
    thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        loop {
            // An error concerns one neighbour only.
            let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
            let _ = by_socket.take(&buffer[..length]).map(|answer| socket.send_to(&answer, from));
        }
    });
    if let Some(mut service) = service {
        let passed_on = memory.clone();
        thread::spawn(move || service.serve(|request| passed_on.take(request).into_iter().collect()));
    }
    Ok(memory)
}
