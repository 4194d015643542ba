//! Figure 7 of *composite calls* (Ballesteros) over networks with delay, which relays simulate: how many times faster
//! calls are in a block than one by one, and what the relays themselves add.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::thread;
use std::time::Instant;

use super::Bench;
use super::ship::Errand;
use super::shipped::{joint, ship};
use crate::curves::{Curve, Panel, svg};
use crate::execute::processors;
use crate::page::Section;
use crate::places;
use crate::row::Row;
use crate::row::Tell;
use crate::server::{Listening, free_address};
use crate::statistics::{Figure, rounded};

/// The additional microseconds of a round trip, and their names in rows.
const DELAYS: [(&str, u64); 3] = [("0.2 ms", 200), ("1 ms", 1000), ("10 ms", 10_000)];
/// Calls in a block.
const CALLS: [i64; 7] = [1, 2, 3, 5, 10, 30, 100];
/// Microseconds that a contender usually works in a round.
const WORK: u64 = 150_000;
/// Microseconds of a round trip without a relay, about.
const TRIP: u64 = 100;

const PLOT: &str = "composite-delays.svg";

/// Whether a row is for one of the delays, not for loopback.
pub fn is_delayed(row: &Row) -> bool {
    row.row.contains(", ")
}

/// Whether a row measures a relay alone.
pub fn is_of_relays(row: &Row) -> bool {
    row.row.starts_with("round trip, ")
}

impl Bench {
    /// Measures with every delay.
    pub(super) fn delays(&self, tell: Tell) -> Result<(), String> {
        if self.effort.part > 1 {
            return Ok(());
        }
        let (_joint, joint) = joint()?;
        let echo = echo().map_err(|error| format!("a server that echoes: {error}"))?;
        for (name, delay) in DELAYS {
            let (_relay, far) = relay(echo, delay)?;
            let n = WORK / (delay + TRIP);
            let by_relay = move || round_trip(far, n);
            let directly = move || round_trip(echo, n);
            let (drystone, peers) = self.turns(&[("drystone", &by_relay), ("direct", &directly)]);
            tell(Row { drystone, peers, ..Row::new(format!("round trip, {name}"), "us") })?;

            let (_relay, address) = relay(joint, delay)?;
            for calls in CALLS {
                let trip = delay + TRIP;
                let of = |errand, trips: i64| {
                    let n = WORK.div_ceil(trip * trips as u64);
                    move || ship(errand, address, calls, n)
                };
                let (single, composite, cached) =
                    (of(Errand::Single, calls), of(Errand::Composite, 1), of(Errand::Cached, 1));
                let (drystone, peers) =
                    self.turns(&[("cached", &cached), ("composite", &composite), ("single", &single)]);
                tell(Row { drystone, peers, ..Row::new(row_of(calls, name), "us") })?;
            }
        }
        Ok(())
    }
}

fn row_of(calls: i64, delay: &str) -> String {
    format!("calls {calls}, {delay}")
}

/// Starts a relay to a server that adds so many microseconds to a round trip.
fn relay(server: SocketAddr, delay: u64) -> Result<(Listening, SocketAddr), String> {
    let address = free_address()?;
    let mut command = Command::new(places::executable());
    command.args(["relay", &server.to_string(), &delay.to_string(), &address.to_string()]);
    Ok((Listening::start(command, processors())?, address))
}

/// A server that sends each byte back, as long as this process runs.
fn echo() -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut byte = [0];
                while stream.read_exact(&mut byte).and_then(|()| stream.write_all(&byte)).is_ok() {}
            });
        }
    });
    address
}

/// Microseconds of a byte's round trip.
fn round_trip(address: SocketAddr, n: u64) -> Result<f64, String> {
    let measure = || -> io::Result<f64> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let mut trips = |n: u64| {
            let mut byte = [0];
            (0..n).try_for_each(|_| stream.write_all(&byte).and_then(|()| stream.read_exact(&mut byte)))
        };
        trips(n / 10 + 1)?;
        let begin = Instant::now();
        trips(n)?;
        Ok(begin.elapsed().as_secs_f64() * 1e6 / n as f64)
    };
    measure().map_err(|error| format!("{address}: {error}"))
}

/// Blocks that the server has never seen, and cached ones.
const WAYS: [&str; 2] = ["never seen", "cached"];

/// How many times longer the calls take one by one.
fn gains(row: &Row) -> Option<[f64; 2]> {
    let peer = |name| row.peers.get(name).copied().flatten().map(|figure: Figure| figure.value);
    let single = peer("single")?;
    Some([single / peer("composite")?, single / row.drystone?.value])
}

/// The gains by number of calls, ascending; for loopback, the delay's name says so.
fn gains_of(rows: &[Row], delay: &str) -> Vec<(i64, [f64; 2])> {
    let find = |calls: i64| {
        let name = if delay == LOOPBACK { format!("calls {calls}") } else { row_of(calls, delay) };
        Some((calls, gains(rows.iter().find(|row| row.row == name)?)?))
    };
    CALLS.into_iter().filter_map(find).collect()
}

