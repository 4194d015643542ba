//! The system, the program's first component: it offers the interfaces that the starting component requires. A table
//! lists the system's own interfaces; extra crates add theirs ([`Offer`]).
//!
//! # Soundness
//!
//! Only a program's descriptions are read. They are static and never change.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use drystone_component::{Fingerprint, Program};
use drystone_kortex::Offer;
use drystone_kortex::system::arguments::tell;
use drystone_kortex::system::canvas::Canvas;
use drystone_kortex::system::graphic_view::Painter;
use drystone_runtime::native::{Component, Declaration, Kind, Serving};

use crate::Options;
use crate::console::{Input, Reader};
use crate::disk;
use crate::error_output::ErrorWriter;
use crate::file_system::{FileClient, OpenFiles};
use crate::files::Directory;
use crate::folders::Keeper;
use crate::interfaces::*;
use crate::names::Names;
use crate::network::{Net, NetworkClient};
use crate::outlet::Errors;
use crate::own_bindings;
use crate::picture;
use crate::platform::Linux;
use crate::processes::{Children, Kinds, Starter};
use crate::questions::Questions;
use crate::signals::Signals;
use crate::system_time::Clock;
use drystone_reactor::Reactor;
use drystone_reactor::reason;

/// Makes a server for each new client of an interface.
type Maker = Box<dyn FnMut() -> Serving>;

/// The system as a component.
pub(crate) struct System {
    makers: Vec<Maker>,
}

impl Component for System {
    fn serve(&mut self, interface: usize) -> Serving {
        self.makers[interface]()
    }
}

/// State of the system that remains to be saved when the program has ended.
pub(crate) struct Remains {
    /// The picture, if the program may have drawn one.
    canvas: Option<Rc<RefCell<Canvas>>>,
    files: Rc<OpenFiles>,
    children: Rc<Children>,
}

impl Remains {
    /// Writes the changes of files that are still open, because a program may have ended before its services. Saves the
    /// picture where the options say. Ends the processes that the program has started. An error says what went wrong.
    pub(crate) fn finish(&self, options: &Options) -> Result<(), String> {
        self.children.end();
        disk::finish();
        self.files.update()?;
        match (&self.canvas, &options.graphics) {
            (Some(canvas), Some(path)) => picture::save(&canvas.borrow(), path)
                .map_err(|error| format!("{}: {}", path.display(), reason(&error))),
            _ => Ok(()),
        }
    }
}

/// The resources of the system's own interfaces.
struct Ground<'a> {
    program: &'static Program,
    options: &'a Options,
    reactor: &'a Rc<Reactor>,
    questions: &'a Rc<Questions>,
    errors: &'a Rc<Errors>,
    signals: &'a Rc<Signals>,
    start: Instant,
    names: Rc<Names>,
    remains: Remains,
}

