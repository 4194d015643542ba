//! The process: what the handler leaves to it, by sockets and where the handler runs.

use std::io::{Read, Result, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use drystone_handlers::{Service, Sockets};

use crate::cache::Cache;
use crate::session::{Session, answers};

/// More connections are closed at once.
const CONNECTIONS: usize = 1024;

/// Serves what comes by sockets, in threads of their own.
pub fn by_sockets(sockets: Sockets, cache: &Arc<Mutex<Cache>>) {
    let (of_udp, of_tcp) = (cache.clone(), cache.clone());
    let converse = move |stream| connection(stream, &of_tcp);
    sockets.serve(CONNECTIONS, move |request| answers(&of_udp, request), converse);
}

/// Answers what the handler passes on, as long as its interface is there.
///
/// # Errors
/// It has gone.
pub fn passed(service: &mut Service, cache: &Mutex<Cache>) -> Result<()> {
    service.serve(|request| answers(cache, request))
}

fn connection(mut stream: TcpStream, cache: &Mutex<Cache>) -> Result<()> {
    stream.set_nodelay(true)?;
    let (mut session, mut buffer, mut out) = (Session::default(), vec![0; 1 << 14], Vec::new());
    loop {
        let length = stream.read(&mut buffer)?;
        let goes_on = session.hear(cache, &buffer[..length], &mut out) && length > 0;
        stream.write_all(&out)?;
        out.clear();
        if !goes_on {
            return Ok(());
        }
    }
}