const LOOPBACK: &str = "loopback";

/// The page's section on delays, if there are such rows.
pub fn section(rows: &[Row]) -> Result<Option<Section>, String> {
    if !rows.iter().any(is_delayed) {
        return Ok(None);
    }
    let networks = [LOOPBACK].into_iter().chain(DELAYS.map(|(name, _)| name));
    let all: Vec<_> =
        networks.map(|delay| (delay, gains_of(rows, delay))).filter(|(_, gains)| !gains.is_empty()).collect();
    let panels: Vec<Panel> = WAYS.iter().enumerate().map(|(way, name)| panel(&all, way, name)).collect();
    let text = format!(
        "![Gains over networks with delay]({PLOT})\n\nHow many times longer calls take one by one than in a \
         block: one that the server has never seen / one that it knows.\n\n{}\nDelay is made by a relay \
         between client and server, a process of its own, because `tc netem` isn't in every kernel: it reads \
         what comes, and writes it no sooner than half of the round trip that is added after it was read, \
         both ways. What waits does so in a queue, each chunk with its time, so that delay takes nothing \
         from the bandwidth. It sleeps by a timer without slack, and waits awake for the last 60 us. {}\n",
        table(&all),
        overhead(rows)
    );
    let plot = Some((PLOT, svg(&panels, 2)?));
    Ok(Some(Section { title: "Calls over networks with delay", text, plot }))
}

type Gains<'a> = [(&'a str, Vec<(i64, [f64; 2])>)];

fn panel(all: &Gains, way: usize, name: &str) -> Panel {
    let curves = all.iter().map(|(delay, gains)| {
        let points = gains.iter().map(|(calls, gains)| (*calls as f64, gains[way])).collect();
        Curve { name: delay.to_string(), points }
    });
    Panel { title: format!("one by one / block {name}, by number of calls"), curves: curves.collect() }
}

fn table(all: &Gains) -> String {
    let heads: String = all.iter().map(|(delay, _)| format!(" {delay} |")).collect();
    let mut table = format!("| calls |{heads}\n|--:|{}\n", "--:|".repeat(all.len()));
    for calls in CALLS {
        let _ = write!(table, "| {calls} |");
        for (_, gains) in all {
            let found = gains.iter().find(|(number, _)| *number == calls);
            let cell = found.map_or("-".into(), |(_, [new, known])| format!("{new:.2} / {known:.2}"));
            let _ = write!(table, " {cell} |");
        }
        table.push('\n');
    }
    table
}

/// What relays add beyond their delay.
fn overhead(rows: &[Row]) -> String {
    let told = DELAYS.iter().filter_map(|(name, delay)| {
        let row = rows.iter().find(|row| row.row == format!("round trip, {name}"))?;
        let (by_relay, directly) = (row.drystone?.value, (*row.peers.get("direct")?)?.value);
        let more = rounded(by_relay - directly - *delay as f64);
        Some(format!(
            "{} us at {name} ({} directly, {more} more than the delay)",
            rounded(by_relay),
            rounded(directly)
        ))
    });
    let told: Vec<String> = told.collect();
    format!(
        "A byte goes there and back by way of it, without any server of Drystone's, in {}.",
        told.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn row(name: &str, cached: f64, peers: &[(&'static str, f64)]) -> Row {
        let peers: BTreeMap<_, _> =
            peers.iter().map(|(name, value)| (*name, Some(Figure::single(*value)))).collect();
        Row { drystone: Some(Figure::single(cached)), peers, ..Row::new(name.into(), "us") }
    }

    #[test]
    fn the_section_tells_gains_and_what_relays_add() {
        let calls = [("single", 3000.0), ("composite", 1500.0)];
        let rows = [
            row("round trip, 1 ms", 1060.0, &[("direct", 40.0)]),
            row("calls 3", 60.0, &[("single", 90.0), ("composite", 120.0)]),
            row("calls 3, 1 ms", 1000.0, &calls),
        ];
        let section = section(&rows).unwrap().unwrap();
        assert!(section.text.contains("\n| calls | loopback | 1 ms |\n"), "{}", section.text);
        assert!(section.text.contains("\n| 3 | 0.75 / 1.50 | 2.00 / 3.00 |\n"), "{}", section.text);
        assert!(section.text.contains("in 1060 us at 1 ms (40 directly, 20 more than the delay)."));
        assert!(section.plot.unwrap().1.contains("block cached, by number of calls"));
    }

    #[test]
    fn without_such_rows_there_is_no_section() {
        assert!(section(&[row("calls 3", 1.0, &[])]).unwrap().is_none());
    }

    #[test]
    fn what_echoes_is_measured() {
        assert!(round_trip(echo().unwrap(), 100).unwrap() > 0.0);
    }
}
