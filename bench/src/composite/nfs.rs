//! An NFS server, nfs-ganesha, in a network namespace of its own with files in memory; and a client that copies one of
//! them.

use std::path::PathBuf;
use std::process::Command;

use crate::execute::processors;
use crate::peers::engines::INSTALL;
use crate::places;
use crate::server::Listening;

/// As in the server's script.
const ADDRESS: &str = "192.0.2.1";
const EXPORT: &str = "/run/export";

/// Options that isolate the server, and end all of it with this process: network, mounts, processes.
const ALONE: [&str; 6] = ["-n", "-m", "-p", "-f", "--mount-proc", "--kill-child"];

/// Runs until it is dropped.
pub struct Nfs {
    server: Listening,
    client: PathBuf,
}

impl Nfs {
    pub fn start(client: PathBuf) -> Result<Nfs, String> {
        let mut command = Command::new("unshare");
        command.args(ALONE).arg(places::root().join("bench/peers/composite/nfs/server.sh"));
        command.arg(places::root().join("systems/nfs/tests/ganesha.conf"));
        let missing =
            |why: String| format!("no NFS server can be started here ({}); {INSTALL}", why.trim_end());
        Ok(Nfs { server: Listening::start(command, processors()).map_err(missing)?, client })
    }

    /// The export's folder, as seen without the server.
    pub fn folder(&self) -> PathBuf {
        format!("/proc/{}/root{EXPORT}", self.server.id()).into()
    }

    /// A client in the server's network that copies so many bytes so often.
    pub fn copy(&self, size: u64, n: u64) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["-t", &self.server.id().to_string(), "-n"]).arg(&self.client);
        command.args([ADDRESS, EXPORT, &size.to_string(), &n.to_string()]);
        command
    }
}
