//! How each party's server is started.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;
use tempfile::TempDir;

use super::autogroup::Alone;
use super::experiment::Experiment;
use super::far::ADDRESS;
use super::party::Party;
use super::work::{Work, zone};
use crate::execute::{execute, processors};
use crate::places;

/// The timeout of a measurement.
const LIMIT: Duration = Duration::from_secs(120);

/// The executables, built beforehand.
pub struct Parties {
    cache: PathBuf,
    dns: PathBuf,
    drystone: PathBuf,
    /// The folder of the zone's file and nsd's configuration.
    folder: TempDir,
}

/// A client's measurements: microseconds, and answers a second.
#[derive(Deserialize)]
pub struct Told {
    pub median: f64,
    pub p99: f64,
    pub rate: f64,
}

impl Parties {
    pub fn new() -> Result<Parties, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let files = [("zone", zone()), ("nsd.conf", nsd(folder.path()))];
        for (name, text) in files {
            fs::write(folder.path().join(name), text).map_err(|error| format!("{name}: {error}"))?;
        }
        let [cache, dns] = ["drystone-cache", "drystone-dns"].map(places::built);
        Ok(Parties { cache: cache?, dns: dns?, drystone: places::drystone()?, folder })
    }

    /// Measures the party by a client.
    pub fn measure(&self, experiment: &Experiment, party: Party, requests: u64) -> Result<Told, String> {
        let _alone = Alone::begin(experiment.busy > 0)?;
        let mut command = Command::new("unshare");
        command.arg("--net").arg(places::executable()).args(["near", experiment.work.word()]);
        let Experiment { window, busy, flood, .. } = experiment;
        command.args([requests.to_string(), window.to_string(), busy.to_string(), flood.to_string()]);
        command.arg("--").args(self.words(party));
        let output = execute(&mut command, processors(), LIMIT)?.output;
        serde_json::from_str(&output).map_err(|_| format!("no figures, but: {}", output.trim()))
    }

    /// The server's command.
    fn words(&self, party: Party) -> Vec<PathBuf> {
        let own = |how: &str| vec![places::executable(), "increment".into(), how.into()];
        let with = |program: &PathBuf, first: &[PathBuf], rest: &[&str]| {
            let first = [program].into_iter().chain(first).cloned();
            first.chain(rest.iter().map(Into::into)).collect()
        };
        let cache = |rest: &[&str]| with(&self.cache, &[], rest);
        let zone = [self.folder.path().join("zone"), "--port".into(), Work::Dns.port().to_string().into()];
        let dns = |rest: &[&str]| with(&self.dns, &zone, rest);
        let counter = [places::root().join("systems/Counter.dry"), format!("udp://{ADDRESS}:7000/").into()];
        let counter = |rest: &[&str]| with(&self.drystone, &[&["run".into()], &counter[..]].concat(), rest);
        let xdp = ["--on", "far", "--engine", "xdp", "--mode", "generic"];
        let af_xdp = ["--on", "far", "--engine", "af-xdp", "--mode", "generic"];
        match party {
            Party::Xdp
            | Party::AfXdp
            | Party::UdpSpinning
            | Party::UdpBlocking
            | Party::Dispatcher
            | Party::DispatcherWithoutShares => own(party.name()),
            Party::CacheXdp => cache(&xdp),
            Party::CacheAfXdp => cache(&af_xdp),
            Party::CacheProcess => cache(&[]),
            Party::Memcached => {
                let words = ["memcached", "-u", "root", "-t", "1", "-p", "11211", "-U", "11211"];
                words.iter().map(Into::into).collect()
            }
            Party::DnsXdp => dns(&xdp),
            Party::DnsAfXdp => dns(&af_xdp),
            Party::DnsProcess => dns(&[]),
            Party::CounterXdp => counter(&["far"]),
            Party::CounterProcess => counter(&[]),
            Party::Nsd => vec!["nsd".into(), "-d".into(), "-c".into(), self.folder.path().join("nsd.conf")],
        }
    }
}

/// nsd's configuration: one server on its processor, and minimal answers.
fn nsd(folder: &Path) -> String {
    let (folder, address, port) = (folder.display(), ADDRESS, Work::Dns.port());
    format!(
        "server:\n ip-address: {address}@{port}\n server-count: 1\n username: \"\"\n chroot: \"\"\n \
         zonesdir: \"{folder}\"\n pidfile: \"{folder}/pid\"\n xfrdfile: \"{folder}/xfrd\"\n zonelistfile: \
         \"{folder}/list\"\n xfrdir: \"{folder}\"\n minimal-responses: yes\n rrl-ratelimit: 0\n\
         remote-control:\n control-enable: no\n\
         zone:\n name: \"example.com\"\n zonefile: \"zone\"\n"
    )
}
