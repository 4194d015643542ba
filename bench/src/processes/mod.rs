//! Measures processes and messages: the programs of *structured concurrent programs* (Bläser), the memory of a process
//! and the time to make one, and how much run times vary.

mod bench;
pub mod busy;
mod checking;
mod effort;
mod growth;
mod jitter;
mod page;
mod practical;
pub mod programs;
mod reasons;
mod time_slices;

use std::collections::BTreeMap;
use std::time::Instant;

use clap::ValueEnum;

use crate::contender::{Contender, Runs};
use crate::execute::processors;
use crate::peers;
use crate::row::{Better, Row, Tell};
use crate::statistics::{Figure, percentile, rounded, sorted};
use bench::{Bench, Heading};
use busy::Busy;
pub use effort::Effort;
use effort::JITTER_RUNS;
pub use page::{page, sections};
use programs::*;

/// Warm-up runs for the jitter: for about so long Java compiles, which isn't what jitter is about.
const JITTER_WARM: usize = 100;

/// The greatest ratio of a program's time on two cores to that on one.
const TWO_CORES: f64 = 1.1;
/// The greatest average cost of the checks for the end of a time slice, in percent of a program.
const TIME_SLICES: f64 = 0.5;

/// The gain of independent work on two cores.
const INDEPENDENT: f64 = 1.0 / 1.8;

/// Rows that are measured together.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Group {
    /// The programs of the paper.
    Paper,
    /// What a second processor gains.
    Processors,
    /// Single things of the language.
    Language,
    /// What users write.
    Practical,
    /// What the library does.
    Library,
    /// The paper's programs once more: on a busy machine, without time slices, and from their texts.
    Beside,
    /// How costs grow.
    Growth,
}

/// Measures row after row, of one group or of all.
pub fn measure(effort: Effort, only: Option<Group>, tell: Tell) -> Result<(), String> {
    let mut bench = Bench { effort, drystone: Contender::drystone(), peers: peers::all(), slowness: 1.0 };
    // No other targets are times of another machine.
    if only.is_none_or(|only| only == Group::Paper) {
        bench.slowness = bench.measure_slowness();
        eprintln!(
            "this machine takes {} times as long as the one that the targets were stated for",
            rounded(bench.slowness)
        );
    }
    if processors() < 2 {
        eprintln!("there is one processor: the rows for two cores are measured on it");
    }
    let mut all = Group::value_variants().iter().filter(|&&group| only.is_none_or(|only| only == group));
    all.try_for_each(|group| match group {
        Group::Paper => bench.paper(tell),
        Group::Processors => bench.processors(tell),
        Group::Language => bench.language(tell),
        Group::Practical => bench.practical(tell),
        Group::Library => bench.library(tell),
        Group::Beside if effort.is_full => bench.beside(tell),
        Group::Growth if effort.is_full => growth::measure(&bench, tell),
        Group::Beside | Group::Growth => Ok(()),
    })
}

impl Bench {
    /// The programs of the paper, what processes take, and how run times vary.
    fn paper(&self, tell: Tell) -> Result<(), String> {
        let mut warm = Vec::new();
        for program in &PROGRAMS {
            for cores in [1, 2] {
                let row = self.warm(program, cores);
                warm.push(row.clone());
                tell(row)?;
            }
        }
        for cores in [1, 2] {
            tell(self.bytes(&BYTES, cores))?;
            tell(self.creation(cores))?;
            tell(self.jitter(cores))?;
        }
        if self.effort.is_full {
            for pair in warm.chunks(2) {
                tell(scaling(&pair[0], &pair[1]))?;
            }
        }
        Ok(())
    }

    /// Parts of programs that a second processor can take over.
    fn processors(&self, tell: Tell) -> Result<(), String> {
        for program in &programs::processors::ALL {
            let [one, two] = [1, 2].map(|cores| self.warm(program, cores));
            let gain = Row { target: Some(INDEPENDENT), ..scaling(&one, &two) };
            for row in [one, two, gain] {
                tell(row)?;
            }
        }
        Ok(())
    }

    /// Bits, waiting for several, messages and streams.
    fn language(&self, tell: Tell) -> Result<(), String> {
        for program in bits::ALL.iter().chain([&waits::SELECT]).chain(&waits::STREAMS) {
            tell(self.warm(program, 1))?;
        }
        let chain = self.warm(&waits::CHAIN, 1);
        let target = chain.drystone.map(|figure| figure.value);
        tell(Row { target: None, ..chain })?;
        tell(Row { target, ..self.warm(&waits::CASE, 1) })?;
        self.checking(tell)
    }

