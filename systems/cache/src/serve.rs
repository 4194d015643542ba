//! Serves the requests that the handler leaves to the process, from sockets and from the handler.

use std::io::{Read, Result, Write};
use std::sync::{Arc, Mutex};

use drystone_handlers::{Client, Limits, Service, Sockets};

use crate::cache::Cache;
use crate::session::{self, SMALL, Session, answers};

/// The most connections; for a further one, the one that has been silent longest is closed.
const CONNECTIONS: usize = 1024;

/// Serves sockets on threads of their own. Values in transit may take so many bytes.
pub fn by_sockets(sockets: Sockets, cache: &Arc<Mutex<Cache>>, bytes: usize) {
    let (of_udp, of_tcp) = (cache.clone(), cache.clone());
    let converse = move |client: &Client| connection(client, &of_tcp);
    let limits = Limits { connections: CONNECTIONS, bytes };
    sockets.serve(limits, move |request| answers(&of_udp, request), converse);
}

/// Answers requests that the handler passes on, as long as its interface exists.
///
/// # Errors
/// The interface is gone.
pub fn passed(service: &mut Service, cache: &Mutex<Cache>) -> Result<()> {
    service.serve(|request| answers(cache, request))
}

/// A TCP client.
struct Connection<'a> {
    client: &'a Client,
    out: Vec<u8>,
}

impl session::Client for Connection<'_> {
    fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    fn send(&mut self) -> bool {
        let sent = self.client.stream().write_all(&self.out);
        self.out.clear();
        self.out.shrink_to(SMALL);
        sent.is_ok()
    }

    fn reserve(&mut self, bytes: usize) -> bool {
        self.client.reserve(bytes).is_ok()
    }
}

fn connection(client: &Client, cache: &Mutex<Cache>) -> Result<()> {
    use session::Client as _;
    let mut stream = client.stream();
    stream.set_nodelay(true)?;
    let (mut session, mut buffer) = (Session::default(), vec![0; SMALL]);
    let mut connection = Connection { client, out: Vec::new() };
    loop {
        let length = stream.read(&mut buffer)?;
        let goes_on = length > 0 && session.hear(cache, &buffer[..length], &mut connection);
        let is_answered = !connection.out.is_empty();
        if !connection.send() || !goes_on {
            return Ok(());
        }
        if is_answered {
            client.served();
        }
    }
}
