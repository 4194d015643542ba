//! A connection by Drystone's own protocol (docs/src/wire.md), on which one request at a time is pending.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};

use drystone_component::wire::{Arrival, Connection, Description, Event, Handle, Limits, Role};
use drystone_component::{Fingerprint, Interface, Protocol};

use crate::error::Error;
use crate::interface::kept_interface;

/// See the head of this file.
pub(crate) struct Line {
    stream: TcpStream,
    connection: Connection,
    /// The interfaces that names had when they were asked for.
    interfaces: HashMap<Fingerprint, &'static Interface>,
    bytes: Vec<u8>,
}

/// Bytes that are read at once.
const AT_ONCE: usize = 64 * 1024;

impl Line {
    pub(crate) fn connect(address: impl ToSocketAddrs) -> io::Result<Line> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let connection = Connection::new(Role::Dialer, Limits::default());
        Ok(Line { stream, connection, interfaces: HashMap::new(), bytes: vec![0; AT_ONCE] })
    }

    pub(crate) fn describe(&mut self, name: &str) -> Result<Description, Error> {
        let asked = self.connection.describe(name.as_bytes());
        self.until(|line| {
            // Earlier requests may have left other events.
            loop {
                if let Event::Answered { request, description } = line.connection.poll()?
                    && request == asked
                {
                    return Some(description);
                }
            }
        })?
        .map_err(|why| Error::Refused(format!("{name}: {why}")))
    }

    /// The interface that a name has now.
    pub(crate) fn interface(&mut self, name: &str) -> Result<&'static Interface, Error> {
        let description = self.describe(name)?;
        let known = self.interfaces.entry(description.fingerprint());
        Ok(known.or_insert_with(|| kept_interface(&description)))
    }

    /// Opens a communication.
    pub(crate) fn open(&mut self, name: &[u8], interface: &'static Interface) -> Result<Handle, Error> {
        let handle = self.connection.open(name, interface, 0);
        self.until(|line| match line.connection.arrival(handle) {
            Arrival::Lost(why) => Some(Err(Error::Lost(why))),
            _ => line.connection.has_room(handle).then_some(Ok(handle)),
        })?
    }

    /// Sends a message and waits for the next one, its answer.
    pub(crate) fn ask(
        &mut self,
        handle: Handle,
        message: usize,
        values: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(usize, Vec<u8>), Error> {
        let sent = self.connection.send(handle, message, |out| {
            values(out);
            Ok(())
        });
        sent.map_err(Error::Lost)?;
        let number = self.until(|line| match line.connection.arrival(handle) {
            Arrival::Nothing => None,
            Arrival::Message(number) => Some(Ok(number)),
            Arrival::Closed => Some(Err(Error::Lost("the server has ended it".into()))),
            Arrival::Lost(why) => Some(Err(Error::Lost(why))),
        })??;
        let (bytes, _) = self.connection.take(handle, <[u8]>::to_vec);
        Ok((number, bytes))
    }

    /// Closes a communication.
    pub(crate) fn abandon(&mut self, handle: Handle) {
        self.connection.abandon(handle, "it was given up");
    }

    /// Sends and reads until `found` finds something.
    fn until<T>(&mut self, mut found: impl FnMut(&mut Line) -> Option<T>) -> Result<T, Error> {
        loop {
            if let Some(found) = found(self) {
                return Ok(found);
            }
            if let Some(why) = self.connection.failure() {
                return Err(Error::Lost(why.into()));
            }
            let output = self.connection.output();
            if !output.is_empty() {
                let length = output.len();
                self.stream.write_all(output)?;
                self.connection.sent(length);
                continue;
            }
            match self.stream.read(&mut self.bytes)? {
                0 => self.connection.lost("the server has ended the connection"),
                count => self.connection.feed(&self.bytes[..count]),
            }
        }
    }
}
