//! The process that forks the processes of domains: see [`process`](super).
//!
//! # Soundness
//!
//! A fork of a process with several threads has one thread, and may inherit locks that other threads held. The zygote
//! uses only two kinds of locks: those of the C library's allocator, which the C library restores, and those that
//! `threads::fork` holds during the fork. It never returns into the program's code. The addresses of descriptions that
//! it is sent were valid before it was forked, and stay so.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitStatus;
use std::ptr;

use drystone_component::{Program, Template};
use drystone_kortex::domain::Trust;
use rustix::cmsg_space;
use rustix::io::retry_on_intr;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use rustix::process::{Pid, PidfdFlags, WaitOptions, pidfd_open, waitpid};

use crate::Options;
use crate::bindings::channel::Offer;
use crate::bindings::confine::Confinement;
use crate::bindings::domain::Run;
use crate::signals::FOR_PROGRAMS;
use crate::threads;

/// The program's side of the zygote.
pub(super) struct Zygote {
    socket: Option<OwnedFd>,
    pid: Pid,
}

/// The words of a request: a template's address, the capacity, and the confinement. Or, instead of an address, one of
/// the constants below, and the number of a process that has ended or is about to.
const WORDS: usize = 2 + Confinement::WORDS;

/// Reap the process; its exit status isn't needed.
const BURY: u64 = 0;
/// Tell the process's exit status.
const ASK: u64 = 1;

impl Zygote {
    pub(super) fn new(program: &'static Program, options: &Options, run: Run) -> io::Result<Zygote> {
        let (here, there) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        // SAFETY: see the head of this file.
        match unsafe { threads::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => end_with(|| {
                serve(there, program, options, run);
                0
            }),
            pid => {
                Ok(Zygote { socket: Some(here), pid: Pid::from_raw(pid).expect("a process that was made") })
            }
        }
    }

    /// Forks a process for a component that is reached by this channel. Returns its number and a pidfd, which is
    /// readable when it has ended.
    pub(super) fn fork(
        &self,
        template: &'static Template,
        confinement: &Confinement,
        capacity: u32,
        offer: &Offer,
    ) -> io::Result<(u32, OwnedFd)> {
        let mut request = [0u64; WORDS];
        request[0] = ptr::from_ref(template).expose_provenance() as u64;
        request[1] = capacity.into();
        request[2..].copy_from_slice(&confinement.words());
        let socket = self.socket()?;
        send(socket, &request, &offer.descriptors())?;
        let (answer, descriptors) =
            receive::<2>(socket)?.ok_or_else(|| io::Error::other("It can't be made"))?;
        match descriptors.into_iter().next() {
            Some(process) => Ok((answer[0] as u32, process)),
            None => Err(io::Error::from_raw_os_error(answer[1] as i32)),
        }
    }

    /// The exit status of a process that the zygote has forked. It can be asked for once.
    pub(super) fn how_ended(&self, process: u32) -> Option<ExitStatus> {
        self.about(ASK, process).ok()?;
        let (answer, _) = receive::<2>(self.socket().ok()?).ok()??;
        (answer[1] == 0).then(|| ExitStatus::from_raw(answer[0] as i32))
    }

    /// Has a process reaped, without its exit status.
    pub(super) fn bury(&self, process: u32) {
        // The zygote may have ended, and its processes with it.
        let _ = self.about(BURY, process);
    }

    fn about(&self, what: u64, process: u32) -> io::Result<()> {
        let mut request = [0u64; WORDS];
        (request[0], request[1]) = (what, process.into());
        send(self.socket()?, &request, &[])
    }

    fn socket(&self) -> io::Result<BorrowedFd<'_>> {
        self.socket.as_ref().map(AsFd::as_fd).ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl Drop for Zygote {
    fn drop(&mut self) {
        // The zygote reads the end of its socket, and ends.
        self.socket.take();
        let _ = retry_on_intr(|| waitpid(Some(self.pid), WaitOptions::empty()));
    }
}

fn send(socket: BorrowedFd, words: &[u64], descriptors: &[BorrowedFd]) -> io::Result<()> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(3))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        beside.push(SendAncillaryMessage::ScmRights(descriptors));
    }
    retry_on_intr(|| sendmsg(socket, &[IoSlice::new(&bytes)], &mut beside, SendFlags::NOSIGNAL))?;
    Ok(())
}

/// The next message; `None`: the socket has ended.
fn receive<const N: usize>(socket: BorrowedFd) -> io::Result<Option<([u64; N], Vec<OwnedFd>)>> {
    let mut bytes = [0; 64];
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(3))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let room = &mut [IoSliceMut::new(&mut bytes)];
    let received = retry_on_intr(|| recvmsg(socket, room, &mut beside, RecvFlags::CMSG_CLOEXEC))?.bytes;
    let mut descriptors = Vec::new();
    for message in beside.drain() {
        if let RecvAncillaryMessage::ScmRights(some) = message {
            descriptors.extend(some);
        }
    }
    if received == 0 {
        return Ok(None);
    }
    let (words, _) = bytes.as_chunks::<8>();
    Ok(Some((std::array::from_fn(|i| u64::from_ne_bytes(words[i])), descriptors)))
}

