//! A parallel program: relaxation of the temperatures of a plate whose upper edge is hot. In each round, each point
//! becomes the mean of its four neighbours. Each worker has some of the rows; its neighbours write their bordering rows
//! to its memory.
//!
//! A neighbour's rows alternate between two slots. A worker in a round has had its neighbours' rows of the round
//! before, so no neighbour still needs what it overwrites now.

use std::hint::spin_loop;
use std::io::{Error, ErrorKind, Result};
use std::time::{Duration, Instant};

use crate::{Memory, Peer, SLOT};

/// The hot edge's temperature.
const HOT: f64 = 100.0;

/// The most columns: a row must fit into a slot.
pub const COLUMNS: usize = SLOT / 8;

/// The plate's size, and the number of rounds.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// Rows of the whole plate, without its edges.
    pub rows: usize,
    /// Columns of the plate, without its edges.
    pub columns: usize,
    /// The number of rounds.
    pub rounds: u64,
}

/// A worker and its neighbours.
pub struct Worker<'a> {
    /// The memory that neighbours write to.
    pub memory: &'a Memory,
    /// The worker of the rows above.
    pub above: Option<&'a Peer>,
    /// The worker of the rows below.
    pub below: Option<&'a Peer>,
    /// How long neighbours may be silent.
    pub longest: Duration,
}

/// The neighbour whose rows a slot is for.
#[derive(Clone, Copy)]
enum From {
    Above,
    Below,
}

fn slot(from: From, round: u64) -> usize {
    2 * (from as usize) + (round % 2) as usize
}

/// The range of rows of one of so many workers.
pub fn share(work: Work, number: usize, workers: usize) -> std::ops::Range<usize> {
    work.rows * number / workers..work.rows * (number + 1) / workers
}

/// The final rows of a worker, one after the other. Its neighbours have finished, too, but may still wait for
/// acknowledgements of their last rows.
///
/// # Errors
/// A neighbour is silent.
pub fn relax(work: Work, rows: std::ops::Range<usize>, worker: &Worker<'_>) -> Result<Vec<f64>> {
    let columns = work.columns;
    let mut now = vec![0.0; rows.len() * columns];
    let (mut above, mut below) = (vec![0.0; columns], vec![0.0; columns]);
    if rows.start == 0 {
        above.fill(HOT);
    }
    for round in 1..=work.rounds {
        now = renewed(&now, &above, &below, columns);
        let (first, last) = (&now[..columns], &now[now.len() - columns..]);
        // To the neighbour above, this worker's first row comes from below, and vice versa.
        for (peer, row, from) in [(worker.above, first, From::Below), (worker.below, last, From::Above)] {
            if let Some(peer) = peer {
                let words: Vec<u64> = row.iter().map(|number| number.to_bits()).collect();
                peer.write(slot(from, round), round, &words)?;
            }
        }
        let rows_of_others =
            [(worker.above, &mut above, From::Above), (worker.below, &mut below, From::Below)];
        for (peer, row, from) in rows_of_others {
            if peer.is_some() {
                await_row(worker, slot(from, round), round, row)?;
            }
        }
    }
    Ok(now)
}

/// Each point becomes the mean of its neighbours.
fn renewed(now: &[f64], above: &[f64], below: &[f64], columns: usize) -> Vec<f64> {
    let rows = now.len() / columns;
    let row = |number: usize| &now[number * columns..][..columns];
    let mut next = Vec::with_capacity(now.len());
    for number in 0..rows {
        let over = if number == 0 { above } else { row(number - 1) };
        let under = if number + 1 == rows { below } else { row(number + 1) };
        let own = row(number);
        next.extend((0..columns).map(|at| {
            let left = if at == 0 { 0.0 } else { own[at - 1] };
            let right = own.get(at + 1).copied().unwrap_or(0.0);
            (over[at] + under[at] + left + right) / 4.0
        }));
    }
    next
}

fn await_row(worker: &Worker<'_>, slot: usize, round: u64, row: &mut [f64]) -> Result<()> {
    /// Polls before sleeping: neighbours are seldom later.
    const SPINS: usize = 1000;
    let begin = Instant::now();
    for tries in 0usize.. {
        if worker.memory.is_complete(slot, round) {
            break;
        }
        if begin.elapsed() > worker.longest {
            let what = format!("a neighbour has written no row of round {round} for {:?}", worker.longest);
            return Err(Error::new(ErrorKind::TimedOut, what));
        }
        if tries < SPINS { spin_loop() } else { std::thread::sleep(Duration::from_micros(50)) }
    }
    let mut words = vec![0; row.len()];
    worker.memory.read(slot, &mut words);
    row.iter_mut().zip(words).for_each(|(number, word)| *number = f64::from_bits(word));
    Ok(())
}
