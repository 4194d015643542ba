//! Attacks from a confined process.

use std::fs::File;
use std::net::{TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::thread;

use super::*;

/// Runs `what` in a confined process, and returns its exit status.
fn status_of(confinement: Confinement, what: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the child only runs this and ends; it takes no lock that another thread of the tests may have held.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let status = match confinement.enter() {
            Ok(()) => what(),
            Err(_) => 100,
        };
        // SAFETY: nothing of the parent's is to be ended.
        unsafe { libc::_exit(status) };
    }
    let mut status = 0;
    // SAFETY: our own child.
    unsafe { libc::waitpid(pid, &mut status, 0) };
    if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { -libc::WTERMSIG(status) }
}

fn free(what: impl FnOnce() -> i32) -> i32 {
    status_of(Confinement::default(), what)
}

fn confined(what: impl FnOnce() -> i32) -> i32 {
    status_of(Confinement { confined: true, ..Confinement::default() }, what)
}

/// The attacks that succeeded, one bit each.
fn successes(attacks: &[fn() -> bool]) -> i32 {
    attacks.iter().enumerate().map(|(number, attack)| (attack() as i32) << number).sum()
}

/// Whether the system call, made directly, wasn't refused.
fn made(number: libc::c_long, arguments: [usize; 4]) -> bool {
    let [a, b, c, d] = arguments;
    // SAFETY: none of the attempted calls accesses this process's memory.
    unsafe { libc::syscall(number, a, b, c, d) >= 0 }
}

#[test]
fn files_are_shut_off() {
    let attacks: &[fn() -> bool] = &[
        || File::open("/etc/passwd").is_ok(),
        || File::options().append(true).open("/dev/null").is_ok(),
        || fs::read_dir("/").is_ok(),
        || fs::metadata("/etc/passwd").is_ok(),
        || made(libc::SYS_open, [c"/etc/passwd".as_ptr() as usize, 0, 0, 0]),
        || made(libc::SYS_memfd_create, [c"x".as_ptr() as usize, 0, 0, 0]),
    ];
    assert_ne!(free(|| successes(attacks)), 0);
    assert_eq!(confined(|| successes(attacks)), 0);
}

#[test]
fn there_is_no_network() {
    let attacks: &[fn() -> bool] = &[
        || UdpSocket::bind("127.0.0.1:0").is_ok(),
        || TcpStream::connect("127.0.0.1:1").is_ok(),
        || UnixStream::pair().is_ok(),
        || made(libc::SYS_socket, [libc::AF_NETLINK as usize, libc::SOCK_RAW as usize, 0, 0]),
        || made(libc::SYS_io_uring_setup, [1, 0, 0, 0]),
    ];
    assert_ne!(free(|| successes(attacks)), 0);
    assert_eq!(confined(|| successes(attacks)), 0);
}

#[test]
fn there_are_no_other_processes() {
    let attacks: &[fn() -> bool] = &[
        || Command::new("/bin/true").status().is_ok(),
        || made(libc::SYS_fork, [0; 4]),
        || made(libc::SYS_vfork, [0; 4]),
        || made(libc::SYS_clone, [libc::SIGCHLD as usize, 0, 0, 0]),
        // SAFETY: plain numbers.
        || made(libc::SYS_kill, [unsafe { libc::getppid() } as usize, 0, 0, 0]),
        // SAFETY: likewise.
        || made(libc::SYS_ptrace, [libc::PTRACE_SEIZE as usize, unsafe { libc::getppid() } as usize, 0, 0]),
        // SAFETY: likewise.
        || made(libc::SYS_pidfd_open, [unsafe { libc::getppid() } as usize, 0, 0, 0]),
    ];
    assert_eq!(confined(|| successes(attacks)), 0);
}

#[test]
fn there_is_no_new_code() {
    let executable = (libc::PROT_READ | libc::PROT_EXEC) as usize;
    let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as usize;
    let attack = move || {
        let mapped = made(libc::SYS_mmap, [0, 4096, executable, flags]);
        let page = Box::leak(vec![0u8; 8192].into_boxed_slice()).as_ptr().addr().next_multiple_of(4096);
        let changed = made(libc::SYS_mprotect, [page, 4096, executable, 0]);
        let allowed_more = made(libc::SYS_prctl, [libc::PR_SET_DUMPABLE as usize, 1, 0, 0]);
        mapped as i32 + 2 * changed as i32 + 4 * allowed_more as i32
    };
    assert_ne!(free(attack), 0);
    assert_eq!(confined(attack), 0);
}

#[test]
fn computing_threads_and_time_are_allowed() {
    let work = || {
        let sum = thread::spawn(|| (0..1000).map(|i| vec![i; 100].len()).sum::<usize>()).join();
        thread::sleep(std::time::Duration::from_millis(1));
        let _ = std::time::Instant::now();
        if sum.is_ok_and(|sum| sum == 100_000) { 7 } else { 1 }
    };
    assert_eq!(confined(work), 7);
}

#[test]
fn memory_is_limited() {
    let confinement = Confinement { memory: Some(64 << 20), ..Confinement::default() };
    let allocate = |bytes| move || if vec![1u8; bytes].iter().all(|&byte| byte == 1) { 7 } else { 1 };
    assert_eq!(status_of(confinement, allocate(32 << 20)), 7);
    // Rust aborts a process that gets no memory.
    assert_eq!(status_of(confinement, allocate(512 << 20)), -libc::SIGABRT);
}
