//! Finds the other handlers at an interface, and behind a dispatcher.

use std::io;
use std::os::fd::OwnedFd;

use drystone_extension::demux::Filter;

use super::folder::{folder, names};
use super::{Flow, LINK, Pinned, namespace};
use crate::bpf;
use crate::dispatcher::Kept;
use crate::interface;

/// The handlers at an interface of this network namespace, as far as they are known.
pub(super) fn at(interface: &str) -> Result<Vec<Pinned>, String> {
    let (namespace, number) = here(interface)?;
    let names = names().map_err(|error| format!("what is attached can't be seen: {error}"))?;
    let all = names.iter().filter_map(|name| Pinned::open(name).ok());
    Ok(all.filter(|it| it.is_at(namespace, number)).collect())
}

/// An interface: its network namespace and its number.
fn here(interface: &str) -> Result<(u64, u32), String> {
    let namespace = namespace().map_err(|error| format!("this network namespace can't be seen: {error}"))?;
    Ok((namespace, interface::number(interface)?))
}

/// The links of all handlers, with their names.
pub(super) fn links() -> io::Result<Vec<(String, OwnedFd)>> {
    let link = |name: String| Some((name.clone(), bpf::pinned(&folder(&name).ok()?.join(LINK)).ok()?));
    Ok(names()?.into_iter().filter_map(link).collect())
}

/// The handlers behind the dispatcher with this link, the oldest first.
///
/// Fails if one can't be read: a dispatcher is made anew of all its flows, so none may be missing.
pub(super) fn flows(link: &OwnedFd) -> Result<Vec<(Pinned, Flow)>, String> {
    let cant = |error: io::Error| format!("what is attached can't be seen: {error}");
    let its = bpf::identity(link).map_err(cant)?;
    let mut flows = Vec::new();
    for (name, other) in links().map_err(cant)? {
        if bpf::identity(&other).map_err(cant)? == its {
            let pinned = Pinned::open(&name)?;
            flows.extend(pinned.record.flow.map(|flow| (pinned, flow)));
        }
    }
    flows.sort_by_key(|(_, flow)| flow.age);
    Ok(flows)
}

pub(super) fn filters(flows: &[(Pinned, Flow)]) -> Result<Vec<(Filter, u16)>, String> {
    flows.iter().map(|(pinned, flow)| Ok((pinned.record.wanted.filter()?, flow.number))).collect()
}

pub(super) fn dispatcher_of(pinned: &Pinned) -> Result<Kept, String> {
    let dispatcher = folder(&pinned.name).and_then(|folder| Kept::pinned(&folder));
    dispatcher.map_err(|error| format!("the dispatcher of `{}` can't be opened: {error}", pinned.name))
}

impl Flow {
    /// A new flow of the dispatcher that has these.
    pub fn beside(others: &[(Pinned, Flow)]) -> Result<Flow, String> {
        let is_free = |number: &u16| !others.iter().any(|(_, other)| other.number == *number);
        let number = (1..Kept::FLOWS).find(is_free);
        let number =
            number.ok_or_else(|| format!("a dispatcher that stays has {} flows at most", Kept::FLOWS - 1))?;
        Ok(Flow { number, age: others.last().map_or(0, |(_, last)| last.age + 1) })
    }
}