type Begin = fn(&mut Ground<'_>) -> Result<Maker, String>;

/// The system's own interfaces.
static OWN: &[(&Declaration, Begin)] = &[
    (&system_time::DECLARATION, |ground| {
        let clock = Clock::new(ground.start);
        Ok(Box::new(move || system_time::serve(clock)))
    }),
    (&arguments::DECLARATION, |ground| {
        let list = Rc::new(ground.options.arguments.clone());
        Ok(Box::new(move || {
            let list = list.clone();
            arguments::session(|client| tell(client, list))
        }))
    }),
    (&console::DECLARATION, |ground| {
        let input = Input::new(ground.reactor.clone());
        Ok(Box::new(move || console::serve(Reader(input.clone()))))
    }),
    (&error_output::DECLARATION, |ground| {
        let errors = ground.errors.clone();
        Ok(Box::new(move || error_output::serve(ErrorWriter::new(errors.clone()))))
    }),
    (&environment::DECLARATION, |_| Ok(Box::new(|| environment::session(crate::environment::attend)))),
    (&signals::DECLARATION, |ground| {
        let signals = ground.signals.clone();
        Ok(Box::new(move || {
            let signals = signals.clone();
            signals::session(|client| crate::signals::attend(client, signals))
        }))
    }),
    (&file_system::DECLARATION, |ground| {
        let (reactor, names) = (ground.reactor.clone(), ground.names.clone());
        let files = ground.remains.files.clone();
        Ok(Box::new(move || {
            let client = FileClient::new(reactor.clone(), names.clone(), files.clone());
            file_system::session(|session| client.attend(session))
        }))
    }),
    (&files::DECLARATION, |ground| {
        let kind = Kind::new(ground.program, "File", &[&blocks::DECLARATION])?;
        let (reactor, names) = (ground.reactor.clone(), ground.names.clone());
        Ok(Box::new(move || {
            let directory = Directory { reactor: reactor.clone(), names: names.clone(), kind };
            files::session(|session| directory.attend(session))
        }))
    }),
    (&folders::DECLARATION, |ground| {
        let names = ground.names.clone();
        Ok(Box::new(move || folders::serve(Keeper(names.clone()))))
    }),
    (&processes::DECLARATION, |ground| {
        let kinds = Kinds::new(ground.program)?;
        let (reactor, names) = (ground.reactor.clone(), ground.names.clone());
        let children = ground.remains.children.clone();
        Ok(Box::new(move || {
            let starter =
                Starter { reactor: reactor.clone(), names: names.clone(), children: children.clone(), kinds };
            processes::session(|client| starter.attend(client))
        }))
    }),
    (&graphic_view::DECLARATION, |ground| {
        let (width, height) = ground.options.size;
        let canvas = Rc::new(RefCell::new(Canvas::new(width, height)));
        ground.remains.canvas = Some(canvas.clone());
        Ok(Box::new(move || graphic_view::serve(Painter::new(canvas.clone()))))
    }),
    (&network::DECLARATION, |ground| {
        let net = Net::new(ground.program, ground.reactor.clone())?;
        Ok(Box::new(move || network::serve(NetworkClient::new(net.clone()))))
    }),
    (&bindings::DECLARATION, |ground| {
        let questions = ground.questions.clone();
        questions.expect();
        Ok(Box::new(move || {
            let questions = questions.clone();
            bindings::session(|client| own_bindings::attend(client, questions))
        }))
    }),
];

/// Makes the system for a program, with only what its first component requires. An error names an interface that the
/// program declares differently, or that the system doesn't have.
pub(crate) fn make(
    program: &'static Program,
    options: &Options,
    platform: &Linux,
    start: Instant,
) -> Result<(&'static Kind, System, Remains), String> {
    let (reactor, questions) = (&platform.reactor, platform.questions());
    let (errors, signals) = (platform.errors(), platform.signals());
    let names = Rc::new(Names { source_directory: options.source_directory.clone() });
    let remains = Remains { canvas: None, files: Rc::default(), children: Rc::default() };
    let mut ground = Ground { program, options, reactor, questions, errors, signals, start, names, remains };
    let mut declarations: Vec<&'static Declaration> = Vec::new();
    let mut makers: Vec<Maker> = Vec::new();
    // SAFETY: a program's descriptions live for ever.
    for (_, required) in unsafe { (*program.entry).declared() } {
        // SAFETY: a program's descriptions live for ever.
        let interface = unsafe { &*required.interface };
        let (declaration, maker) = offer(&mut ground, interface.name.get(), interface.fingerprint)?;
        declarations.push(declaration);
        makers.push(maker);
    }
    Ok((Kind::new(program, "System", &declarations)?, System { makers }, ground.remains))
}

/// The offer for an interface, of an extra crate or of the system itself.
fn offer(
    ground: &mut Ground<'_>,
    name: &str,
    fingerprint: Fingerprint,
) -> Result<(&'static Declaration, Maker), String> {
    let added = ground.options.additions.iter().flat_map(|addition| addition.offers);
    if let Some(Offer { declaration, begin }) =
        added.clone().find(|offer| offer.declaration.fingerprint == fingerprint)
    {
        return Ok((declaration, begin(ground.program)?));
    }
    if let Some((declaration, begin)) = OWN.iter().find(|(declaration, _)| declaration.name == name) {
        return Ok((declaration, begin(ground)?));
    }
    Err(match added.clone().any(|offer| offer.declaration.name == name) {
        true => format!("{name}: the program declares it otherwise than the crate that offers it"),
        false => format!("{name}: the system offers no such interface"),
    })
}
