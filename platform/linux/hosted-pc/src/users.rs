//! Runs users' code in processes of its own, one for each address space, which map only that space's pages. Other
//! accesses, system calls and exceptions stop such a process, and this one is told (ptrace).
//!
//! # Soundness
//!
//! Pages are mapped and unmapped only in other processes. They are forked while this one has one thread, and make only
//! system calls until they are traced. The stub's page is at an address that no user can have.

use std::collections::BTreeMap;
use std::io::Error;
use std::mem::zeroed;
use std::ptr::null_mut;

use crate::clock;
use crate::memory::PAGE;
use crate::registers::Registers;
use crate::tables::{Mapped, Page, Space};

/// The first of the users' addresses.
pub const USERS: u64 = 1 << 39;
/// The end of a Linux process's addresses.
const END: u64 = (1 << 47) - PAGE;
/// The stub: two instructions, which make a system call for this process and stop.
const STUB: u64 = USERS - PAGE;
const STUB_CODE: [u8; 3] = [0x0f, 0x05, 0xcc];
const HALT: u8 = 0xf4;
/// Most processes that are kept.
const MOST: usize = 100;

/// Why users' code has stopped.
#[derive(Clone, Copy, Debug)]
pub enum Stop {
    /// A system call.
    Call,
    /// A signal, with its number, code and address.
    Signal { number: i32, code: i32, address: u64 },
    /// Its time is over.
    Time,
}

/// The process of an address space.
struct Process {
    id: libc::pid_t,
    memory: i32,
    mapped: Mapped,
    /// The value of `changed` when its pages were last compared with the tables.
    checked: u64,
    /// Segments, and other registers that users don't have.
    rest: libc::user_regs_struct,
}

/// The processes, by the addresses of their top-level tables.
pub struct Users {
    memory: i32,
    processes: BTreeMap<u64, Process>,
    children: libc::sigset_t,
}

/// Stops the machine, because a system call for a user's process failed.
fn broken(what: &str) -> ! {
    crate::ending::stop(&format!("users' code can't be run: {what}: {}", Error::last_os_error()))
}

fn must(answer: i64, what: &str) -> i64 {
    if answer < 0 { broken(what) } else { answer }
}

fn trace<T>(request: u32, process: libc::pid_t, address: usize, data: *mut T) -> i64 {
    // SAFETY: the caller passes valid addresses for Linux to read or write.
    unsafe { libc::ptrace(request, process, address, data) }
}

