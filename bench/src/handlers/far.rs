//! The server's side: sets up a network namespace with one end of a pair of interfaces, and then executes the server in
//! place of this process.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use clap::Args;
use rustix::process::{Signal, set_parent_process_death_signal};

/// The servers' address.
pub const ADDRESS: &str = "10.97.0.2";
/// The clients' address.
pub const CLIENT: &str = "10.97.0.1";

/// Becomes a server, in the namespaces that it is alone in.
#[derive(Args)]
pub struct Far {
    /// The process in whose namespace the other end of the pair shall be.
    client: u32,
    /// The processor that handles what arrives.
    processor: usize,
    /// The server.
    #[arg(trailing_var_arg = true, required = true)]
    server: Vec<String>,
}

impl Far {
    /// Returns only if the server can't start.
    pub fn run(&self) -> Result<(), String> {
        // Its client may be killed.
        set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| error.to_string())?;
        ip("link set lo up")?;
        ip("link add far type veth peer name near")?;
        ip(&format!("link set near netns {}", self.client))?;
        ip(&format!("addr add {ADDRESS}/24 dev far"))?;
        quiet("far");
        self.arrive_at_own_processor()?;
        ip("link set far up")?;
        let error = Command::new(&self.server[0]).args(&self.server[1..]).exec();
        Err(format!("{}: {error}", self.server[0]))
    }

    /// Moves interrupts to the server's processor, as on a machine of its own: otherwise the client's processor would
    /// do the server's work.
    fn arrive_at_own_processor(&self) -> Result<(), String> {
        let mounted = Command::new("mount").args(["-t", "sysfs", "none", "/sys"]).status();
        if !mounted.is_ok_and(|status| status.success()) {
            return Err("there is no /sys for this network namespace".into());
        }
        let file = "/sys/class/net/far/queues/rx-0/rps_cpus";
        fs::write(file, format!("{:x}", 1u64 << self.processor)).map_err(|error| format!("{file}: {error}"))
    }
}

/// Keeps the kernel from sending anything by itself at an interface.
pub fn quiet(interface: &str) {
    // Without IPv6 it is quiet anyway.
    let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{interface}/disable_ipv6"), "1");
}

/// Runs `ip`.
pub fn ip(arguments: &str) -> Result<(), String> {
    let mut command = Command::new("ip");
    match command.args(arguments.split(' ')).stdin(Stdio::null()).stderr(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("ip {arguments}: {status}")),
        Err(error) => Err(format!("ip: {error}")),
    }
}