/// Runs `what`, and ends the process with its status, whatever happens.
fn end_with(what: impl FnOnce() -> i32) -> ! {
    let status = catch_unwind(AssertUnwindSafe(what)).unwrap_or(1);
    // SAFETY: see the head of this file. Nothing that the program has registered for its own end is to run here.
    unsafe { libc::_exit(status) }
}

/// The zygote's main loop.
fn serve(socket: OwnedFd, program: &'static Program, options: &Options, run: Run) {
    // SAFETY: plain numbers and constants.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, c"zygote".as_ptr());
        // Signals to a terminal's or a container's processes are for the program, which all these processes end with.
        for signal in FOR_PROGRAMS.into_iter().chain([libc::SIGQUIT]) {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
    close_all_but(&socket);
    let mut unburied = Vec::new();
    while let Ok(Some((request, descriptors))) = receive::<WORDS>(socket.as_fd()) {
        // Processes to be reaped may end much later, for instance if they are stopped.
        unburied.retain(|&process| matches!(waitpid(process, WaitOptions::NOHANG), Ok(None)));
        let sent = match request[0] {
            BURY => {
                unburied.push(Pid::from_raw(request[1] as i32));
                continue;
            }
            ASK => send(socket.as_fd(), &wait_for(request[1] as i32), &[]),
            _ => match fork(&request, descriptors, &socket, (program, options, run)) {
                Ok((pid, process)) => send(socket.as_fd(), &[pid, 0], &[process.as_fd()]),
                Err(error) => {
                    send(socket.as_fd(), &[0, error.raw_os_error().unwrap_or(libc::EINVAL) as u64], &[])
                }
            },
        };
        if sent.is_err() {
            return;
        }
    }
}

/// The exit status of a process, and whether it is unknown.
fn wait_for(process: i32) -> [u64; 2] {
    let ended = retry_on_intr(|| waitpid(Pid::from_raw(process), WaitOptions::empty()));
    match ended {
        Ok(Some((_, status))) => [status.as_raw() as u64, 0],
        _ => [0, 1],
    }
}

/// Keeps only standard input (the program's own, and empty here), output and error, and the socket.
fn close_all_but(socket: &OwnedFd) {
    let (number, none) = (socket.as_raw_fd() as u32, 0);
    // SAFETY: the code that owns the descriptors never runs in this process.
    unsafe {
        let nothing = libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY);
        libc::dup2(nothing, libc::STDIN_FILENO);
        if number > 3 {
            libc::syscall(libc::SYS_close_range, 3u32, number - 1, none);
        }
        libc::syscall(libc::SYS_close_range, number + 1, u32::MAX, none);
    }
}

fn fork(
    request: &[u64; WORDS],
    descriptors: Vec<OwnedFd>,
    socket: &OwnedFd,
    (program, options, run): (&'static Program, &Options, Run),
) -> io::Result<(u64, OwnedFd)> {
    let descriptors = descriptors.try_into().map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
    let offer = Offer::received(descriptors, 1);
    let template = ptr::with_exposed_provenance::<Template>(request[0] as usize);
    let (capacity, confinement) = (request[1] as u32, Confinement::of_words(&request[2..]));
    // SAFETY: see the head of this file.
    match unsafe { (threads::fork(), &*template) } {
        (-1, _) => Err(io::Error::last_os_error()),
        (0, template) => end_with(|| {
            // SAFETY: the descriptor isn't used here any more.
            unsafe { libc::close(socket.as_raw_fd()) };
            live((program, options, run), template, (offer, capacity), &confinement)
        }),
        (pid, _) => {
            let process = Pid::from_raw(pid).expect("a process that was made");
            Ok((pid as u64, pidfd_open(process, PidfdFlags::empty())?))
        }
    }
}

/// Runs a domain, and returns its exit status.
fn live(
    (program, options, run): (&'static Program, &Options, Run),
    template: &'static Template,
    (offer, capacity): (Offer, u32),
    confinement: &Confinement,
) -> i32 {
    let mut random = [0; 8];
    // SAFETY: constants, and room for as many bytes as are said.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::prctl(libc::PR_SET_NAME, c"domain".as_ptr());
        libc::getrandom(random.as_mut_ptr().cast(), random.len(), 0);
    }
    let seed = options.seed.unwrap_or(u64::from_ne_bytes(random));
    let memory = confinement.memory.map_or(options.memory, |bytes| bytes as usize);
    let options = Options { seed: Some(seed), memory, ..options.clone() };
    if let Err(why) = confinement.enter() {
        eprintln!("error: a domain could not be confined: {why}");
        return 1;
    }
    run(program, template, (offer, Trust::None), &options, capacity).unwrap_or(1)
}
