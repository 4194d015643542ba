//! A network namespace of the test's own, with both ends of a pair of virtual interfaces.

use std::process::{Command, Stdio};

/// Does it in a thread of its own; not, and says so, where that can't be.
pub fn in_thread(name: &str, deed: impl FnOnce() -> Result<(), String> + Send + 'static) {
    if let Err(why) = std::thread::spawn(deed).join().expect("it passes") {
        println!("skipped: {name}: {why}");
    }
}

/// The same in a thread that is alone in a network namespace.
pub fn in_namespace(name: &str, deed: impl FnOnce() + Send + 'static) {
    in_thread(name, || {
        alone()?;
        deed();
        Ok(())
    });
}

/// Moves this thread to a new network namespace. Returns the thread's number, to move interfaces there.
pub fn alone() -> Result<i32, String> {
    // SAFETY: only this thread changes its namespace.
    if unsafe { libc::unshare(libc::CLONE_NEWNET) } < 0 {
        return Err(format!("no network namespace: {}", std::io::Error::last_os_error()));
    }
    // SAFETY: it takes nothing, and returns a number.
    let thread = unsafe { libc::gettid() };
    if ip("link set lo up") { Ok(thread) } else { Err("there is no `ip`".into()) }
}

pub fn ip(arguments: &str) -> bool {
    let command =
        Command::new("ip").args(arguments.split(' ')).stdin(Stdio::null()).stderr(Stdio::null()).status();
    command.is_ok_and(|status| status.success())
}

/// A pair of interfaces; false, and says so, where the kernel has none.
pub fn pair(name: &str) -> bool {
    let is_there = ip("link add near type veth peer name far");
    if !is_there {
        println!("skipped: {name}: this kernel has no veth");
        return false;
    }
    for device in ["near", "far"] {
        // Else the kernel says something by itself now and then.
        std::fs::write(format!("/proc/sys/net/ipv6/conf/{device}/disable_ipv6"), "1").ok();
        assert!(ip(&format!("link set {device} up")));
    }
    true
}
