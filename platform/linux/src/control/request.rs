//! Requests of the control socket's clients.

use std::time::Duration;

use drystone_runtime::binding::Rebind;
use serde_json::Value;

/// A client's request.
pub(crate) enum Request {
    /// Inspects at most this number of components.
    Inspect(usize),
    Rebind(Wanted),
}

/// A rebind.
pub(crate) struct Wanted {
    pub(crate) what: Rebind,
    /// The time limit.
    pub(super) within: Option<Duration>,
}

impl Request {
    /// Reads untrusted bytes; `None`: they are no request.
    pub(crate) fn read(bytes: &[u8]) -> Option<Request> {
        let request: Value = serde_json::from_slice(bytes).ok()?;
        match request["inspect"].as_u64() {
            Some(most) => Some(Request::Inspect(usize::try_from(most).ok()?)),
            None => rebinding(&request["rebind"]).map(Request::Rebind),
        }
    }
}

/// Longest time limit: more can't be represented as a time.
const LONGEST: u64 = 1 << 40;

fn rebinding(request: &Value) -> Option<Wanted> {
    let text = |name: &str| request[name].as_str().map(String::from);
    let what = Rebind {
        path: text("path")?,
        interface: text("interface")?,
        slot: request["slot"].as_u64().unwrap_or(1) as usize,
        binding: Some((text("name")?, text("by").unwrap_or_default())),
    };
    let within = request["within"].as_u64().map(|within| Duration::from_millis(within.min(LONGEST)));
    Some(Wanted { what, within })
}
