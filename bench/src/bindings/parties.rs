//! The parties that talk over a binding: Drystone's program and the peers, each with its own commands.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::crossing::Way;
use super::work::Work;
use crate::places;
use crate::server::{Listening, free_address};

type Measure = Box<dyn Fn(Work, u64) -> Result<f64, String>>;

/// A contender, measured in turns with the others.
pub struct Party {
    /// Its name in the rows.
    pub name: &'static str,
    /// How to measure it, or why that is impossible.
    measure: Result<Measure, String>,
}

impl Party {
    fn new(name: &'static str, measure: impl Fn(Work, u64) -> Result<f64, String> + 'static) -> Party {
        Party { name, measure: Ok(Box::new(measure)) }
    }

    /// Does the work with so many messages; returns nanoseconds for each.
    pub fn measure(&self, work: Work, n: u64) -> Result<f64, String> {
        self.measure.as_ref().map_err(Clone::clone)?(work, n)
    }
}

/// The program of both sides.
fn program() -> PathBuf {
    places::root().join("bench/programs/joint.dry")
}

fn drystone_client(arguments: &[&str], n: u64) -> Command {
    let mut command = Command::new(places::executable());
    command.arg("child").arg(program()).args(["--warm", "0", "--set", &format!("N={n}")]);
    for argument in arguments {
        command.args(["--argument", argument]);
    }
    command
}

fn drystone_server(work: Work, name: &str) -> Command {
    let mut command = Command::new(places::executable());
    command.arg("serve").arg(program()).args(["--argument", "serve", "--argument", work.word(), name]);
    command
}

/// Both sides in one program, with the server at a place.
pub fn drystone_at(name: &'static str, cores: usize) -> Party {
    Party::new("drystone", move |work, n| {
        work.client(n, drystone_client(&["at", work.word(), name], n), cores)
    })
}

/// Two programs, joined by a name with that scheme.
pub fn drystone_by(scheme: &'static str) -> Party {
    Party::new("drystone", move |work, n| {
        let name = format!(
            "{scheme}://{}/{}",
            free_address()?,
            if scheme.starts_with("onc") || scheme == "udp" { "" } else { "joint" }
        );
        let _server = Listening::start(drystone_server(work, &name), 2)?;
        work.client(n, drystone_client(&["use", work.word(), &name], n), 2)
    })
}

/// Two programs, joined by the NATS at that address.
pub fn drystone_nats(address: &str) -> Party {
    let name = format!("nats://{address}/joint");
    Party::new("drystone", move |work, n| {
        let _server = Listening::start(drystone_server(work, &name), 2)?;
        work.client(n, drystone_client(&["use", work.word(), &name], n), 2)
    })
}

/// Drystone's server at an HTTP address.
pub fn drystone_http(address: &str) -> Command {
    drystone_server(Work::Ask, &format!("http://{address}/joint"))
}

/// Two processes that use Linux's own means.
pub fn crossing(name: &'static str, way: Way, cores: usize) -> Party {
    Party::new(name, move |work, n| work.client(n, way.command(work, n), cores))
}

/// The peers in Rust, if they have been built.
pub struct Peers {
    /// The command.
    pub executable: Result<PathBuf, String>,
}

impl Peers {
    /// Two threads with tokio's channels.
    pub fn mpsc(&self) -> Party {
        self.party("tokio-mpsc", |peers, work, n| {
            let mut command = Command::new(peers);
            command.args(["mpsc", work.word(), &n.to_string()]);
            work.client(n, command, 2)
        })
    }

    /// Two processes, joined over TCP in the given way.
    pub fn over_tcp(&self, name: &'static str, way: &'static str) -> Party {
        self.party(name, move |peers, work, n| join(peers, way, work, n, &free_address()?.to_string()))
    }

    /// Two processes that use the NATS at an address by hand.
    pub fn over_nats(&self, address: &str) -> Party {
        let address = address.to_string();
        self.party("async-nats", move |peers, work, n| join(peers, "nats", work, n, &address))
    }

    /// Two processes with gRPC over a Unix socket.
    pub fn over_unix(&self) -> Party {
        self.party("tonic", |peers, work, n| {
            let folder = tempfile::tempdir().map_err(|error| format!("a folder for a socket: {error}"))?;
            join(peers, "grpc", work, n, &format!("unix:{}", folder.path().join("socket").display()))
        })
    }

    fn party(
        &self,
        name: &'static str,
        measure: impl Fn(&Path, Work, u64) -> Result<f64, String> + 'static,
    ) -> Party {
        let measure = self
            .executable
            .clone()
            .map(|peers| -> Measure { Box::new(move |work, n| measure(&peers, work, n)) });
        Party { name, measure }
    }
}

/// A server and its client.
fn join(peers: &Path, way: &str, work: Work, n: u64, address: &str) -> Result<f64, String> {
    let mut server = Command::new(peers);
    server.args([way, "serve", address]);
    let _server = Listening::start(server, 2)?;
    let mut client = Command::new(peers);
    client.args([way, work.word(), &n.to_string(), address]);
    work.client(n, client, 2)
}

/// libtirpc's own client and server from a folder, over `tcp` or `udp`.
pub fn libtirpc(built: &Result<PathBuf, String>, way: &'static str) -> Party {
    let measure = built.clone().map(|folder| -> Measure {
        Box::new(move |work, n| {
            let address = free_address()?.to_string();
            let mut server = Command::new(folder.join("server"));
            server.args([way, &address]);
            let _server = Listening::start(server, 2)?;
            let mut client = Command::new(folder.join("client"));
            client.args([way, &n.to_string(), &address]);
            work.client(n, client, 2)
        })
    });
    Party { name: "libtirpc", measure }
}
