//! What clients of the control socket ask for.

use std::time::Duration;

use drystone_runtime::binding::Rebind;
use serde_json::Value;

/// What a client wants.
pub(crate) enum Request {
    /// So many components at most.
    Inspect(usize),
    Rebind(Wanted),
}

/// A rebind.
pub(crate) struct Wanted {
    pub(crate) what: Rebind,
    /// How long it may take.
    pub(super) within: Option<Duration>,
}

impl Request {
    /// Of what may be anything; `None`: it is none.
    pub(crate) fn read(bytes: &[u8]) -> Option<Request> {
        let request: Value = serde_json::from_slice(bytes).ok()?;
        match request["inspect"].as_u64() {
            Some(most) => Some(Request::Inspect(usize::try_from(most).ok()?)),
            None => rebinding(&request["rebind"]).map(Request::Rebind),
        }
    }
}

/// Longest that can be waited for: more would be no time of the system's.
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
