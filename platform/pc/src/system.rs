//! The system, the program's first component: it offers the interfaces that the starting component requires.
//!
//! # Soundness
//!
//! Only a program's descriptions are read. They are static and never change.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use drystone_component::{Fingerprint, Program};
use drystone_kortex::interfaces::*;
use drystone_kortex::system::arguments::tell;
use drystone_kortex::system::canvas::Canvas;
use drystone_kortex::system::graphic_view::Painter;
use drystone_kortex::{Addition, Maker, Offer};
use drystone_machine::Console;
use drystone_runtime::native::{Component, Declaration, Kind, Serving};
use kortex_hal::time;

use crate::clock;
use crate::files::{Directory, FileClient};
use crate::serial_line::{Line, Reader};
use crate::settings::Settings;
use crate::store::Store;
use error_output::{ErrorOutput, UpdateAnswer};
use system_time::{SystemTime, SystemTimeMessage};

/// The system as a component.
pub(crate) struct System {
    makers: Vec<Maker>,
}

impl Component for System {
    fn serve(&mut self, interface: usize) -> Serving {
        self.makers[interface]()
    }
}

/// The resources of the system's own interfaces.
pub(crate) struct Ground {
    pub(crate) program: &'static Program,
    pub(crate) additions: &'static [&'static Addition],
    pub(crate) settings: Settings,
    pub(crate) line: Rc<Line>,
    pub(crate) store: Rc<Store>,
}

type Begin = fn(&Ground) -> Result<Maker, String>;

/// Width and height in pixels of the picture that a program may draw.
const PICTURE: (usize, usize) = (640, 480);

/// The system's own interfaces.
static OWN: &[(&Declaration, Begin)] = &[
    (&system_time::DECLARATION, |_| {
        let clock = Clock { at_start: time::now() as i64 * 1000 - milliseconds() };
        Ok(Box::new(move || system_time::serve(clock)))
    }),
    (&arguments::DECLARATION, |ground| {
        let list = Rc::new(ground.settings.arguments.clone());
        Ok(Box::new(move || {
            let list = list.clone();
            arguments::session(|client| tell(client, list))
        }))
    }),
    (&console::DECLARATION, |ground| {
        let line = ground.line.clone();
        Ok(Box::new(move || console::serve(Reader(line.clone()))))
    }),
    (&error_output::DECLARATION, |_| Ok(Box::new(|| error_output::serve(Messages)))),
    (&file_system::DECLARATION, |ground| {
        let store = ground.store.clone();
        Ok(Box::new(move || {
            let client = FileClient::new(store.clone());
            file_system::session(|session| client.attend(session))
        }))
    }),
    (&files::DECLARATION, |ground| {
        let kind = Kind::new(ground.program, "File", &[&blocks::DECLARATION])?;
        let store = ground.store.clone();
        Ok(Box::new(move || {
            let directory = Directory { store: store.clone(), kind };
            files::session(|session| directory.attend(session))
        }))
    }),
    (&graphic_view::DECLARATION, |_| {
        let canvas = Rc::new(RefCell::new(Canvas::new(PICTURE.0, PICTURE.1)));
        Ok(Box::new(move || graphic_view::serve(Painter::new(canvas.clone()))))
    }),
];

/// Makes the system for a program, with only what its first component requires. An error names an interface that the
/// program declares differently, or that the system doesn't have.
pub(crate) fn make(ground: &Ground) -> Result<(&'static Kind, System), String> {
    let mut declarations: Vec<&'static Declaration> = Vec::new();
    let mut makers = Vec::new();
    // SAFETY: a program's descriptions live for ever.
    for (_, required) in unsafe { (*ground.program.entry).declared() } {
        // SAFETY: a program's descriptions live for ever.
        let interface = unsafe { &*required.interface };
        let (declaration, maker) = offer(ground, interface.name.get(), interface.fingerprint)?;
        declarations.push(declaration);
        makers.push(maker);
    }
    Ok((Kind::new(ground.program, "System", &declarations)?, System { makers }))
}

/// The offer for an interface, of an extra crate or of the system itself.
fn offer(
    ground: &Ground,
    name: &str,
    fingerprint: Fingerprint,
) -> Result<(&'static Declaration, Maker), String> {
    let mut added = ground.additions.iter().flat_map(|addition| addition.offers);
    if let Some(Offer { declaration, begin }) =
        added.find(|offer| offer.declaration.fingerprint == fingerprint)
    {
        return Ok((declaration, begin(ground.program)?));
    }
    match OWN.iter().find(|(declaration, _)| declaration.name == name) {
        Some((declaration, begin)) => Ok((declaration, begin(ground)?)),
        None => Err(format!("{name}: the system offers no such interface")),
    }
}

/// A client that writes where the system's own messages go.
struct Messages;

impl ErrorOutput for Messages {
    fn write(&mut self, x: &[u8]) {
        Console.write_bytes(x);
    }

    fn update(&mut self) -> UpdateAnswer<'_> {
        UpdateAnswer::Done
    }
}

/// The time in milliseconds since 1970.
#[derive(Clone, Copy)]
struct Clock {
    at_start: i64,
}

fn milliseconds() -> i64 {
    (clock::now() / 1_000_000) as i64
}

impl SystemTime for Clock {
    fn get_system_time(&mut self) -> SystemTimeMessage {
        SystemTimeMessage { ticks: self.at_start + milliseconds() }
    }
}
