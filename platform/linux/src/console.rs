//! The Console: standard input by lines. Each line goes to the first component that asks. Waiting for a terminal or
//! pipe doesn't stop the program's other processes; a plain file is read at once. Lines come without the line end (`\n`
//! or `\r\n`), which the last one may lack.
//!
//! # Soundness
//!
//! File descriptor 0 is only borrowed: `ManuallyDrop` never closes it, and `poll` gets one valid entry.

use std::cell::RefCell;
use std::fs::File;
use std::io::Read;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::rc::Rc;
use std::task::Poll;

use drystone_runtime::native::Caller;
use mio::unix::SourceFd;

use crate::interfaces::console::{ConsoleLater, ReadLineAnswer};
use crate::lines::Lines;
use drystone_reactor::{Direction, Reactor};

/// Standard input, shared by all that read from it.
pub(crate) struct Input {
    reactor: Rc<Reactor>,
    /// The reactor's source, if the input can be waited for.
    source: Option<usize>,
    lines: RefCell<Lines>,
    file: ManuallyDrop<File>,
}

impl Input {
    pub(crate) fn new(reactor: Rc<Reactor>) -> Rc<Input> {
        // Refused for plain files.
        let source = reactor.watch(&mut SourceFd(&libc::STDIN_FILENO)).ok();
        // SAFETY: see the head of this file.
        let file = ManuallyDrop::new(unsafe { File::from_raw_fd(libc::STDIN_FILENO) });
        Rc::new(Input { reactor, source, lines: RefCell::default(), file })
    }

    /// Whether reading won't block. Standard input is shared with other programs, so it must stay blocking.
    fn ready(&self) -> bool {
        let mut entry = libc::pollfd { fd: libc::STDIN_FILENO, events: libc::POLLIN, revents: 0 };
        // SAFETY: the array has one entry.
        self.source.is_none() || unsafe { libc::poll(&mut entry, 1, 0) } != 0
    }
}

/// A client of the Console.
pub(crate) struct Reader(pub(crate) Rc<Input>);

impl ConsoleLater for Reader {
    fn read_line(&mut self, caller: &Caller) -> Poll<ReadLineAnswer<'_>> {
        let input = &*self.0;
        let mut lines = input.lines.borrow_mut();
        loop {
            if let Some(line) = lines.line() {
                return Poll::Ready(ReadLineAnswer::Line { x: caller.text(line) });
            }
            if lines.ended {
                return Poll::Ready(match lines.rest(usize::MAX) {
                    Some(line) => ReadLineAnswer::Line { x: caller.text(line) },
                    None => ReadLineAnswer::End,
                });
            }
            if !input.ready() {
                input.reactor.wait_for(caller.waiter(), input.source.map(|s| (s, Direction::Read)), None);
                return Poll::Pending;
            }
            let scratch = &mut *input.reactor.scratch.borrow_mut();
            match (&*input.file).read(scratch) {
                Ok(0) | Err(_) => lines.ended = true,
                Ok(n) => lines.append(&scratch[..n]),
            }
        }
    }
}
