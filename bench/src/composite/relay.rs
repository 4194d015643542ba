//! A network with delay, for kernels without one: a relay between clients and a server, in a process of its own, that
//! delays all bytes in both directions. They wait in a queue, so the delay doesn't reduce the bandwidth.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroU64;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use std::{hint, thread};

use clap::Args;
use rustix::thread::set_current_timer_slack;

/// The most bytes of a read.
const CHUNK: usize = 1 << 16;
/// The most chunks in the queue of a direction; when it is full, reading pauses.
const QUEUE: usize = 1 << 12;
/// How late a sleep may end: for this time before the deadline the relay polls.
const AWAKE: Duration = Duration::from_micros(60);

/// Says "listening", and goes on until it is ended.
#[derive(Args)]
pub struct Relay {
    /// Where bytes are relayed to.
    server: SocketAddr,
    /// Microseconds that it adds to a round trip, half of them each way.
    round_trip: u64,
    /// Where it listens.
    address: SocketAddr,
}

/// A chunk, and when it may be written.
type Held = (Instant, Vec<u8>);

impl Relay {
    /// Returns only if it can't listen.
    pub fn run(&self) -> Result<(), String> {
        let fail = |error| format!("{}: {error}", self.address);
        let listener = TcpListener::bind(self.address).map_err(fail)?;
        println!("listening");
        for client in listener.incoming() {
            let client = client.map_err(fail)?;
            self.join(client).map_err(|error| format!("{}: {error}", self.server))?;
        }
        Ok(())
    }

    fn join(&self, client: TcpStream) -> io::Result<()> {
        let server = TcpStream::connect(self.server)?;
        let one_way = Duration::from_micros(self.round_trip) / 2;
        for (from, to) in [(client.try_clone()?, server.try_clone()?), (server, client)] {
            to.set_nodelay(true)?;
            let (held, due) = sync_channel(QUEUE);
            thread::spawn(move || read(from, one_way, &held));
            thread::spawn(move || write(to, &due));
        }
        Ok(())
    }
}

/// Reads until the end, which the other thread notices when the queue closes.
fn read(mut from: TcpStream, one_way: Duration, held: &SyncSender<Held>) {
    let mut bytes = vec![0; CHUNK];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        let due = Instant::now() + one_way;
        if held.send((due, bytes[..count].to_vec())).is_err() {
            break;
        }
    }
}

/// Writes until the queue ends, then shuts down this direction only.
fn write(mut to: TcpStream, held: &Receiver<Held>) {
    // By default, sleeps end some 50 us late.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    for (due, bytes) in held {
        sleep_until(due);
        if to.write_all(&bytes).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

fn sleep_until(due: Instant) {
    if let Some(long) = due.saturating_duration_since(Instant::now()).checked_sub(AWAKE) {
        thread::sleep(long);
    }
    while Instant::now() < due {
        hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: usize = 1000;

    /// A server that sends back what it gets, behind a relay.
    fn echo(round_trip: u64) -> TcpStream {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut from, _) = listener.accept().unwrap();
            let mut to = from.try_clone().unwrap();
            io::copy(&mut from, &mut to).unwrap();
        });
        let front = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = front.local_addr().unwrap();
        let client = TcpStream::connect(address).unwrap();
        Relay { server, round_trip, address }.join(front.accept().unwrap().0).unwrap();
        client
    }

    #[test]
    fn what_comes_back_is_late_and_the_same_until_the_end() {
        let mut client = echo(20_000);
        let sent: Vec<u8> = (0..10 * PART).map(|at| (at % 251) as u8).collect();
        let begin = Instant::now();
        // Many chunks are on their way at the same time.
        for part in sent.chunks(PART) {
            client.write_all(part).unwrap();
            thread::sleep(Duration::from_millis(1));
        }
        client.shutdown(Shutdown::Write).unwrap();
        let mut first = [0];
        client.read_exact(&mut first).unwrap();
        assert!(begin.elapsed() >= Duration::from_millis(20));
        let mut rest = Vec::new();
        client.read_to_end(&mut rest).unwrap();
        assert_eq!([&first[..], &rest].concat(), sent);
    }
}
