//! The platform as the home's worker sees it: output, waiting, the reactor.

use std::any::Any;
use std::io;
use std::path::PathBuf;
use std::process::exit;
use std::rc::Rc;
use std::time::{Duration, Instant};

use drystone_kortex::bindings::Bindings;
use drystone_kortex::peer::Composites;
use drystone_runtime::binding::Binder;
use drystone_runtime::layout::Process;
use drystone_runtime::platform::{Bell, Platform, Question, Threads};

use crate::Options;
use crate::control::Control;
use crate::outlet::{Errors, Outlet};
use crate::questions::Questions;
use crate::signals::Signals;
use crate::standard;
use crate::threads::LinuxThreads;
use drystone_reactor::Reactor;
use drystone_reactor::reason;

/// Where a program's standard output goes.
pub(crate) enum Output {
    /// To the process's standard output.
    Standard,
    /// It is kept here.
    Kept(Vec<u8>),
}

/// A program as a Linux process.
pub(crate) struct Linux {
    pub(crate) reactor: Rc<Reactor>,
    pub(crate) output: Output,
    outlet: Rc<Outlet>,
    errors: Rc<Errors>,
    bindings: Bindings,
    composites: Rc<dyn Composites>,
    questions: Rc<Questions>,
    control: Option<Rc<Control>>,
    signals: Rc<Signals>,
    threads: &'static LinuxThreads,
}

impl Linux {
    /// # Errors
    /// The system has no more file descriptors, or the control socket can't be made.
    pub(crate) fn new(
        start: Instant,
        output: Output,
        options: &Options,
        signals: impl FnOnce(&Rc<Reactor>) -> Rc<Signals>,
        bindings: impl FnOnce(&Rc<Reactor>) -> (Bindings, Rc<dyn Composites>),
    ) -> Result<Linux, String> {
        let reactor = Reactor::new().map_err(|error| reason(&error))?;
        let signals = signals(&reactor);
        let threads = LinuxThreads::new(start, reactor.waker());
        let (bindings, composites) = bindings(&reactor);
        let questions = Questions::new(&reactor);
        let listen = |path: &PathBuf| Control::new(path, reactor.clone(), bindings.monitors(), &questions);
        let control = options.control.as_ref().map(listen).transpose()?;
        let outlet = Outlet::new(libc::STDOUT_FILENO, &reactor);
        let errors = Errors::new(&reactor);
        Ok(Linux {
            reactor,
            output,
            outlet,
            errors,
            bindings,
            composites,
            questions,
            control,
            signals,
            threads,
        })
    }

    /// The program's signals.
    pub(crate) fn signals(&self) -> &Rc<Signals> {
        &self.signals
    }

    /// Standard error.
    pub(crate) fn errors(&self) -> &Rc<Errors> {
        &self.errors
    }

    /// Questions to the running program.
    pub(crate) fn questions(&self) -> &Rc<Questions> {
        &self.questions
    }

    /// Runs composite calls that other programs ship here.
    pub(crate) fn composites(&self) -> &Rc<dyn Composites> {
        &self.composites
    }

    /// Ends the program. Returns its output.
    pub(crate) fn end(self) -> Output {
        self.outlet.end();
        self.errors.end();
        self.questions.clear();
        if let Some(control) = &self.control {
            control.end();
        }
        self.threads.end();
        self.output
    }
}

impl Platform for Linux {
    fn write(&mut self, bytes: &[u8]) -> usize {
        if let Output::Kept(output) = &mut self.output {
            output.extend_from_slice(bytes);
            return bytes.len();
        }
        // Not by `io::stdout`, which would search for lines in bytes that the runtime has collected.
        let written = match standard::output_was_closed() {
            true => Err(io::Error::other("It is closed")),
            false => self.outlet.write(bytes),
        };
        written.unwrap_or_else(|error| {
            // The reader has gone, as in `program | head`: the rest is dropped silently.
            if error.kind() != io::ErrorKind::BrokenPipe {
                self.errors.tell(format!("error: standard output: {}\n", reason(&error)).as_bytes());
                self.errors.end();
            }
            exit(1)
        })
    }

    fn wait_for_output(&mut self) {
        self.signals.over();
        self.outlet.wait();
    }

    fn report(&mut self, bytes: &[u8]) {
        self.errors.tell(bytes);
    }

    fn wait(&mut self, timeout: Option<u64>, wake: &mut dyn FnMut(*mut Process)) {
        // What can't be written now can be when the reactor says so.
        self.errors.go_on();
        self.reactor.wait(timeout.map(Duration::from_nanos), wake);
        self.errors.go_on();
    }

    fn pending(&self) -> usize {
        self.reactor.pending() + usize::from(self.outlet.is_full()) + usize::from(self.errors.is_pending())
    }

    fn waiting(&self, each: &mut dyn FnMut(*mut Process)) {
        self.reactor.waiting(each);
    }

    fn forget(&mut self, process: *mut Process) {
        self.reactor.forget(process);
    }

    fn threads(&self) -> &'static dyn Threads {
        self.threads
    }

    fn asked(&mut self) -> Option<Question> {
        self.signals.asked().or_else(|| self.questions.next())
    }

    fn is_asked(&self) -> bool {
        self.questions.may_come() || self.signals.have_come()
    }

    fn binder(&mut self) -> Option<&mut dyn Binder> {
        Some(&mut self.bindings)
    }

    fn bell(&mut self) -> Option<Rc<dyn Bell>> {
        Some(self.reactor.bell())
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}
