//! Processes: starts processes of the operating system. A component stands for each. Its interfaces are the process's
//! status ([`process`](status)), its standard input (Output) and its standard output (Input); another component has its
//! standard error (Input). No shell is involved. Where the kernel can close descriptors on exec by range (from Linux
//! 5.11), a process gets no descriptors but these three. It inherits the raised limit on open files.
//!
//! When its component is deleted, a process is killed and reaped. When the program ends, all are.

mod child;
mod pipe;
mod status;

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::sync::Once;

use drystone_component::Program;
use drystone_runtime::native::{Component, Kind, Part, Serving};

use crate::interfaces::processes::{In, Out, Server};
use crate::interfaces::{input, output, process};
use crate::lines::Lines;
use crate::names::Names;
use crate::network::input::Reader;
use crate::network::output::{Outgoing, Writer};
use child::Child;
pub(crate) use child::Children;
use drystone_reactor::{Reactor, reason};
use pipe::{Inlet, Outlet};

/// The kinds of the components that `Started` carries.
#[derive(Clone, Copy)]
pub(crate) struct Kinds {
    process: &'static Kind,
    errors: &'static Kind,
}

impl Kinds {
    /// An error names an interface that the program declares differently.
    pub(crate) fn new(program: &'static Program) -> Result<Kinds, String> {
        close_inherited_on_exec();
        let process = [&process::DECLARATION, &input::DECLARATION, &output::DECLARATION];
        Ok(Kinds {
            process: Kind::new(program, "Process", &process)?,
            errors: Kind::new(program, "Errors", &[&input::DECLARATION])?,
        })
    }
}

/// Marks all descriptors that this process has inherited as close-on-exec. Those that it opens itself are marked when
/// they are opened.
fn close_inherited_on_exec() {
    static MARKED: Once = Once::new();
    // SAFETY: plain numbers; a kernel that doesn't know the call leaves the descriptors as they are.
    MARKED.call_once(|| unsafe {
        libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC);
    });
}

/// A client of Processes.
pub(crate) struct Starter {
    pub(crate) reactor: Rc<Reactor>,
    pub(crate) names: Rc<Names>,
    pub(crate) children: Rc<Children>,
    pub(crate) kinds: Kinds,
}

impl Starter {
    /// Serves a client to its end.
    pub(crate) async fn attend(self, mut client: Server) {
        let mut command = Wanted::default();
        while let Ok(request) = client.receive().await {
            match request {
                In::Program { name } => command = Wanted { program: text(&name), ..Wanted::default() },
                In::Argument { x } => command.arguments.push(text(&x)),
                In::Variable { name, value } => command.variables.push((text(&name), text(&value))),
                In::Folder { name } => command.folder = Some(text(&name)),
                In::Start => {
                    let started = self.start(std::mem::take(&mut command));
                    let failed = |error| Out::Failed { reason: reason(&error).into() };
                    client.send(started.unwrap_or_else(failed)).await;
                }
            }
        }
    }

    fn start(&self, wanted: Wanted) -> io::Result<Out<'static>> {
        let mut command = wanted.command(&self.names)?;
        let mut process = command.spawn()?;
        let (stdin, stdout, stderr) = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        // The child is killed and reaped if its pipes then can't be watched.
        let child = Child::new(&self.reactor, process)?;
        self.children.add(&child);
        let is_piped = "its three descriptors are pipes";
        let started = Started {
            child,
            input: Inlet::new(&self.reactor, stdin.expect(is_piped))?,
            output: Readable::new(Outlet::new(&self.reactor, stdout.expect(is_piped).into())?),
        };
        let errors = Readable::new(Outlet::new(&self.reactor, stderr.expect(is_piped).into())?);
        Ok(Out::Started {
            p: Part::new(self.kinds.process, started),
            errors: Part::new(self.kinds.errors, errors),
        })
    }
}

fn text(bytes: &[u8]) -> OsString {
    OsStr::from_bytes(bytes).to_owned()
}

/// A process that is to be started.
#[derive(Default)]
struct Wanted {
    program: OsString,
    arguments: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    folder: Option<OsString>,
}

impl Wanted {
    /// # Errors
    /// The name of a variable would mean another variable, or the folder's name isn't a path.
    fn command(self, names: &Names) -> io::Result<Command> {
        let mut command = Command::new(self.program);
        command.args(self.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for (name, value) in self.variables {
            if name.is_empty() || name.as_bytes().contains(&b'=') {
                return Err(io::Error::other("No variable's name is empty or has a character ="));
            }
            command.env(name, value);
        }
        if let Some(folder) = self.folder {
            command.current_dir(names.path(&folder.into_vec())?);
        }
        Ok(command)
    }
}

/// A process, as a component.
struct Started {
    child: Rc<Child>,
    input: Rc<Inlet>,
    output: Readable,
}

impl Component for Started {
    fn serve(&mut self, interface: usize) -> Serving {
        match interface {
            0 => process::serve(status::Observer::new(self.child.clone())),
            1 => self.output.serve(0),
            _ => output::serve(Writer::new(self.input.clone())),
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.child.end();
        self.input.expire();
    }
}

/// A pipe that a process writes to, as a component.
struct Readable {
    pipe: Rc<Outlet>,
    /// Received bytes that weren't asked for yet.
    input: Rc<RefCell<Lines>>,
}

impl Readable {
    fn new(pipe: Outlet) -> Readable {
        Readable { pipe: Rc::new(pipe), input: Rc::default() }
    }
}

impl Component for Readable {
    fn serve(&mut self, _: usize) -> Serving {
        input::serve(Reader::new(self.pipe.clone(), self.input.clone()))
    }
}
