//! How an interface goes over HTTP: those of the library's `Http` as they are, all others as JSON. The library's are
//! known by their fingerprints, so that an interface of the same name isn't taken for one of them.

use drystone_component::Interface;
use drystone_component::calls::Calls;

/// What the library declares.
#[expect(unreachable_code, reason = "only fingerprints are needed")]
mod library {
    include!(concat!(env!("OUT_DIR"), "/interfaces.rs"));
}

/// The numbers of messages of `Http.Incoming` and `Http.Outgoing`.
pub(super) const OPEN: usize = 0;
pub(super) const MESSAGE: usize = 1;

/// See the head of this file.
pub(super) enum Style {
    /// Each request is a call, as JSON.
    Calls(Calls),
    /// Any other protocol: a WebSocket, whose messages are JSON.
    Conversation,
    /// `Http.Site`, `Http.Stream` and `Http.Upload`: requests and responses as they are.
    Plain,
    /// `Http.Incoming`: what the client of a WebSocket says.
    Incoming,
    /// `Http.Outgoing`: what the client of a WebSocket is told.
    Outgoing,
}

impl Style {
    pub(super) fn of(interface: &'static Interface) -> Style {
        let is =
            |declared: &drystone_runtime::native::Declaration| declared.fingerprint == interface.fingerprint;
        if [&library::site::DECLARATION, &library::stream::DECLARATION, &library::upload::DECLARATION]
            .into_iter()
            .any(is)
        {
            Style::Plain
        } else if is(&library::incoming::DECLARATION) {
            Style::Incoming
        } else if is(&library::outgoing::DECLARATION) {
            Style::Outgoing
        } else {
            Calls::of(interface).map_or(Style::Conversation, Style::Calls)
        }
    }

    /// Whether it is half of a WebSocket.
    pub(super) fn is_half(&self) -> bool {
        matches!(self, Style::Incoming | Style::Outgoing)
    }

    /// The calls, if it goes as JSON requests.
    pub(super) fn calls(&self) -> Option<&Calls> {
        match self {
            Style::Calls(calls) => Some(calls),
            _ => None,
        }
    }
}

/// Whether it is `Http.Upload`.
pub(super) fn is_upload(interface: &Interface) -> bool {
    interface.fingerprint == library::upload::DECLARATION.fingerprint
}
