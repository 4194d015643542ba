//! rpcbind, which knows the ports of a machine's RPC programs (RFC 1833). Servers register by version 3 over its Unix
//! socket, as it takes registrations from nowhere else. Clients ask by version 2 over UDP, which all implementations
//! have.
//!
//! All of this blocks, with a time limit: a server once, when it is exported; a client on a helper thread.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::message::{Head, read_reply, reply_to, write_call};
use super::record::{Record, Records, begin, end};
use drystone_net::xdr::{Reader, write_opaque, write_word};
use drystone_reactor::reason;

const SOCKET: &str = "/run/rpcbind.sock";
const PORT: u16 = 111;
const PROGRAM: u32 = 100_000;

/// Procedures of version 3.
const SET: u32 = 1;
const UNSET: u32 = 2;
/// Procedures of version 2.
const GET_PORT: u32 = 3;

/// How long rpcbind may take to answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// Most bytes of a message to rpcbind or from it.
const LIMIT: usize = 4096;
const TRIES: u32 = 3;

const ABSENT: &str = "there is no rpcbind";

/// What people can do about that.
fn advice(host: &str) -> String {
    format!(
        "name one, as in onc://{host}:2049/, or have rpcbind run (Debian and Ubuntu: apt-get install rpcbind)"
    )
}

/// How a program's clients reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    Tcp,
    Udp,
}

impl Transport {
    /// Its name in version 3.
    fn name(self, address: IpAddr) -> &'static str {
        match (self, address) {
            (Transport::Tcp, IpAddr::V4(_)) => "tcp",
            (Transport::Udp, IpAddr::V4(_)) => "udp",
            (Transport::Tcp, IpAddr::V6(_)) => "tcp6",
            (Transport::Udp, IpAddr::V6(_)) => "udp6",
        }
    }

    /// Its number in version 2: the IP protocol number.
    fn number(self) -> u32 {
        match self {
            Transport::Tcp => 6,
            Transport::Udp => 17,
        }
    }
}

/// A program's registration, which ends when this is dropped.
pub(super) struct Registration {
    program: (u32, u32),
    transport: Transport,
    address: SocketAddr,
}

impl Registration {
    /// Registers a version of a program; it replaces an earlier registration of the same number.
    ///
    /// # Errors
    /// rpcbind isn't there, or refuses.
    pub(super) fn new(
        program: (u32, u32),
        transport: Transport,
        address: SocketAddr,
    ) -> Result<Registration, String> {
        let refused = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                format!(
                    "{ABSENT} on this machine, so nobody would find it without a port: {}",
                    advice("127.0.0.1")
                )
            }
            _ => format!("rpcbind: {}", reason(&error)),
        };
        let registration = Registration { program, transport, address };
        registration.tell(UNSET).map_err(refused)?;
        match registration.tell(SET) {
            Ok(true) => Ok(registration),
            Ok(false) => Err(format!("rpcbind: program {:#x} is registered by another user", program.0)),
            Err(error) => Err(refused(error)),
        }
    }

    fn tell(&self, procedure: u32) -> io::Result<bool> {
        let mut call = Vec::new();
        let begun = begin(&mut call);
        write_call(&mut call, Head { xid: 1, program: PROGRAM, version: 3, procedure });
        write_word(&mut call, self.program.0);
        write_word(&mut call, self.program.1);
        let texts = [self.transport.name(self.address.ip()), &universal(self.address), ""];
        texts
            .iter()
            .try_for_each(|text| write_opaque(&mut call, text.as_bytes()))
            .map_err(io::Error::other)?;
        end(&mut call, begun, LIMIT).map_err(io::Error::other)?;
        let mut stream = UnixStream::connect(SOCKET)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.write_all(&call)?;
        let mut records = Records::new(LIMIT);
        let mut bytes = [0; 256];
        loop {
            match records.next() {
                Record::Whole(reply) => {
                    let mut results = Reader(read_reply(reply).map_err(io::Error::other)?);
                    return Ok(results.word() == Some(1));
                }
                Record::TooLarge => return Err(io::ErrorKind::InvalidData.into()),
                Record::Incomplete => {}
            }
            match stream.read(&mut bytes)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => records.feed(&bytes[..n]),
            }
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        // If rpcbind has gone, so has the registration.
        let _ = self.tell(UNSET);
    }
}

/// A universal address: the port follows as two more parts.
fn universal(address: SocketAddr) -> String {
    let (high, low) = (address.port() >> 8, address.port() & 0xff);
    format!("{}.{high}.{low}", address.ip())
}

/// The port of a version of a program on a machine. Blocks for some seconds at most.
///
/// # Errors
/// rpcbind isn't there, or knows no such program.
pub(super) fn port_of(host: IpAddr, program: (u32, u32), transport: Transport) -> io::Result<u16> {
    let here: IpAddr = if host.is_ipv4() { [0; 4].into() } else { [0u16; 8].into() };
    let socket = UdpSocket::bind((here, 0))?;
    socket.connect((host, PORT))?;
    socket.set_read_timeout(Some(PATIENCE))?;
    let xid = std::process::id();
    let mut call = Vec::new();
    write_call(&mut call, Head { xid, program: PROGRAM, version: 2, procedure: GET_PORT });
    [program.0, program.1, transport.number(), 0].iter().for_each(|&word| write_word(&mut call, word));
    for _ in 0..TRIES {
        socket.send(&call)?;
        let mut bytes = [0; 512];
        let length = match socket.recv(&mut bytes) {
            Ok(length) => length,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                continue;
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                let advice = advice(&host.to_string());
                return Err(io::Error::other(format!("{ABSENT} there to ask for the port: {advice}")));
            }
            Err(error) => return Err(error),
        };
        if reply_to(&bytes[..length]) == Some(xid) {
            let results = read_reply(&bytes[..length]).map_err(io::Error::other)?;
            return match Reader(results).word().and_then(|port| u16::try_from(port).ok()) {
                None | Some(0) => Err(io::Error::other("rpcbind knows no such program there")),
                Some(port) => Ok(port),
            };
        }
    }
    Err(io::Error::other("rpcbind doesn't answer"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_written_with_their_ports() {
        assert_eq!(universal(SocketAddr::from(([127, 0, 0, 1], 2049))), "127.0.0.1.8.1");
        assert_eq!(universal("[::1]:111".parse().expect("an address")), "::1.0.111");
    }
}
