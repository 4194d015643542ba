//! A network namespace, with a pair of virtual interfaces that leads there.

use std::net::Ipv4Addr;
use std::process::Command;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::namespace::ip;

/// Deleted when it is dropped.
pub struct Space {
    name: String,
    /// The interface at its end of the pair.
    pub far: String,
    /// The addresses of this end, and of that.
    pub here: Ipv4Addr,
    pub there: Ipv4Addr,
}

impl Space {
    /// `None`, with a message for the test, if there can be none.
    pub fn new(test: &str) -> Option<Space> {
        static SPACES: AtomicU8 = AtomicU8::new(0);
        let number = SPACES.fetch_add(1, Ordering::Relaxed);
        let mark = format!("{}x{number}", std::process::id() % 100_000);
        // Chosen so that remains of a killed test don't collide.
        let network = 64 + (std::process::id() % 128) as u8;
        let [here, there] = [1, 2].map(|end| Ipv4Addr::new(10, network, number, end));
        let space = Space { name: format!("space{mark}"), far: format!("far{mark}"), here, there };
        let Space { name, far, .. } = &space;
        let near = format!("near{mark}");
        if !ip(&format!("netns add {name}")) {
            println!("skipped: {test}: no network namespaces");
            // There is nothing to delete.
            std::mem::forget(space);
            return None;
        }
        let is_linked = [
            format!("link add {near} type veth peer name {far} netns {name}"),
            format!("addr add {here}/24 dev {near}"),
            format!("link set {near} up"),
            format!("-n {name} addr add {there}/24 dev {far}"),
            format!("-n {name} link set {far} up"),
        ];
        if !is_linked.iter().all(|command| ip(command)) {
            println!("skipped: {test}: no virtual interfaces");
            return None;
        }
        Some(space)
    }

    /// The command, run there. (`ip netns exec` would give it another BPF file system.)
    pub fn drystone(&self) -> Command {
        self.command(crate::DRYSTONE)
    }

    /// Any program, run there.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/run/netns/{}", self.name)).arg(program);
        command
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        ip(&format!("netns del {}", self.name));
    }
}
