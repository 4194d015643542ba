//! The peers that clients may connect to: a list of `HOST:PORT`, separated by commas; `*` is any host, or any port.

use std::io;

/// See the head of this file.
#[derive(Debug, PartialEq, Eq)]
pub struct Allowed(Vec<Peer>);

/// A missing part may be anything.
#[derive(Debug, PartialEq, Eq)]
struct Peer {
    host: Option<String>,
    port: Option<u16>,
}

impl Allowed {
    /// Parses a list.
    ///
    /// # Errors
    /// It is malformed.
    pub fn read(list: &[u8]) -> io::Result<Allowed> {
        let wrong = || io::Error::other("HOST:PORT is expected, with commas between several");
        let list = str::from_utf8(list).map_err(|_| wrong())?;
        let peers = list.split(',').map(str::trim).filter(|peer| !peer.is_empty()).map(|peer| {
            let (host, port) = peer.rsplit_once(':')?;
            if host.is_empty() || bare(host).is_none() && host.contains([':', ';', ' ']) {
                return None;
            }
            let host = (host != "*").then(|| plain(host));
            let port = if port == "*" { None } else { Some(port.parse().ok()?) };
            Some(Peer { host, port })
        });
        peers.collect::<Option<_>>().map(Allowed).ok_or_else(wrong)
    }

    /// The host and port that a client names, if it may connect there. Only the name is checked, not its addresses.
    ///
    /// # Errors
    /// It may not.
    pub fn peer(&self, host: &[u8], port: i64) -> io::Result<(String, u16)> {
        let host = str::from_utf8(host).map_err(|_| io::Error::other("that is no name of a host"))?;
        let port = u16::try_from(port).map_err(|_| io::Error::other("there is no such port"))?;
        let host = plain(host);
        let lets = |peer: &Peer| {
            peer.host.as_ref().is_none_or(|it| *it == host) && peer.port.is_none_or(|it| it == port)
        };
        if !self.0.iter().any(lets) {
            return Err(io::Error::other(format!("connections to {host}:{port} are not allowed here")));
        }
        Ok((host, port))
    }
}

/// A host's canonical name: in small letters, an IPv6 address without brackets.
fn plain(host: &str) -> String {
    bare(host).unwrap_or(host).to_lowercase()
}

/// The text in brackets, if there is any.
fn bare(host: &str) -> Option<&str> {
    host.strip_prefix('[')?.strip_suffix(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lets(list: &str, host: &str, port: i64) -> bool {
        Allowed::read(list.as_bytes()).expect("a list").peer(host.as_bytes(), port).is_ok()
    }

    #[test]
    fn what_is_listed_is_allowed_and_nothing_else() {
        let list = "localhost:80, Example.org:*,*:443,[::1]:7";
        for (host, port) in
            [("localhost", 80), ("LOCALHOST", 80), ("example.org", 1), ("any", 443), ("::1", 7), ("[::1]", 7)]
        {
            assert!(lets(list, host, port), "{host}:{port}");
        }
        for (host, port) in
            [("localhost", 81), ("127.0.0.1", 80), ("org", 1), ("", 80), ("::1", 8), ("any", 443 + 65536)]
        {
            assert!(!lets(list, host, port), "{host}:{port}");
        }
        assert!(!lets("", "localhost", 80) && lets("*:*", "anything", 1) && !lets("*:*", "anything", -1));
        assert!(Allowed::read(b"*:*").expect("a list").peer(b"\xFF", 1).is_err());
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for wrong in [
            &b"localhost"[..],
            b":80",
            b"a:b",
            b"a:70000",
            b"a:80;b:80",
            b"a:80 b:80",
            b"::1:80",
            b"a:",
            b"\xFF:1",
        ] {
            assert!(Allowed::read(wrong).is_err(), "{wrong:?}");
        }
    }
}