impl Users {
    /// Users of a machine with this memory.
    pub fn new(memory: i32) -> Users {
        // SAFETY: a page of its own, where nothing is yet; signals are told by their numbers.
        unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
            let stub = libc::mmap(STUB as *mut _, PAGE as usize, access, flags, -1, 0);
            if stub != STUB as *mut _ {
                broken("its stub has no place");
            }
            // A user that jumps into the stub's page elsewhere halts, and is found there.
            stub.cast::<u8>().write_bytes(HALT, PAGE as usize);
            stub.cast::<[u8; 3]>().write(STUB_CODE);
            // Execute-only, if the processor supports that.
            must(libc::mprotect(stub, PAGE as usize, libc::PROT_EXEC).into(), "mprotect");
            let mut children = zeroed();
            libc::sigemptyset(&raw mut children);
            libc::sigaddset(&raw mut children, libc::SIGCHLD);
            libc::sigprocmask(libc::SIG_BLOCK, &raw const children, null_mut());
            Users { memory, processes: BTreeMap::new(), children }
        }
    }

    /// Runs users' code in the address space with these tables until it stops. If `changed` has changed, its pages are
    /// first compared with the tables. Also returns the nanoseconds it took, which are not much more than `left`.
    pub fn run(
        &mut self,
        root: u64,
        changed: u64,
        now: impl Fn(u64) -> Option<Page>,
        registers: &mut Registers,
        left: Option<u64>,
    ) -> (Stop, u64) {
        let process = self.process(root);
        if process.checked != changed {
            process.checked = changed;
            let Process { id, memory, mapped, rest, .. } = process;
            mapped.check(now, &mut Pages { id: *id, memory: *memory, rest });
        }
        let mut all = process.rest;
        registers.into_process(&mut all);
        process.set(&mut all);
        must(trace(libc::PTRACE_SYSEMU, process.id, 0, null_mut::<u8>()), "PTRACE_SYSEMU");
        let id = process.id;
        let (status, spent) = self.wait(id, left);
        let process = self.process(root);
        let all = process.get();
        *registers = Registers::of_process(&all);
        process.rest = all;
        let stopped = match libc::WSTOPSIG(status) {
            signal if signal == libc::SIGTRAP | 0x80 => {
                registers.whole[0] = all.orig_rax;
                Stop::Call
            }
            libc::SIGUSR1 => Stop::Time,
            number => {
                let (code, address) = process.signal();
                Stop::Signal { number, code, address }
            }
        };
        (stopped, spent)
    }

    /// Waits until the process has stopped. It is stopped when the time that is left is over.
    fn wait(&self, id: libc::pid_t, left: Option<u64>) -> (i32, u64) {
        let clock = clock::of_process(id);
        let begun = clock::spent(clock);
        let spent = || clock::spent(clock) - begun;
        let mut is_over = false;
        loop {
            let mut status = 0;
            // SAFETY: Linux writes there; signals are told by their numbers.
            unsafe {
                let flags = libc::__WALL | if left.is_some() && !is_over { libc::WNOHANG } else { 0 };
                match libc::waitpid(id, &raw mut status, flags) {
                    0 => {}
                    found if found == id && libc::WIFSTOPPED(status) => return (status, spent()),
                    found if found == id => broken("its process has ended"),
                    _ if Error::last_os_error().raw_os_error() == Some(libc::EINTR) => continue,
                    _ => broken("waitpid"),
                }
                let still = left.unwrap_or(0).saturating_sub(spent());
                let time = clock::timespec(still);
                if still == 0 {
                    is_over = true;
                    libc::kill(id, libc::SIGUSR1);
                } else {
                    libc::sigtimedwait(&raw const self.children, null_mut(), &raw const time);
                }
            }
        }
    }

    /// Maps a page into an address space; `false`: it is mapped already.
    pub fn add(&mut self, root: u64, page: Page) -> bool {
        let Process { id, memory, mapped, rest, .. } = self.process(root);
        mapped.add(page, &mut Pages { id: *id, memory: *memory, rest })
    }

    fn process(&mut self, root: u64) -> &mut Process {
        if !self.processes.contains_key(&root) {
            if self.processes.len() == MOST {
                self.processes.clear();
            }
            self.processes.insert(root, Process::new(self.memory));
        }
        self.processes.get_mut(&root).expect("it is there now")
    }
}

/// Whether an instruction is the stub's.
pub fn is_stub(address: u64) -> bool {
    address & !(PAGE - 1) == STUB
}

