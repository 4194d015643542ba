//! Addresses in the form that programs write.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    host: String,
    port: u16,
}

impl Address {
    /// Reads `host:port`, `:port` or `tcp://host:port`; an IPv6 address is in brackets. The default host is `default`.
    pub(crate) fn read(text: &[u8], default: &str) -> Result<Address, String> {
        let wrong = || "Not an address: host:port expected".to_string();
        let text = std::str::from_utf8(text).map_err(|_| wrong())?.trim_matches(['\0', ' ']);
        let text = text.strip_prefix("tcp://").unwrap_or(text);
        let text = text.strip_suffix('/').unwrap_or(text);
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let port = port.parse().map_err(|_| wrong())?;
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        if bare.is_none() && host.contains([':', '/']) {
            return Err(wrong());
        }
        let host = if host.is_empty() { default } else { bare.unwrap_or(host) };
        Ok(Address { host: host.to_string(), port })
    }

    /// The address, if it needs no look-up.
    pub(crate) fn numeric(&self) -> Option<SocketAddr> {
        Some(SocketAddr::new(self.host.parse::<IpAddr>().ok()?, self.port))
    }

    /// All addresses of the host's name. This may take long.
    pub(crate) fn look_up(&self) -> io::Result<Vec<SocketAddr>> {
        Ok((self.host.as_str(), self.port).to_socket_addrs()?.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<String> {
        Address::read(text.as_bytes(), "0.0.0.0")
            .ok()
            .map(|address| format!("{} {}", address.host, address.port))
    }

    #[test]
    fn addresses_are_read() {
        assert_eq!(read("localhost:80").unwrap(), "localhost 80");
        assert_eq!(read(":80").unwrap(), "0.0.0.0 80");
        assert_eq!(read("tcp://example.org:7000").unwrap(), "example.org 7000");
        assert_eq!(read("[::1]:1").unwrap(), "::1 1");
        for wrong in ["", "80", "a:b", "a:70000", "a:1/files", "::1:1", "a:"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert!(Address::read(b"[::1]:1", "").unwrap().numeric().unwrap().is_ipv6());
        assert!(Address::read(b"\xFF:1", "").is_err());
    }
}
