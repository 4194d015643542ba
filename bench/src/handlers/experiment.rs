//! The experiments: the work, the parties, and the targets.

use std::collections::BTreeMap;

use super::effort::Effort;
use super::party::Party;
use super::work::Work;

/// Busy processes beside the server.
pub const BUSY: usize = 50;
/// Datagrams to another port before each request.
pub const FLOOD: usize = 10;

/// An experiment gives two rows: the time of an answer or the answers a second, and the 99th percentile of the time.
pub struct Experiment {
    pub name: &'static str,
    pub work: Work,
    /// Requests that are pending at once: with one, the row tells the time, otherwise the rate.
    pub window: usize,
    /// Programs that keep the server's processor busy.
    pub busy: usize,
    /// Datagrams to another port before each request.
    pub flood: usize,
    pub drystone: Party,
    pub peers: &'static [Party],
    pub target: Option<Target>,
}

/// A multiple of a figure.
#[derive(Clone, Copy)]
pub enum Target {
    /// Of a peer's in the same row.
    Peer(&'static str, f64),
    /// Of Drystone's in an earlier experiment.
    Own(&'static str, f64),
}

/// Figures by the names of peers, or of experiments.
pub type Values = BTreeMap<&'static str, f64>;

impl Target {
    /// The value; `None` if the figure is missing.
    pub fn value(self, peers: &Values, own: &Values) -> Option<f64> {
        let (figure, times) = match self {
            Target::Peer(name, times) => (peers.get(name), times),
            Target::Own(name, times) => (own.get(name), times),
        };
        figure.map(|figure| figure * times)
    }
}

impl Experiment {
    /// Fewer with many busy processes or a flood: then some parties take a second for what otherwise takes a
    /// millisecond.
    pub fn requests(&self, effort: Effort) -> u64 {
        if self.busy > 0 || self.flood > 0 { effort.requests / 100 } else { effort.requests }
    }
}

const INCREMENT: Experiment = Experiment {
    name: "remote increment",
    work: Work::Increment,
    window: 1,
    busy: 0,
    flood: 0,
    drystone: Party::Xdp,
    peers: &[Party::AfXdp, Party::UdpSpinning, Party::UdpBlocking],
    target: Some(Target::Peer("udp-spinning", 1.0)),
};

const GET: Experiment = Experiment {
    name: "memcached get",
    work: Work::Memcached,
    drystone: Party::CacheXdp,
    peers: &[Party::CacheAfXdp, Party::CacheProcess, Party::Memcached],
    target: Some(Target::Peer("memcached", 1.0)),
    ..INCREMENT
};

const DISPATCHER: Experiment = Experiment {
    name: "dispatcher",
    drystone: Party::Dispatcher,
    peers: &[Party::Xdp],
    target: None,
    ..INCREMENT
};

/// The experiments, in order.
pub const EXPERIMENTS: [Experiment; 8] = [
    INCREMENT,
    Experiment {
        name: "remote increment 50 busy",
        busy: BUSY,
        target: Some(Target::Own(INCREMENT.name, 1.15)),
        ..INCREMENT
    },
    GET,
    Experiment { name: "memcached get, 32 at once", window: 32, ..GET },
    Experiment {
        name: "dns, 32 at once",
        work: Work::Dns,
        window: 32,
        drystone: Party::DnsXdp,
        peers: &[Party::DnsAfXdp, Party::DnsProcess, Party::Nsd],
        target: Some(Target::Peer("nsd", 1.0)),
        ..INCREMENT
    },
    Experiment {
        name: "remote increment in the language",
        work: Work::Counter,
        drystone: Party::CounterXdp,
        peers: &[Party::CounterProcess],
        target: Some(Target::Own(INCREMENT.name, 1.0)),
        ..INCREMENT
    },
    DISPATCHER,
    Experiment {
        name: "flood",
        flood: FLOOD,
        peers: &[Party::DispatcherWithoutShares],
        target: Some(Target::Peer("dispatcher-without-shares", 0.5)),
        ..DISPATCHER
    },
];
