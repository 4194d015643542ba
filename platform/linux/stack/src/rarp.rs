//! RARP (RFC 903): a machine that knows only its hardware address asks for its IP address.

use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Result};
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use drystone_handlers::{Device, Station};
use smoltcp::wire::{ArpOperation, EthernetAddress, EthernetProtocol};

use crate::arp::{EVERYBODY, read, written};

const TYPE: EthernetProtocol = EthernetProtocol::Unknown(0x8035);
const REQUEST: ArpOperation = ArpOperation::Unknown(3);
const REPLY: ArpOperation = ArpOperation::Unknown(4);

/// A server's table of addresses.
#[derive(Clone, Debug)]
pub struct Server {
    /// The server's own hardware address and IP address.
    pub own: ([u8; 6], Ipv4Addr),
    /// Other machines' IP addresses, by their hardware addresses.
    pub known: BTreeMap<[u8; 6], Ipv4Addr>,
}

impl Server {
    /// The answer to a frame; `None` if it isn't a request, or not of a known machine.
    pub fn answer(&self, frame: &[u8]) -> Option<Vec<u8>> {
        let (operation, _, (asker, _)) = read(TYPE, frame)?;
        let wanted = operation == REQUEST;
        let address = self.known.get(&asker).filter(|_| wanted)?;
        Some(written(TYPE, REPLY, self.own, (asker, *address), asker))
    }
}

/// Asks for this hardware's IP address until there is an answer, for at most the time `most`. A host isn't needed.
///
/// # Errors
/// There is no answer.
pub fn ask<D: Device>(station: &mut Station<D>, hardware: [u8; 6], most: Duration) -> Result<Ipv4Addr> {
    const PAUSE: Duration = Duration::from_millis(250);
    let unknown = (hardware, Ipv4Addr::UNSPECIFIED);
    let end = Instant::now() + most;
    while Instant::now() < end {
        station.device().send(&written(TYPE, REQUEST, unknown, unknown, EVERYBODY))?;
        station.device().flush()?;
        let again = Instant::now() + PAUSE;
        while Instant::now() < again {
            station.turn()?;
            while let Some(frame) = station.take_passed() {
                if let Some((REPLY, _, (asker, address))) = read(TYPE, &frame)
                    && asker == hardware
                {
                    return Ok(address);
                }
            }
            station.wait(PAUSE / 10)?;
        }
    }
    let name = EthernetAddress(hardware);
    Err(Error::new(ErrorKind::TimedOut, format!("nobody says by RARP which address {name} has")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: ([u8; 6], Ipv4Addr) = ([2, 0, 0, 0, 0, 1], Ipv4Addr::new(10, 9, 0, 1));
    const ASKER: [u8; 6] = [2, 0, 0, 0, 0, 2];

    /// A request in the format of RFC 903, byte for byte.
    fn request() -> Vec<u8> {
        let mut bytes = vec![0xff; 6];
        bytes.extend(ASKER);
        bytes.extend([0x80, 0x35, 0, 1, 8, 0, 6, 4, 0, 3]);
        bytes.extend([&ASKER[..], &[0; 4], &ASKER[..], &[0; 4]].concat());
        bytes
    }

    #[test]
    fn a_request_is_what_the_standard_says() {
        let unknown = (ASKER, Ipv4Addr::UNSPECIFIED);
        assert_eq!(written(TYPE, REQUEST, unknown, unknown, EVERYBODY), request());
    }

    #[test]
    fn only_who_is_known_is_answered() {
        let mut server = Server { own: SERVER, known: BTreeMap::new() };
        assert_eq!(server.answer(&request()), None);
        let address = Ipv4Addr::new(10, 9, 0, 7);
        server.known.insert(ASKER, address);
        let answer = server.answer(&request()).expect("it is known");
        assert_eq!(read(TYPE, &answer), Some((REPLY, SERVER, (ASKER, address))));
        assert_eq!((&answer[..6], &answer[28..32]), (&ASKER[..], &[10, 9, 0, 1][..]));
        assert_eq!(server.answer(&answer), None, "a reply is no request");
        for length in 0..request().len() {
            assert_eq!(server.answer(&request()[..length]), None);
        }
    }
}
