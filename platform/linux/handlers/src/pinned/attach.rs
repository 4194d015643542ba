//! Attaches and detaches pinned handlers.
//!
//! The process may be killed at any time. So a handler has a folder before the dispatcher's program jumps to it, until
//! after it no longer does. What was left half done is completed by the next change of the dispatcher, or by detaching
//! the handler.

use std::io::Error;
use std::os::fd::OwnedFd;
use std::path::Path;

use drystone_extension::handler::Share;

use super::folder::{Changes, folder};
use super::others::{at, dispatcher_of, filters, flows, links};
use super::{Flow, LINK, PROGRAM, Pinned, Record, namespace};
use crate::bpf;
use crate::dispatcher::Kept;
use crate::wanted::Wanted;
use crate::xdp::{Mode, Xdp};

/// Where a handler is attached, and for which messages.
#[derive(Clone, Debug)]
pub struct Site {
    /// The network interface.
    pub interface: String,
    /// Where in the kernel, if there is no dispatcher yet.
    pub mode: Mode,
    /// The messages; unless these are all, the handler is behind a dispatcher.
    pub wanted: Wanted,
    /// How often it may run behind a dispatcher.
    pub share: Share,
}

impl Pinned {
    /// Attaches and pins a handler, under a name of letters, digits, `-` and `_`.
    ///
    /// # Errors
    /// Name or interface aren't free ([`Pinned::room`]); the kernel refuses; or permission is missing.
    pub fn attach(name: &str, handler: &Xdp, site: &Site) -> Result<Pinned, String> {
        let changes = Changes::begin(abandon).map_err(|error| cant_stay(name, &error))?;
        Pinned::room(name, site)?;
        match site.wanted {
            Wanted::Everything => alone(&changes, name, handler, site)?,
            _ => behind_dispatcher(&changes, name, handler, site)?,
        }
        Pinned::open(name)
    }

    /// Checks that name and interface are free for it.
    ///
    /// # Errors
    /// They aren't, and what to do about it.
    pub fn room(name: &str, site: &Site) -> Result<(), String> {
        let Site { interface, wanted, .. } = site;
        if folder(name).map_err(|error| error.to_string())?.exists() {
            return Err(format!(
                "there is a handler `{name}` already: detach it, or give this one another name"
            ));
        }
        let others = at(interface)?;
        if let Some(alone) = others.iter().find(|other| other.record.flow.is_none()) {
            return Err(format!(
                "`{0}` has {interface} to itself: detach `{0}`; with a filter each, several can be there",
                alone.name
            ));
        }
        if *wanted == Wanted::Everything && !others.is_empty() {
            let names: Vec<_> = others.iter().map(|other| format!("`{}`", other.name)).collect();
            return Err(format!(
                "{interface} has a dispatcher, with handlers that have filters ({}): give this one a filter, too, \
                 or detach them all",
                names.join(", ")
            ));
        }
        Ok(())
    }

    /// Detaches a handler from its interface or dispatcher. Its maps are freed, unless somebody else has them.
    ///
    /// # Errors
    /// There is none of that name, or permission is missing.
    pub fn detach(name: &str) -> Result<(), String> {
        let cant = |error: Error| format!("`{name}` can't be detached: {error}");
        let changes = Changes::begin(abandon).map_err(cant)?;
        let this = Pinned::open(name)?;
        match this.record.flow {
            Some(flow) => leave_dispatcher(&changes, &this, flow),
            None => detached(&this.link).and_then(|()| changes.remove(name)).map_err(cant),
        }
    }
}

fn cant_stay(name: &str, error: &Error) -> String {
    format!("`{name}` can't stay attached: {error}")
}

/// Detaches a link, which may have lost its interface.
fn detached(link: &OwnedFd) -> Result<(), Error> {
    bpf::detach(link)
        .or_else(|error| if error.raw_os_error() == Some(libc::ENOLINK) { Ok(()) } else { Err(error) })
}

/// Detaches the handler of an incomplete folder, unless it is a dispatcher that others share.
fn abandon(folder: &Path) -> Result<(), Error> {
    let Ok(link) = bpf::pinned(&folder.join(LINK)) else { return Ok(()) };
    let its = bpf::identity(&link)?;
    if links()?.iter().any(|(_, other)| bpf::identity(other).is_ok_and(|other| other == its)) {
        return Ok(());
    }
    detached(&link)
}

fn alone(changes: &Changes, name: &str, handler: &Xdp, site: &Site) -> Result<(), String> {
    let mut attached = handler.attach(&site.interface, site.mode)?;
    let made = changes.make(name, |folder| {
        fill(folder, handler, &site.wanted, None)?;
        attached.pin(&folder.join(LINK))
    });
    made.map_err(|error| cant_stay(name, &error))
}

fn behind_dispatcher(changes: &Changes, name: &str, handler: &Xdp, site: &Site) -> Result<(), String> {
    let others = match at(&site.interface)?.first() {
        Some(one) => flows(&one.link)?,
        None => Vec::new(),
    };
    let mut dispatcher = match others.first() {
        Some((other, _)) => dispatcher_of(other)?,
        None => Kept::open(&site.interface, site.mode)?,
    };
    let flow = Flow::beside(&others)?;
    let mut filters = filters(&others)?;
    filters.push((site.wanted.filter()?, flow.number));
    let program = dispatcher.program(filters)?;
    dispatcher.prepare(flow.number, site.share, handler.program())?;
    let made = changes.make(name, |folder| {
        fill(folder, handler, &site.wanted, Some(flow))?;
        dispatcher.pin(folder)
    });
    let made = made
        .map_err(|error| cant_stay(name, &error))
        .and_then(|()| dispatcher.replace(&program).inspect_err(|_| drop(changes.remove(name))));
    made.inspect_err(|_| dispatcher.forget(flow.number))
}

fn leave_dispatcher(changes: &Changes, this: &Pinned, flow: Flow) -> Result<(), String> {
    let cant = |error: Error| format!("`{}` can't be detached: {error}", this.name);
    let mut others = flows(&this.link)?;
    others.retain(|(other, _)| other.name != this.name);
    let dispatcher = dispatcher_of(this)?;
    let has_gone = this.interface().is_none();
    if others.is_empty() || has_gone {
        detached(&this.link).map_err(cant)?;
    } else {
        dispatcher.replace(&dispatcher.program(filters(&others)?)?)?;
    }
    changes.remove(&this.name).map_err(cant)?;
    dispatcher.forget(flow.number);
    Ok(())
}

/// Pins what a handler has in its folder, but for its link.
fn fill(folder: &Path, handler: &Xdp, wanted: &Wanted, flow: Option<Flow>) -> Result<(), Error> {
    bpf::pin(handler.program(), &folder.join(PROGRAM))?;
    for (map, fd) in handler.maps() {
        // The kernel takes no dots there.
        bpf::pin(fd.fd(), &folder.join(format!("map-{}", map.replace('.', ""))))?;
    }
    Record { namespace: namespace()?, flow, wanted: wanted.clone() }.pin(folder)
}