impl Process {
    fn new(memory: i32) -> Process {
        // SAFETY: see the head of this file.
        let id = unsafe {
            let id = libc::fork();
            if id == 0 {
                libc::setpgid(0, 0);
                if libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) == 0 {
                    libc::kill(libc::getpid(), libc::SIGSTOP);
                }
                libc::_exit(1);
            }
            must(id.into(), "fork") as libc::pid_t
        };
        // SAFETY: all bits may be 0.
        let rest = unsafe { zeroed() };
        let mut process = Process { id, memory, mapped: Mapped::default(), checked: 0, rest };
        process.wait();
        let options = libc::PTRACE_O_EXITKILL | libc::PTRACE_O_TRACESYSGOOD;
        must(trace(libc::PTRACE_SETOPTIONS, id, 0, options as usize as *mut u8), "PTRACE_SETOPTIONS");
        process.rest = process.get();
        process.forget_sequences();
        let mut pages = Pages { id, memory, rest: &process.rest };
        for (start, end) in [(0, STUB), (USERS, END)] {
            must(pages.call(libc::SYS_munmap, [start, end - start, 0, 0, 0, 0]), "munmap");
        }
        (process.rest.fs_base, process.rest.gs_base) = (0, 0);
        process
    }

    /// Unregisters the memory of the C library in which Linux writes at each thread switch (rseq): it won't be mapped.
    fn forget_sequences(&self) {
        #[repr(C)]
        #[derive(Default)]
        struct Configuration {
            place: u64,
            size: u32,
            signature: u32,
            flags: u32,
            pad: u32,
        }
        const GET: u32 = 0x420f;
        const UNREGISTER: u64 = 1;
        let mut found = Configuration::default();
        let size = size_of::<Configuration>();
        if trace(GET, self.id, size, &raw mut found) == size as i64 && found.place != 0 {
            let mut pages = Pages { id: self.id, memory: self.memory, rest: &self.rest };
            let words = [found.place, found.size.into(), UNREGISTER, found.signature.into(), 0, 0];
            must(pages.call(libc::SYS_rseq, words), "rseq");
        }
    }

    fn wait(&self) {
        wait(self.id);
    }

    fn get(&self) -> libc::user_regs_struct {
        get(self.id)
    }

    fn set(&self, registers: &mut libc::user_regs_struct) {
        must(trace(libc::PTRACE_SETREGS, self.id, 0, registers), "PTRACE_SETREGS");
    }

    /// The code and address of the signal that stopped it.
    fn signal(&self) -> (i32, u64) {
        // SAFETY: all bits may be 0; Linux writes there.
        unsafe {
            let mut info = zeroed::<libc::siginfo_t>();
            must(trace(libc::PTRACE_GETSIGINFO, self.id, 0, &raw mut info), "PTRACE_GETSIGINFO");
            (info.si_code, info.si_addr() as u64)
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // SAFETY: the traced process is a child of this one.
        unsafe {
            libc::kill(self.id, libc::SIGKILL);
            libc::waitpid(self.id, null_mut(), libc::__WALL);
        }
    }
}

fn wait(id: libc::pid_t) {
    let mut status = 0;
    // SAFETY: Linux writes to `status` only.
    unsafe {
        while libc::waitpid(id, &raw mut status, libc::__WALL) < 0 {
            if Error::last_os_error().raw_os_error() != Some(libc::EINTR) {
                broken("waitpid");
            }
        }
    }
    if !libc::WIFSTOPPED(status) {
        broken("its process has ended: may processes be traced here?");
    }
}

fn get(id: libc::pid_t) -> libc::user_regs_struct {
    // SAFETY: all bits may be 0; Linux writes there.
    unsafe {
        let mut registers = zeroed();
        must(trace(libc::PTRACE_GETREGS, id, 0, &raw mut registers), "PTRACE_GETREGS");
        registers
    }
}

/// The address space of a stopped process.
struct Pages<'a> {
    id: libc::pid_t,
    memory: i32,
    rest: &'a libc::user_regs_struct,
}

impl Pages<'_> {
    /// Has the process make a system call.
    fn call(&mut self, number: i64, words: [u64; 6]) -> i64 {
        let mut all = *self.rest;
        (all.rip, all.rax, all.orig_rax) = (STUB, number as u64, u64::MAX);
        [all.rdi, all.rsi, all.rdx, all.r10, all.r8, all.r9] = words;
        all.eflags = 0x202;
        must(trace(libc::PTRACE_SETREGS, self.id, 0, &raw mut all), "PTRACE_SETREGS");
        loop {
            must(trace(libc::PTRACE_CONT, self.id, 0, null_mut::<u8>()), "PTRACE_CONT");
            wait(self.id);
            let now = get(self.id);
            // A late signal may have stopped it earlier.
            if now.rip == STUB + STUB_CODE.len() as u64 {
                return now.rax as i64;
            }
        }
    }
}

impl Space for Pages<'_> {
    fn map(&mut self, page: Page) {
        let flags = libc::MAP_SHARED | libc::MAP_FIXED;
        let words = [page.start, page.size, page.rights.access() as u64, flags as u64];
        let [start, size, access, flags] = words;
        let answer = self.call(libc::SYS_mmap, [start, size, access, flags, self.memory as u64, page.frame]);
        must(if answer == page.start as i64 { 0 } else { -1 }, "mmap");
    }

    fn unmap(&mut self, page: Page) {
        must(self.call(libc::SYS_munmap, [page.start, page.size, 0, 0, 0, 0]), "munmap");
    }
}
