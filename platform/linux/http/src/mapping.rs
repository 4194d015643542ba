//! How an interface is mapped to HTTP, besides `POST path/Message`: what `BY Http(reads: .., statuses: .., files: ..)`
//! says.

use drystone_component::{Interface, Side};
use hyper::StatusCode;

use super::files::Files;
use super::service::Options;

/// See the head of this file.
pub(super) struct Mapping {
    /// Messages that may be sent by GET, too.
    reads: Vec<usize>,
    /// Answers with another status than 200.
    statuses: Vec<(usize, StatusCode)>,
    pub(super) files: Files,
}

impl Mapping {
    /// Reads the options, and the files.
    ///
    /// # Errors
    /// A sentence says what is wrong.
    pub(super) fn new(interface: &'static Interface, options: &Options) -> Result<Mapping, String> {
        let number = |name: &str, sender: Side, what: &str| {
            let messages = interface.messages.get();
            let it = |message: &drystone_component::Message| {
                message.sender == sender && message.name.get() == name
            };
            let missing = || format!("{what}: {} has no message {name}", interface.name.get());
            messages.iter().position(it).ok_or_else(missing)
        };
        let reads = words(&options.reads).map(|name| number(name, Side::Client, "reads"));
        let statuses = words(&options.statuses).map(|pair| {
            let wrong = || format!("statuses: {pair} is no answer with a status, such as Busy 429");
            let (name, status) = pair.split_once(' ').ok_or_else(wrong)?;
            let status: u16 = status.trim().parse().map_err(|_| wrong())?;
            let status =
                StatusCode::from_u16(status).ok().filter(|status| has_body(*status)).ok_or_else(wrong)?;
            Ok((number(name, Side::Server, "statuses")?, status))
        });
        let (reads, statuses) = (reads.collect::<Result<_, _>>()?, statuses.collect::<Result<_, String>>()?);
        Ok(Mapping { reads, statuses, files: Files::read(&options.files)? })
    }

    /// Whether a message may be sent by GET.
    pub(super) fn reads(&self, message: usize) -> bool {
        self.reads.contains(&message)
    }

    /// The status of an answer.
    pub(super) fn status(&self, answer: usize) -> StatusCode {
        let found = self.statuses.iter().find(|(number, _)| *number == answer);
        found.map_or(StatusCode::OK, |(_, status)| *status)
    }
}

/// The parts between commas.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty())
}

/// Whether a response with this status has a body that clients read.
fn has_body(status: StatusCode) -> bool {
    matches!(status.as_u16(), 200..=203 | 206 | 400..=599)
}
