//! A connection to an NFS server.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::sockopt::{
    Timeout, set_socket_keepalive, set_socket_timeout, set_tcp_keepcnt, set_tcp_keepidle, set_tcp_keepintvl,
    set_tcp_nodelay, set_tcp_user_timeout,
};
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, bind, connect, recv, socket_with};

/// The timeout of connecting, and of keep-alive probes.
const REACHED: Duration = Duration::from_secs(10);

/// The timeout of a reply: a disk may have much to write before.
pub(crate) const ANSWERED: Duration = Duration::from_secs(60);

/// A connection.
#[derive(Clone, Debug)]
pub struct Stream(Arc<TcpStream>);

impl Stream {
    /// Connects. Many NFS servers accept privileged ports only: one of them is used if this program may.
    ///
    /// # Errors
    /// Nobody listens there, or nobody answers.
    pub fn to(address: SocketAddr) -> io::Result<Stream> {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let socket = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        let any = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        for port in (512..1024).rev() {
            if bind(&socket, &SocketAddr::new(any, port)) != Err(Errno::ADDRINUSE) {
                break;
            }
        }
        set_socket_timeout(&socket, Timeout::Send, Some(REACHED))?;
        match connect(&socket, &address) {
            Err(Errno::INPROGRESS) => return Err(silent()),
            result => result?,
        }
        set_socket_timeout(&socket, Timeout::Send, Some(ANSWERED))?;
        set_socket_timeout(&socket, Timeout::Recv, Some(ANSWERED))?;
        set_tcp_nodelay(&socket, true)?;
        // Keep-alive notices a dead machine before the reply's timeout.
        set_socket_keepalive(&socket, true)?;
        set_tcp_keepidle(&socket, REACHED / 2)?;
        set_tcp_keepintvl(&socket, REACHED / 5)?;
        set_tcp_keepcnt(&socket, 3)?;
        set_tcp_user_timeout(&socket, REACHED.as_millis() as u32)?;
        Ok(Stream(Arc::new(socket.into())))
    }

    /// Sends some of the bytes.
    ///
    /// # Errors
    /// The connection is lost, or the other side takes nothing.
    pub fn write(&self, data: &[u8]) -> io::Result<usize> {
        patiently(|| (&*self.0).write(data))
    }

    /// Whether the connection is open, and nothing unrequested has arrived.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        let next = recv(&*self.0, &mut [0; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT);
        next.is_err_and(|error| error == Errno::AGAIN)
    }
}

fn silent() -> io::Error {
    io::Error::new(ErrorKind::TimedOut, "it doesn't answer")
}

/// Retries after an interrupting signal.
fn patiently(mut work: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match work() {
            Ok(0) => return Err(io::Error::new(ErrorKind::UnexpectedEof, "it has ended the connection")),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Err(silent()),
            result => return result,
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        patiently(|| (&*self.0).read(buffer))
    }
}
