//! Handlers, paper on ASHs: what it saves that code runs where a message arrives, beside processes that poll and processes that wait,
//! and whole services beside others.
//!
//! Most rows are [`Experiment`]s: a work, how many requests are under way at once, and the parties that do it. Each party's server has a network
//! namespace and a processor of its own, with a pair of interfaces to the client's.

mod autogroup;
mod demultiplexer;
mod far;
mod increment;
mod near;
mod page;
mod parties;
#[cfg(target_arch = "x86_64")]
mod pipes;
mod protocols;
mod work;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

pub use far::Far;
pub use increment::Increment;
pub use near::Near;
pub use page::page;
use parties::{Parties, Party};
use work::Work;

use crate::row::{Better, Row};
use crate::statistics::{Figure, rounded};
use crate::turns::{Turn, by_turns};

/// How much work is put into figures.
#[derive(Clone, Copy)]
pub struct Effort {
    /// How often every contender has its turn.
    rounds: usize,
    /// No round begins after that time in one row.
    budget: Duration,
    /// Requests in a round.
    requests: u64,
    /// Whether there are more rows than the headline ones.
    is_full: bool,
}

impl Effort {
    /// Within two minutes.
    pub const QUICK: Effort =
        Effort { rounds: 3, budget: Duration::from_secs(8), requests: 5_000, is_full: false };

    /// As good as it gets.
    pub const FULL: Effort =
        Effort { rounds: 9, budget: Duration::from_secs(90), requests: 20_000, is_full: true };
}

/// With busy processes beside, what a request may take of what it takes without.
const BESIDE_BUSY: f64 = 1.15;
const BUSY: usize = 50;
/// By what factor a request is quicker behind a flood for somebody else, if that has a share.
const SPARED: f64 = 2.0;
const FLOOD: usize = 10;

type Tell<'a> = &'a mut dyn FnMut(Row) -> Result<(), String>;

/// What two rows come from: how long an answer takes, or how many there are in a second; and the time below which 99 in 100 are.
struct Experiment {
    name: &'static str,
    work: Work,
    /// Requests that are under way at once: with one it is time that is told, else the rate.
    window: usize,
    /// Programs that keep the server's processor busy.
    busy: usize,
    /// Datagrams for somebody else before each request.
    flood: usize,
    drystone: Party,
    peers: &'static [Party],
}

const INCREMENT: Experiment = Experiment {
    name: "remote increment",
    work: Work::Increment,
    window: 1,
    busy: 0,
    flood: 0,
    drystone: Party::Xdp,
    peers: &[Party::AfXdp, Party::UdpSpinning, Party::UdpBlocking],
};

/// Measures row after row.
pub fn measure(effort: Effort, tell: Tell) -> Result<(), String> {
    let bench = Bench { effort, parties: Parties::new()? };
    let alone = bench.rows(&INCREMENT, tell, |figures| figures.get("udp-spinning").copied())?;
    let busy = Experiment { name: "remote increment 50 busy", busy: BUSY, ..INCREMENT };
    bench.rows(&busy, tell, |_| alone.map(|alone| alone * BESIDE_BUSY))?;
    let get = Experiment {
        name: "memcached get",
        work: Work::Memcached,
        drystone: Party::CacheXdp,
        peers: &[Party::CacheAfXdp, Party::CacheProcess, Party::Memcached],
        ..INCREMENT
    };
    bench.rows(&get, tell, |figures| figures.get("memcached").copied())?;
    let gets = Experiment { name: "memcached get, 32 at once", window: 32, ..get };
    bench.rows(&gets, tell, |figures| figures.get("memcached").copied())?;
    let dns = Experiment {
        name: "dns, 32 at once",
        work: Work::Dns,
        window: 32,
        drystone: Party::DnsXdp,
        peers: &[Party::DnsAfXdp, Party::DnsProcess, Party::Nsd],
        ..INCREMENT
    };
    bench.rows(&dns, tell, |figures| figures.get("nsd").copied())?;
    let language = Experiment {
        name: "remote increment in the language",
        work: Work::Counter,
        drystone: Party::CounterXdp,
        peers: &[Party::CounterProcess],
        ..INCREMENT
    };
    bench.rows(&language, tell, |_| alone)?;
    let gate = Experiment { name: "gate", drystone: Party::Gate, peers: &[Party::Xdp], ..INCREMENT };
    bench.rows(&gate, tell, |_| None)?;
    let flood = Experiment { name: "flood", flood: FLOOD, peers: &[Party::GateWithoutShares], ..gate };
    bench.rows(&flood, tell, |figures| figures.get("gate-without-shares").map(|it| it / SPARED))?;
    demultiplexer::rows(effort, tell)?;
    #[cfg(target_arch = "x86_64")]
    pipes::rows(effort, tell)?;
    if effort.is_full { protocols::rows(tell) } else { Ok(()) }
}

/// What all rows need.
struct Bench {
    effort: Effort,
    parties: Parties,
}

impl Experiment {
    /// With many busy processes or a flood beside, others need a second for what takes a millisecond without.
    fn requests(&self, effort: Effort) -> u64 {
        if self.busy > 0 || self.flood > 0 { effort.requests / 100 } else { effort.requests }
    }
}

/// By party.
type Values = BTreeMap<&'static str, f64>;

impl Bench {
    /// Tells both rows of an experiment; gives Drystone's figure of the first. The target is made of the peers' figures.
    fn rows(
        &self,
        experiment: &Experiment,
        tell: Tell,
        target: impl Fn(&Values) -> Option<f64>,
    ) -> Result<Option<f64>, String> {
        let late: RefCell<BTreeMap<&'static str, Vec<f64>>> = RefCell::default();
        let all: Vec<Party> = [&experiment.drystone].into_iter().chain(experiment.peers).copied().collect();
        let measures: Vec<_> = all
            .iter()
            .map(|&party| {
                let late = &late;
                move || {
                    let told = self.parties.measure(experiment, party, experiment.requests(self.effort))?;
                    late.borrow_mut().entry(party.name()).or_default().push(told.p99);
                    Ok(if experiment.window == 1 { told.median } else { told.rate })
                }
            })
            .collect();
        let turns: Vec<Turn> =
            all.iter().zip(&measures).map(|(party, measure)| (party.name(), measure as _)).collect();
        let figures = by_turns(self.effort.rounds, self.effort.budget, &turns);
        let late = all
            .iter()
            .map(|party| (party.name(), late.borrow().get(party.name()).and_then(|it| Figure::of(it))));
        let (unit, better) = match experiment.window {
            1 => ("us", Better::Lower),
            _ => ("requests/s", Better::Higher),
        };
        let first = row(experiment.name.into(), unit, better, &experiment.drystone, figures);
        let values: Values =
            first.peers.iter().filter_map(|(name, figure)| Some((*name, (*figure)?.value))).collect();
        let drystone = first.drystone.map(|figure| figure.value);
        tell(Row { target: target(&values).map(rounded), ..first })?;
        tell(row(
            format!("{}, p99", experiment.name),
            "us",
            Better::Lower,
            &experiment.drystone,
            late.collect(),
        ))?;
        Ok(drystone)
    }
}

fn row(
    name: String,
    unit: &'static str,
    better: Better,
    drystone: &Party,
    mut figures: BTreeMap<&'static str, Option<Figure>>,
) -> Row {
    let drystone = figures.remove(drystone.name()).flatten();
    Row { cores: 2, better, drystone, peers: figures, ..Row::new(name, unit) }
}
