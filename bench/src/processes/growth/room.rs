//! Measures how many processes fit: Table 1 of *structured concurrent programs* (Bläser).

use super::trial::Trial;
use crate::row::{Better, Row, Tell};
use crate::statistics::Figure;

const MIB: f64 = (1 << 20) as f64;

/// The systems of the paper, as peers.
pub const SYSTEMS: [&str; 4] = ["paper", "paper-csharp", "paper-java", "paper-aos"];

/// A line of the table.
pub struct Machine {
    /// Its memory.
    pub mib: u64,
    /// The paper's number for each of [`SYSTEMS`].
    pub processes: [u32; 4],
    target: Option<f64>,
}

/// The paper's machines, whose memory held the operating system, too.
pub const MACHINES: [Machine; 3] = [
    Machine { mib: 256, processes: [321_000, 1950, 7230, 15_700], target: None },
    Machine { mib: 1024, processes: [1_300_000, 1960, 7130, 15_700], target: Some(1e7) },
    Machine { mib: 4096, processes: [5_010_000, 1900, 10_000, 15_700], target: None },
];

/// Memory set aside for the rest of the process: the compiler, the code, the output.
pub const ASIDE_MIB: u64 = 16;

/// Measures row after row.
pub fn measure(tell: Tell) -> Result<(), String> {
    for machine in &MACHINES {
        let trial = Trial::of_program("fill", &[], (machine.mib - ASIDE_MIB) << 20);
        let trial = trial.map_err(|why| eprintln!("no figure: {why}")).ok();
        let alive = trial.as_ref().and_then(|trial| trial.get("alive"));
        let peers = SYSTEMS.into_iter().zip(machine.processes);
        tell(Row {
            better: Better::Higher,
            drystone: alive.map(Figure::single),
            peers: peers.map(|(name, n)| (name, Some(Figure::single(n.into())))).collect(),
            target: machine.target,
            ..Row::new(row_of(machine), "processes")
        })?;
        let resident = trial.as_ref().and_then(|trial| trial.get("resident"));
        tell(whole_process(machine, "resident", resident, Some(machine.mib as f64)))?;
        // By then the number of processes is known, so this needn't fit.
        let peak = trial.map(|trial| trial.peak);
        tell(whole_process(machine, "resident when they are ended", peak, None))?;
    }
    Ok(())
}

/// The memory of the whole process.
fn whole_process(machine: &Machine, what: &str, bytes: Option<f64>, target: Option<f64>) -> Row {
    let row = Row::new(format!("fit {} MB: {what}", machine.mib), "MiB");
    Row { drystone: bytes.map(|bytes| Figure::single(bytes / MIB)), target, ..row }
}

/// The name of the row with the number of processes.
pub fn row_of(machine: &Machine) -> String {
    format!("fit {} MB: processes", machine.mib)
}
