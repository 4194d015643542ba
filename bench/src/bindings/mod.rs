//! Measures bindings (*THINK* (Fassino)): the cost of a message between two sides, for each way to join them, beside
//! other systems' ways.

mod crossing;
mod effort;
mod http;
mod nats;
mod page;
mod parties;
mod reasons;
mod work;

use std::collections::BTreeMap;
use std::path::PathBuf;

pub use crossing::Crossing;
use crossing::Way;
pub use effort::Effort;
use nats::Nats;
pub use page::page;
use parties::{Party, Peers, drystone_at, drystone_by, drystone_nats, libtirpc};
use work::Work;

use crate::native;
use crate::peers::joints;
use crate::processes::busy::Busy;
use crate::row::{Better, Row, Tell};
use crate::statistics::{Figure, rounded};
use crate::turns::{Turn, by_turns};

/// The greatest ratio of a native call's time to a call's by `dyn`.
const NATIVE: f64 = 1.2;
/// The greatest ratio of a round trip's time over NATS to one's by hand.
const NATS: f64 = 1.2;
/// How many times as fast as Linux's own means a crossing shall be, if neither side sleeps.
const CROSSING: f64 = 3.0;
/// How many times as fast as gRPC over a Unix socket.
const GRPC: f64 = 10.0;

/// Factors by which Drystone shall beat the best of some peers.
type Goals = [(f64, &'static [&'static str])];

/// The subject of a row.
struct Heading {
    row: &'static str,
    cores: usize,
    work: Work,
    /// The number of messages.
    n: u64,
    goals: &'static Goals,
}

const BY_HAND: &[&str] = &["futex", "pipe", "unix"];
const ALL: &[&str] = &["capnp-rpc", "futex", "libtirpc", "net/http", "pipe", "tokio-mpsc", "tonic", "unix"];
const AHEAD: &Goals = &[(1.0, ALL)];

/// Measures row after row.
pub fn measure(effort: Effort, tell: &mut dyn FnMut(Row) -> Result<(), String>) -> Result<(), String> {
    let bench =
        Bench { effort, rust: Peers { executable: joints::rust() }, onc: joints::onc(), go: joints::go() };
    tell(bench.native()?)?;
    bench.worker(tell)?;
    bench.lrpc(tell)?;
    bench.tcp(tell)?;
    bench.onc(tell)?;
    bench.http(tell)?;
    bench.nats(tell)?;
    bench.busy(tell)
}

/// What all rows share.
struct Bench {
    effort: Effort,
    rust: Peers,
    onc: Result<PathBuf, String>,
    go: Result<PathBuf, String>,
}

impl Bench {
    fn native(&self) -> Result<Row, String> {
        let (mut component, mut by_dyn) = (Vec::new(), Vec::new());
        for _ in 0..self.effort.rounds {
            let times = native::measure(4_000_000 / self.effort.part as u32)?;
            component.push(times.component / 1000.0);
            by_dyn.push(times.by_dyn / 1000.0);
        }
        let by_dyn = Figure::of(&by_dyn);
        Ok(Row {
            drystone: Figure::of(&component),
            peers: BTreeMap::from([("dyn", by_dyn)]),
            target: by_dyn.map(|figure| rounded(figure.value * NATIVE)),
            ..Row::new("local native call".into(), "ns")
        })
    }

    fn worker(&self, tell: Tell) -> Result<(), String> {
        let parties = self.at_a_worker();
        for (row, work, n) in [
            ("worker round trip", Work::Ask, 200_000),
            ("worker throughput", Work::Put, 1_000_000),
            ("texts worker throughput", Work::Text, 1_000_000),
        ] {
            self.messages(Heading { row, cores: 2, work, n, goals: AHEAD }, &parties, tell)?;
        }
        Ok(())
    }