    /// See [`Group::Beside`].
    fn beside(&self, tell: Tell) -> Result<(), String> {
        for program in PROGRAMS.iter().filter(|program| !program.is_heavy) {
            tell(self.scaling_beside_a_busy_program(program)?)?;
        }
        for row in self.time_slices() {
            tell(row)?;
        }
        for program in &PROGRAMS {
            for cores in [1, 2] {
                tell(self.cold(program, cores))?;
            }
        }
        Ok(())
    }

    /// The geometric mean of the times of Go's mirrors here, relative to the reference machine; 1 without Go.
    fn measure_slowness(&self) -> f64 {
        let Some(go) = self.peers.iter().find(|peer| peer.name == "go-mirror" && peer.is_there()) else {
            return 1.0;
        };
        let ratio = |&(row, ms): &(&str, f64)| {
            let program = PROGRAMS.iter().find(|program| program.row == row)?;
            let figure = Figure::of(&go.warm(program, self.effort.runs(program, 1)).ok()?)?;
            Some(figure.value / ms)
        };
        let ratios: Vec<f64> = REFERENCE.iter().filter_map(ratio).collect();
        if ratios.is_empty() { 1.0 } else { ratios.iter().product::<f64>().powf(1.0 / ratios.len() as f64) }
    }

    fn warm(&self, program: &Program, cores: usize) -> Row {
        let heading = Heading {
            row: program.row.into(),
            cores,
            unit: "ms",
            better: Better::Lower,
            program,
            target: Some(program.target),
        };
        self.row(heading, |who| who.warm(program, self.effort.runs(program, cores)))
    }

    fn cold(&self, program: &Program, cores: usize) -> Row {
        let row = format!("cold {}", program.row);
        let heading = Heading { row, cores, unit: "ms", better: Better::Lower, program, target: None };
        self.row(heading, |who| who.cold(program, cores, self.effort.limit).map(|ms| vec![ms]))
    }

    /// Drystone's gain on two cores while another program keeps one of them busy.
    fn scaling_beside_a_busy_program(&self, program: &Program) -> Result<Row, String> {
        let _busy = Busy::start()?;
        let alone = Bench { peers: Vec::new(), drystone: Contender::drystone(), ..*self };
        let row = scaling(&alone.warm(program, 1), &alone.warm(program, 2));
        // A program without communication has one and a half processors.
        let target = if program.row == "Mandelbrot" { 1.0 } else { TWO_CORES };
        Ok(Row { row: format!("busy {}", row.row), target: Some(target), ..row })
    }

    /// The cost of the checks for the end of a time slice, for each program that is short enough, and on average.
    fn time_slices(&self) -> Vec<Row> {
        let row = |name: &str, percent: Option<f64>, target| Row {
            drystone: percent.map(Figure::single),
            target,
            ..Row::new(format!("time slices {name}"), "% of instructions")
        };
        let mut rows = Vec::new();
        let mut costs = Vec::new();
        for program in PROGRAMS.iter().filter(|program| !program.is_heavy) {
            let cost = time_slices::cost(program).map_err(|why| eprintln!("{why}")).ok();
            costs.extend(cost);
            rows.push(row(program.row, cost, None));
        }
        let average = (costs.len() == rows.len()).then(|| costs.iter().sum::<f64>() / costs.len() as f64);
        rows.push(row("average", average, Some(TIME_SLICES)));
        rows
    }

    fn bytes(&self, program: &Program, cores: usize) -> Row {
        let heading = Heading {
            row: program.row.into(),
            cores,
            unit: "bytes",
            better: Better::Lower,
            program,
            target: Some(program.target),
        };
        self.row(heading, |who| who.bytes(program, cores, self.effort.limit).map(|bytes| vec![bytes]))
    }

    fn creation(&self, cores: usize) -> Row {
        let program = &CREATION;
        let heading = Heading {
            row: program.row.into(),
            cores,
            unit: "M/s",
            better: Better::Higher,
            program,
            target: Some(program.target),
        };
        self.row(heading, |who| {
            let times = who.warm(program, self.effort.runs(program, cores))?;
            // A million messages in so many milliseconds.
            Ok(times.iter().map(|ms| 1000.0 / ms).collect())
        })
    }

