//! A NATS server for Drystone and its peer: the bench's own, for this machine only.

use std::env;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;

use crate::execute::processors;
use crate::server::{Listening, free_address};

/// It runs until this is dropped.
pub struct Nats {
    _process: Listening,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Nats {
    /// Starts one.
    pub fn start() -> Result<Nats, String> {
        let address = free_address()?;
        let mut command = Command::new(executable());
        command.args(["-a", &address.ip().to_string(), "-p", &address.port().to_string()]);
        let process = Listening::start_silent(command, address, processors())
            .map_err(|why| format!("{why} (go install github.com/nats-io/nats-server/v2@latest)"))?;
        Ok(Nats { _process: process, address })
    }
}

/// The executable in Go's folder, if it is there; otherwise by the PATH.
fn executable() -> PathBuf {
    let home = env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let installed =
        env::var_os("GOPATH").map_or_else(|| home.join("go"), PathBuf::from).join("bin/nats-server");
    if installed.exists() { installed } else { "nats-server".into() }
}
