//! A network namespace of the test's own, with both ends of a pair of virtual interfaces.

use std::process::{Command, Stdio};

/// Does it in a thread that is alone in a network namespace; not, and says so, where that can't be.
pub fn in_namespace(name: &str, deed: impl FnOnce() + Send + 'static) {
    let thread = std::thread::spawn(move || {
        // SAFETY: it concerns this thread alone.
        if unsafe { libc::unshare(libc::CLONE_NEWNET) } < 0 {
            return Err(std::io::Error::last_os_error().to_string());
        }
        if !ip("link set lo up") {
            return Err("there is no `ip`".to_string());
        }
        deed();
        Ok(())
    });
    if let Err(why) = thread.join().expect("it passes") {
        println!("skipped: {name}: no network namespace: {why}");
    }
}

pub fn ip(arguments: &str) -> bool {
    let command = Command::new("ip").args(arguments.split(' ')).stdin(Stdio::null()).status();
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
