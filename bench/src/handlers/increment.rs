//! Servers that add one to a number: by the handler of the book's page, and without a handler.

use std::net::UdpSocket;

use clap::{Args, ValueEnum};
use drystone_extension::demux::Filter;
use drystone_extension::handler::{Image, Machine, Share};
use drystone_handlers::{Dispatcher, Engine, Mode, Place, Service, Xdp, compile_text};

use super::far::ADDRESS;
use super::work::{FLOODED, Work};

const HANDLER: &str = include_str!("../../../drystone/src/handler/counter.c");
/// Another owner's handler, which runs long.
const BUSY: &str = include_str!("../../peers/handlers/busy.c");

/// That owner's share, if shares are limited: a hundred runs in ten milliseconds.
const LITTLE: Share = Share { runs: 100, window: 10_000_000 };
const ALL: Share = Share { runs: u64::MAX, window: 10_000_000 };

/// How the server is built.
#[derive(Clone, Copy, ValueEnum)]
enum How {
    Xdp,
    AfXdp,
    UdpSpinning,
    UdpBlocking,
    /// By a handler beside another owner's.
    Dispatcher,
    /// The same, without a limit for the other one.
    DispatcherWithoutShares,
}

/// Adds until it is ended.
#[derive(Args)]
pub struct Increment {
    how: How,
}

impl Increment {
    /// Returns only with an error.
    pub fn run(&self) -> Result<(), String> {
        match self.how {
            How::Xdp => by_handler(Engine::Xdp),
            How::AfXdp => by_handler(Engine::AfXdp),
            How::UdpSpinning => by_socket(true).map_err(|error| error.to_string()),
            How::UdpBlocking => by_socket(false).map_err(|error| error.to_string()),
            How::Dispatcher => by_dispatcher(LITTLE),
            How::DispatcherWithoutShares => by_dispatcher(ALL),
        }
    }
}

fn by_handler(engine: Engine) -> Result<(), String> {
    let place = Place {
        interface: "far".into(),
        queue: 0,
        port: Work::Increment.port(),
        engine,
        mode: Mode::Generic,
    };
    let (mut service, _) = Service::open(&compile_text("counter.c", HANDLER, &[])?, &place)?;
    service.serve(|_| Vec::new()).map_err(|error| error.to_string())
}

fn by_dispatcher(share: Share) -> Result<(), String> {
    let (own, other) = (1, 2);
    let mut dispatcher = Dispatcher::open("far", Mode::Generic, ALL)?;
    dispatcher.share(other, share)?;
    for (owner, text, port) in [(own, HANDLER, Work::Increment.port()), (other, BUSY, FLOODED)] {
        let object = compile_text("handler.c", text, &[])?;
        let image = Image::read(&object, None, Machine::Linux).map_err(|error| error.to_string())?;
        dispatcher.attach(
            owner,
            Filter::ethernet().ipv4().udp().destination_port(port),
            Xdp::load(&image)?,
        )?;
    }
    // Passed-on messages go to a socket that nobody reads.
    let _socket = UdpSocket::bind((ADDRESS, FLOODED)).map_err(|error| error.to_string())?;
    loop {
        std::thread::park();
    }
}

fn by_socket(spins: bool) -> std::io::Result<()> {
    let socket = UdpSocket::bind((ADDRESS, Work::Increment.port()))?;
    socket.set_nonblocking(spins)?;
    let (mut sum, mut message) = (0u64, [0; 8]);
    loop {
        match socket.recv_from(&mut message) {
            Ok((8, from)) => {
                sum = sum.wrapping_add(u64::from_be_bytes(message));
                socket.send_to(&sum.to_be_bytes(), from)?;
            }
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}