    fn lrpc(&self, tell: Tell) -> Result<(), String> {
        let by_hand = |name, way, cores| parties::crossing(name, way, cores);
        let asleep = [
            drystone_at("process:x", 1),
            by_hand("futex", Way::Futex, 1),
            by_hand("pipe", Way::Pipe, 1),
            by_hand("unix", Way::Unix, 1),
        ];
        let heading =
            Heading { row: "lrpc round trip asleep", cores: 1, work: Work::Ask, n: 50_000, goals: AHEAD };
        self.messages(heading, &asleep, tell)?;
        let goals: &Goals = &[(CROSSING, BY_HAND), (GRPC, &["tonic"])];
        let spinning = [
            drystone_at("process:x", 2),
            by_hand("futex", Way::Futex, 2),
            by_hand("pipe", Way::Pipe, 2),
            by_hand("unix", Way::Unix, 2),
            by_hand("spin", Way::Spin, 2),
            self.rust.over_unix(),
        ];
        let heading =
            Heading { row: "lrpc round trip spinning", cores: 2, work: Work::Ask, n: 50_000, goals };
        self.messages(heading, &spinning, tell)?;
        let streams = self.between_processes();
        for (row, work) in [("lrpc throughput", Work::Put), ("texts lrpc throughput", Work::Text)] {
            self.messages(Heading { row, cores: 2, work, n: 500_000, goals }, &streams, tell)?;
        }
        Ok(())
    }

    fn tcp(&self, tell: Tell) -> Result<(), String> {
        let parties = self.over_tcp();
        for (row, work, n) in [
            ("tcp round trip", Work::Ask, 20_000),
            ("tcp throughput", Work::Put, 400_000),
            ("texts tcp throughput", Work::Text, 400_000),
        ] {
            self.messages(Heading { row, cores: 2, work, n, goals: AHEAD }, &parties, tell)?;
        }
        Ok(())
    }

    fn onc(&self, tell: Tell) -> Result<(), String> {
        for (row, scheme, way) in [
            ("onc round trip", "onc", "tcp"),
            ("udp onc round trip", "onc+udp", "udp"),
            ("udp round trip", "udp", "udp"),
        ] {
            let parties = [drystone_by(scheme), libtirpc(&self.onc, way)];
            let heading = Heading { row, cores: 2, work: Work::Ask, n: 20_000, goals: AHEAD };
            self.messages(heading, &parties, tell)?;
        }
        Ok(())
    }

    fn nats(&self, tell: Tell) -> Result<(), String> {
        let row = "nats round trip";
        let nats = match Nats::start() {
            Ok(nats) => nats,
            Err(why) => {
                let note = format!("not measured: {why}");
                return tell(Row { cores: 2, note, ..Row::new(row.into(), "us") });
            }
        };
        let address = nats.address.to_string();
        let parties = [drystone_nats(&address), self.rust.over_nats(&address)];
        let goals: &Goals = &[(1.0 / NATS, &["async-nats"])];
        self.messages(Heading { row, cores: 2, work: Work::Ask, n: 5_000, goals }, &parties, tell)
    }

    fn http(&self, tell: Tell) -> Result<(), String> {
        let serving = self.effort.serving;
        for (name, connections) in [("http round trip", 1), ("requests http", 50)] {
            let is_round_trip = connections == 1;
            let scale = |rate: f64| if is_round_trip { 1e6 / rate } else { rate };
            let go = || http::go(self.go.as_ref()?, connections, serving);
            let turns: [Turn; 2] = [
                ("drystone", &|| http::drystone(connections, serving).map(scale)),
                ("net/http", &|| go().map(scale)),
            ];
            let (unit, better) =
                if is_round_trip { ("us", Better::Lower) } else { ("requests/s", Better::Higher) };
            self.tell_row(Row { better, cores: 2, ..Row::new(name.into(), unit) }, &turns, AHEAD, tell)?;
        }
        Ok(())
    }

    /// Repeats some rows while another program keeps a processor busy.
    fn busy(&self, tell: Tell) -> Result<(), String> {
        let onc = vec![drystone_by("onc"), libtirpc(&self.onc, "tcp")];
        for (row, work, n, parties) in [
            ("busy worker throughput", Work::Put, 1_000_000, self.at_a_worker()),
            ("busy lrpc throughput", Work::Put, 500_000, self.between_processes()),
            ("busy tcp throughput", Work::Put, 400_000, self.over_tcp()),
            ("busy onc round trip", Work::Ask, 20_000, onc),
        ] {
            let _busy = Busy::start()?;
            self.messages(Heading { row, cores: 2, work, n, goals: AHEAD }, &parties, tell)?;
        }
        Ok(())
    }

    fn at_a_worker(&self) -> Vec<Party> {
        vec![drystone_at("worker:1", 2), self.rust.mpsc()]
    }