    fn jitter(&self, cores: usize) -> Row {
        let program = &JITTER;
        let heading = Heading {
            row: program.row.into(),
            cores,
            unit: "p99/median",
            better: Better::Lower,
            program,
            target: Some(program.target),
        };
        let mut runs: BTreeMap<_, Vec<f64>> = BTreeMap::new();
        let mut row = self.row(heading, |who| {
            let measured = if who.name == "drystone" { JITTER_RUNS } else { self.effort.peers_jitter };
            let limit = self.effort.limit;
            let times = sorted(&who.warm(program, Runs { cores, warm: JITTER_WARM, measured, limit })?);
            let at = |part| percentile(&times, part).expect("as many times as runs");
            // Each run is divided by the median of its own round, so that rounds can be compared.
            runs.entry(who.name).or_default().extend(times.iter().map(|ms| ms / at(0.5)));
            Ok(vec![at(0.99) / at(0.5)])
        });
        let slowest = |(name, times): (_, &Vec<f64>)| {
            let most = times.iter().copied().fold(1.0, f64::max);
            format!("{name} {most:.1}")
        };
        let slowest: Vec<_> = runs.iter().map(slowest).collect();
        row.note = format!("the slowest run in medians: {}", slowest.join(", "));
        Row { runs, ..row }
    }

    /// Measures all contenders in turns.
    fn row(&self, heading: Heading, mut measure: impl FnMut(&Contender) -> Result<Vec<f64>, String>) -> Row {
        let peers = self.peers.iter().filter(|peer| peer.takes_part(heading.program));
        let contenders: Vec<&Contender> = [&self.drystone].into_iter().chain(peers).collect();
        let mut samples: Vec<Option<Vec<f64>>> =
            contenders.iter().map(|who| who.is_there().then(Vec::new)).collect();
        let start = Instant::now();
        for round in 0..self.effort.rounds {
            if round > 0 && start.elapsed() > self.effort.budget {
                break;
            }
            for (who, samples) in contenders.iter().zip(&mut samples) {
                let Some(known) = samples else { continue };
                match measure(who) {
                    Ok(more) => known.extend(more),
                    Err(why) => {
                        eprintln!("{} has no figure: {why}", who.name);
                        *samples = None;
                    }
                }
            }
        }
        let mut figures = samples.into_iter().map(|samples| samples.and_then(|samples| Figure::of(&samples)));
        let drystone = figures.next().flatten();
        let figures: Vec<_> = contenders[1..].iter().zip(figures).collect();
        let best = |counts: fn(&Contender) -> bool| {
            let those = figures.iter().filter(|(who, _)| counts(who));
            let values = those.filter_map(|(_, figure)| figure.map(|figure| figure.value));
            match heading.better {
                Better::Lower => values.min_by(f64::total_cmp),
                Better::Higher => values.max_by(f64::total_cmp),
            }
        };
        let target = heading.target.and_then(|target| match target {
            Target::At(value) => Some(value),
            Target::Milliseconds(ms) => Some(rounded(ms * self.slowness)),
            Target::OfBest(part) => best(|_| true).map(|ms| rounded(ms * part)),
            Target::OfMirrors(part) => best(Contender::is_mirror).map(|ms| rounded(ms * part)),
            Target::OfGo(part) => best(|who| who.name == "go-mirror").map(|ms| rounded(ms * part)),
        });
        let peers = figures.iter().map(|(who, figure)| (who.name, *figure)).collect();
        let Heading { row, cores, unit, better, .. } = heading;
        Row { cores, better, drystone, peers, target, ..Row::new(row, unit) }
    }
}

/// The row of a program's gain on two cores.
fn scaling(one: &Row, two: &Row) -> Row {
    let ratio = |one: Option<Figure>, two: Option<Figure>| Some(Figure::single(two?.value / one?.value));
    let peers: BTreeMap<_, _> =
        one.peers.iter().map(|(&name, &one)| (name, ratio(one, two.peers[name]))).collect();
    Row {
        cores: 2,
        drystone: ratio(one.drystone, two.drystone),
        peers,
        target: Some(if ["Mandelbrot", "parallel job"].contains(&one.row.as_str()) {
            INDEPENDENT
        } else {
            TWO_CORES
        }),
        ..Row::new(format!("scaling {}", one.row), "two cores / one")
    }
}
