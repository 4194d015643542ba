//! Those who add one to a number for others: by the handler of the book's page, and without one.

use std::net::UdpSocket;

use clap::{Args, ValueEnum};
use drystone_handlers::{Engine, Mode, Place, Service, compile_text};

use super::far::ADDRESS;
use super::work::Work;

const HANDLER: &str = include_str!("../../../drystone/src/handler/counter.c");

/// How it is done.
#[derive(Clone, Copy, ValueEnum)]
enum How {
    Xdp,
    AfXdp,
    UdpSpinning,
    UdpBlocking,
}

/// Adds until it is ended.
#[derive(Args)]
pub struct Increment {
    how: How,
}

impl Increment {
    /// Comes back only with what is missing.
    pub fn run(&self) -> Result<(), String> {
        match self.how {
            How::Xdp => by_handler(Engine::Xdp),
            How::AfXdp => by_handler(Engine::AfXdp),
            How::UdpSpinning => by_socket(true).map_err(|error| error.to_string()),
            How::UdpBlocking => by_socket(false).map_err(|error| error.to_string()),
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