    /// The parties that send messages without answers.
    fn between_processes(&self) -> Vec<Party> {
        let by_hand = |name, way| parties::crossing(name, way, 2);
        vec![
            drystone_at("process:x", 2),
            by_hand("pipe each", Way::PipeEach),
            by_hand("unix each", Way::UnixEach),
            by_hand("pipe", Way::Pipe),
            by_hand("unix", Way::Unix),
            self.rust.over_unix(),
        ]
    }

    fn over_tcp(&self) -> Vec<Party> {
        vec![
            drystone_by("tcp"),
            self.rust.over_tcp("tonic", "grpc"),
            self.rust.over_tcp("capnp-rpc", "capnp"),
        ]
    }

    /// Measures a row of messages.
    fn messages(&self, heading: Heading, parties: &[Party], tell: Tell) -> Result<(), String> {
        let Heading { row, cores, work, n, goals } = heading;
        let is_round_trip = work == Work::Ask;
        let scale = |ns: f64| if is_round_trip { ns / 1000.0 } else { 1000.0 / ns };
        let measure = |party: &Party| party.measure(work, n / self.effort.part).map(scale);
        let measures: Vec<_> = parties.iter().map(|party| move || measure(party)).collect();
        let turns: Vec<Turn> =
            parties.iter().zip(&measures).map(|(party, turn)| (party.name, turn as _)).collect();
        let (unit, better) = if is_round_trip { ("us", Better::Lower) } else { ("M/s", Better::Higher) };
        self.tell_row(Row { cores, better, ..Row::new(row.into(), unit) }, &turns, goals, tell)
    }

    /// Fills a row, if it is wanted; headline rows always are.
    fn tell_row(&self, mut row: Row, turns: &[Turn], goals: &Goals, tell: Tell) -> Result<(), String> {
        if !self.effort.is_full && !page::is_headline(&row) {
            return Ok(());
        }
        let mut figures = by_turns(self.effort.rounds, self.effort.budget, turns);
        row.drystone = figures.remove("drystone").flatten();
        row.peers = figures;
        row.target = target(&row, goals);
        tell(row)
    }
}

/// The figure that meets all goals: each is a factor and the peers of whose best figure it is, as far as they have
/// figures.
fn target(row: &Row, goals: &Goals) -> Option<f64> {
    let goals = goals.iter().filter_map(|(factor, names)| {
        let values = row.peers.iter().filter(|(name, _)| names.contains(name));
        let values = values.filter_map(|(_, figure)| figure.map(|figure| figure.value));
        Some(match row.better {
            Better::Lower => values.min_by(f64::total_cmp)? / factor,
            Better::Higher => values.max_by(f64::total_cmp)? * factor,
        })
    });
    let target = match row.better {
        Better::Lower => goals.min_by(f64::total_cmp),
        Better::Higher => goals.max_by(f64::total_cmp),
    };
    target.map(rounded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(better: Better, peers: [(&'static str, f64); 3]) -> Row {
        let peers = peers.map(|(name, value)| (name, Some(Figure::single(value)))).into();
        Row { better, peers, ..Row::new("lrpc".into(), "us") }
    }

    const BOTH: &Goals = &[(3.0, BY_HAND), (10.0, &["tonic"])];

    #[test]
    fn the_harder_goal_is_the_target() {
        let times = |tonic| row(Better::Lower, [("pipe", 12.0), ("unix", 15.0), ("tonic", tonic)]);
        assert_eq!(target(&times(100.0), BOTH), Some(4.0));
        assert_eq!(target(&times(20.0), BOTH), Some(2.0));
        let rates = |tonic| row(Better::Higher, [("pipe", 3.0), ("unix", 2.0), ("tonic", tonic)]);
        assert_eq!(target(&rates(0.1), BOTH), Some(9.0));
        assert_eq!(target(&rates(2.0), BOTH), Some(20.0));
    }

    #[test]
    fn who_is_in_no_goal_or_has_no_figure_does_not_count() {
        let mut row = row(Better::Lower, [("pipe", 12.0), ("spin", 1.0), ("tonic", 1.0)]);
        row.peers.insert("tonic", None);
        assert_eq!(target(&row, BOTH), Some(4.0));
        row.peers.remove("pipe");
        assert_eq!(target(&row, BOTH), None);
    }
}
