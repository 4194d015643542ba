//! The system itself, the first component: it offers what the component that starts requires.
//!
//! # Soundness
//!
//! Only a program's descriptions are looked at: they live for ever and never change.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use drystone_component::Program;
use drystone_runtime::native::{Component, Declaration, Kind, Messages, Serving};

use crate::Options;
use crate::canvas::Canvas;
use crate::console::{Input, Reader};
use crate::file_system::{FileClient, OpenFiles};
use crate::files::Directory;
use crate::graphic_view::Painter;
use crate::interfaces::*;
use crate::names::Names;
use crate::network::{Net, NetworkClient};
use crate::reactor::Reactor;
use crate::reason::reason;
use crate::simple::{ArgumentList, Clock};

/// One of the system's interfaces: makes its services.
type Maker = Box<dyn FnMut() -> Serving>;

/// The component.
pub(crate) struct System {
    makers: Vec<Maker>,
}

impl Component for System {
    fn serve(&mut self, interface: usize) -> Serving {
        self.makers[interface]()
    }
}

/// What is left of the system when the program has ended.
pub(crate) struct Remains {
    /// The picture, if the program could draw.
    canvas: Option<Rc<RefCell<Canvas>>>,
    files: Rc<OpenFiles>,
}

impl Remains {
    /// A program may have been ended before its services were: brings what was written to files that are still open
    /// to the disk, and the picture to where the options say. Else why not.
    pub(crate) fn finish(&self, options: &Options) -> Result<(), String> {
        self.files.update()?;
        match (&self.canvas, &options.graphics) {
            (Some(canvas), Some(path)) => {
                canvas.borrow().save(path).map_err(|error| format!("{}: {}", path.display(), reason(&error)))
            }
            _ => Ok(()),
        }
    }
}

/// Makes the system for a program: only what its first component requires. An error says which interface it declares
/// otherwise, or that the system hasn't got it.
pub(crate) fn make(
    program: &'static Program,
    options: &Options,
    reactor: &Rc<Reactor>,
    start: Instant,
) -> Result<(&'static Kind, System, Remains), String> {
    // SAFETY: a program's descriptions live for ever.
    let required = unsafe { &*program.entry }.required.get();
    let names = Rc::new(Names { source_directory: options.source_directory.clone() });
    let mut remains = Remains { canvas: None, files: Rc::default() };
    let mut declarations: Vec<&'static Declaration> = Vec::new();
    let mut makers: Vec<Maker> = Vec::new();
    for required in required {
        // SAFETY: likewise.
        let name = unsafe { &*required.interface }.name.get();
        let (declaration, maker): (_, Maker) = match name {
            "SystemTime" => {
                let clock = Clock::new(start);
                (SystemTime::DECLARATION, Box::new(move || Serving::new(clock)))
            }
            "Arguments" => {
                let list = Rc::new(options.arguments.clone());
                (Arguments::DECLARATION, Box::new(move || Serving::new(ArgumentList(list.clone()))))
            }
            "Console" => {
                let input = Input::new(reactor.clone());
                (Console::DECLARATION, Box::new(move || Serving::new(Reader(input.clone()))))
            }
            "FileSystem" => {
                let (names, files) = (names.clone(), remains.files.clone());
                let serve = move || Serving::new(FileClient::new(names.clone(), files.clone()));
                (FileSystem::DECLARATION, Box::new(serve))
            }
            "Files" => {
                let (names, kind) = (names.clone(), Kind::new(program, "File", &[Blocks::DECLARATION])?);
                let serve = move || Serving::new(Directory { names: names.clone(), kind });
                (Files::DECLARATION, Box::new(serve))
            }
            "GraphicView" => {
                let (width, height) = options.size;
                let canvas = Rc::new(RefCell::new(Canvas::new(width, height)));
                remains.canvas = Some(canvas.clone());
                (GraphicView::DECLARATION, Box::new(move || Serving::new(Painter::new(canvas.clone()))))
            }
            "Network" => {
                let net = Net::new(program, reactor.clone())?;
                (Network::DECLARATION, Box::new(move || Serving::new(NetworkClient::new(net.clone()))))
            }
            _ => return Err(format!("{name}: the system offers no such interface")),
        };
        declarations.push(declaration);
        makers.push(maker);
    }
    Ok((Kind::new(program, "System", &declarations)?, System { makers }, remains))
}
