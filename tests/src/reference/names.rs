//! Names: their exported targets, and the connections that wait for a name.

use std::collections::BTreeMap;

use drystone_language::program::InterfaceId;
use drystone_language::source::Span;

use super::links::{Link, Target};

/// All names.
#[derive(Default)]
pub(super) struct Names {
    pub exported: BTreeMap<Vec<u8>, (Target, InterfaceId)>,
    /// Links that wait, in the order of their CONNECTs.
    pub waiting: Vec<Waiting>,
}

/// A link that waits for a name, or for a place among the clients of its target.
#[derive(Clone)]
pub(super) struct Waiting {
    pub name: Vec<u8>,
    pub link: Link,
    pub interface: InterfaceId,
    /// The place of the CONNECT.
    pub span: Span,
}

/// Whether a text is a name: a scheme, a colon and the rest.
pub(super) fn is_name(text: &[u8]) -> bool {
    let follows = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(byte);
    match text.iter().position(|&byte| byte == b':') {
        Some(colon) if colon > 0 && text.len() > colon + 1 => {
            text[0].is_ascii_lowercase() && text[..colon].iter().all(follows)
        }
        _ => false,
    }
}
