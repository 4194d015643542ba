//! Where a name's server is: host, port and path, as in `//127.0.0.1:8080/greet`, and the addresses of the host.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::rc::Rc;

use drystone_reactor::{Errand, Handler, Reactor};

/// What stands behind a name's scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Empty: this machine.
    pub host: String,
    /// `None`: nothing is said, or 0.
    pub port: Option<u16>,
    /// With the `/` before it; empty if there is none.
    pub path: String,
}

impl Place {
    /// Reads what stands behind a name's scheme.
    ///
    /// # Errors
    /// A sentence says what is expected there.
    pub fn parse(rest: &str) -> Result<Place, String> {
        let wrong = || "a name such as //127.0.0.1:8080/path is expected behind the scheme".to_string();
        let rest = rest.strip_prefix("//").ok_or_else(wrong)?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, Some(port)),
            _ => (authority, None),
        };
        let port = port.map_or(Ok(0), number)?;
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        if bare.is_none() && host.contains([':', '@', '[', ']', '?', '#', ' ']) {
            return Err(wrong());
        }
        let host = bare.unwrap_or(host).to_string();
        Ok(Place { host, port: Some(port).filter(|&port| port != 0), path: path.to_string() })
    }

    /// The host's address, if it needs no look-up.
    pub fn numeric(&self) -> Option<IpAddr> {
        match self.host.as_str() {
            "" | "localhost" => Some(Ipv4Addr::LOCALHOST.into()),
            host => host.parse().ok(),
        }
    }

    /// The address at which a server listens.
    ///
    /// # Errors
    /// It would have to be looked up.
    pub fn here(&self) -> Result<IpAddr, String> {
        let wanted = "a server's address is one in numbers, or localhost";
        self.numeric().ok_or_else(|| wanted.to_string())
    }

    /// The addresses of the host, with this port. It may take long.
    ///
    /// # Errors
    /// The host's name stands for none, as far as can be found out.
    pub fn look_up(&self, port: u16) -> io::Result<Vec<SocketAddr>> {
        match self.numeric() {
            Some(address) => Ok(vec![(address, port).into()]),
            None => Ok((self.host.as_str(), port).to_socket_addrs()?.collect()),
        }
    }

    /// The same addresses, for [`Dial`](crate::dial::Dial).
    pub fn addresses(&self, port: u16) -> Addresses {
        match self.numeric() {
            Some(address) => Addresses::Known(vec![(address, port).into()]),
            None => {
                let place = self.clone();
                Addresses::Unknown(Box::new(move || place.look_up(port)))
            }
        }
    }
}

/// Where a protocol has no protection of its own, a server is for clients on this machine, unless BY says that it
/// `is_open`.
///
/// # Errors
/// A sentence says so, with the names of the protocol and of its factory.
pub fn permit(address: IpAddr, is_open: bool, (protocol, factory): (&str, &str)) -> Result<(), String> {
    if is_open || address.to_canonical().is_loopback() {
        return Ok(());
    }
    Err(format!(
        "whoever reaches this address can call, for {protocol} protects nothing: take one of this machine's own \
         (127.0.0.1, localhost), or say that it is meant by BY {factory}(open: TRUE)"
    ))
}

/// A port's number.
fn number(port: &str) -> Result<u16, String> {
    port.parse().map_err(|_| format!("{port:?} is no port: they are 1 to 65535"))
}

/// The addresses of a server.
pub enum Addresses {
    /// These.
    Known(Vec<SocketAddr>),
    /// What this finds out, which may take long.
    Unknown(Box<dyn FnOnce() -> io::Result<Vec<SocketAddr>> + Send>),
}

/// A helper thread's look-up.
pub type Search = Errand<io::Result<Vec<SocketAddr>>>;

/// Has a helper thread look up addresses; the handler runs when it is done.
///
/// # Errors
/// The system has no more threads.
pub fn search(
    reactor: &Rc<Reactor>,
    handler: Rc<dyn Handler>,
    look_up: impl FnOnce() -> io::Result<Vec<SocketAddr>> + Send + 'static,
) -> io::Result<Search> {
    Errand::begin_for(reactor, "name lookup", handler, look_up)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_taken_apart() {
        let place = |host: &str, port, path: &str| Ok(Place { host: host.into(), port, path: path.into() });
        assert_eq!(Place::parse("//127.0.0.1:8080/greet/x"), place("127.0.0.1", Some(8080), "/greet/x"));
        assert_eq!(Place::parse("//example.org"), place("example.org", None, ""));
        assert_eq!(Place::parse("//:0/"), place("", None, "/"));
        assert_eq!(Place::parse("//[::1]:7"), place("::1", Some(7), ""));
        assert_eq!(Place::parse("//[::1]/"), place("::1", None, "/"));
        for wrong in ["", "/x", "//a:b/", "//::1:7/", "//a:70000", "//u@h:1", "//a b:1"] {
            assert!(Place::parse(wrong).is_err(), "{wrong}");
        }
        let port = Place::parse("//a:70000/x");
        assert_eq!(port, Err("\"70000\" is no port: they are 1 to 65535".into()));
    }
}
