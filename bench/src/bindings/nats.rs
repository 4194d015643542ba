//! The NATS that both Drystone and its peer use: one of the bench's own, on this machine only.

use std::env;
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::server::free_address;

/// How long it may take to begin.
const PATIENCE: Duration = Duration::from_secs(10);

/// It runs until this is dropped.
pub struct Nats {
    child: Child,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Nats {
    /// Starts one.
    pub fn start() -> Result<Nats, String> {
        let address = free_address()?;
        let mut command = Command::new(executable());
        command.args(["-a", &address.ip().to_string(), "-p", &address.port().to_string()]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let child = child.map_err(|error| {
            format!("nats-server (go install github.com/nats-io/nats-server/v2@latest): {error}")
        })?;
        let nats = Nats { child, address };
        let start = Instant::now();
        while TcpStream::connect(address).is_err() {
            if start.elapsed() > PATIENCE {
                return Err("nats-server doesn't answer".into());
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(nats)
    }
}

/// Where Go installs it, if it is there; else wherever the system finds it.
fn executable() -> PathBuf {
    let home = env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let installed =
        env::var_os("GOPATH").map_or_else(|| home.join("go"), PathBuf::from).join("bin/nats-server");
    if installed.exists() { installed } else { "nats-server".into() }
}

impl Drop for Nats {
    fn drop(&mut self) {
        // It can only have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
