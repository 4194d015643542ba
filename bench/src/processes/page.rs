//! The page of figures about processes.

use super::effort::{Effort, JITTER_RUNS};
use super::{growth, jitter, reasons};
use crate::page::{Page, Place, Plot, Section};
use crate::row::{Row, cores};

/// The page, with a plot of the headline rows for each number of cores.
pub fn page<'a>(rows: &'a [Row], sections: &'a [Section]) -> Page<'a> {
    let plot = |n| Plot {
        file: format!("processes-{n}.svg"),
        title: cores(n),
        rows: rows
            .iter()
            .filter(|row| row.cores == n && row.unit == "ms" && place(row) == Place::Headline)
            .collect(),
    };
    Page {
        subject: "processes",
        title: "Processes and messages",
        notes: notes(),
        place,
        reason: reasons::of,
        plots: [1, 2].map(plot).into(),
        sections,
    }
}

/// The sections below the tables, as far as there are rows for them.
pub fn sections(rows: &[Row]) -> Result<Vec<Section>, String> {
    let mut sections: Vec<Section> = jitter::section(rows)?.into_iter().collect();
    sections.extend(growth::sections(rows)?);
    Ok(sections)
}

/// Headline rows have names without a lower-case prefix.
fn place(row: &Row) -> Place {
    let is_prefixed = ["cold ", "scaling ", "busy ", "time slices ", "compile ", "delay "]
        .iter()
        .any(|prefix| row.row.starts_with(prefix));
    match growth::is_growth(row) {
        true => Place::Section,
        false if is_prefixed => Place::More,
        false => Place::Headline,
    }
}

/// How the figures are made.
fn notes() -> String {
    let Effort { rounds, runs, .. } = Effort::FULL;
    format!(
        "Every row is measured in up to {rounds} rounds. In a round each contender in turn runs the program \
         in a process of its own, pinned to one or two processors: once to warm up, then {runs} times (once, \
         where a run takes seconds). A time is that of the work alone, without the start of the process and \
         without compiling; it stands as the median of all runs with their quartiles. *cold* rows are the \
         time of a whole process that does the work once, and for Drystone that is with compiling the \
         program from its text. *go-mirror* has the program's structure, a goroutine for each activity and \
         each service; *go-best* is what is quickest in Go. Every run's result is checked, and the number of \
         messages of Drystone and the mirrors. *bytes per process* is the growth of resident memory with a \
         million live servers, each with its component, its communication and its place in a collection, \
         waiting after one message each way; *creation* is a million times making a server, a message each \
         way and deleting it; *jitter* is the 99th percentile of {JITTER_RUNS} runs of TokenRing (100 nodes, \
         1000 rounds) in one process, divided by their median; *scaling* is the time on two cores divided by \
         that on one. *compile* is checking a text and making an object of it, or telling all that is wrong \
         with it. *delay* is the worst delay of a process that sleeps for a millisecond beside something \
         long that the runtime does, of the clock's whole milliseconds. *http keep-alive* is how many small \
         JSON answers a server gives in a second to 50 or 1000 connections, each with one request on its \
         way, by a server that is written by hand or, in *http library*, with the library's `Http`; and \
         *key-value pipelined* how many commands, half of them changes, with 50 connections and 100 commands \
         on their way in each: the server has one processor, and its clients, one thread of the \
         bench, another; every answer is looked at. *word count* is 100 MB of text with some 45 000 \
         different words, *parallel job* 1128 comparisons of texts of 500 letters. *crc32*, *hash* and \
         *base64 in the language* compute a checksum by its table, FNV-1a, and Base64 of a text of random \
         bytes, the same loops in Go as in Drystone; in *select of 8*, one process waits for the first of eight \
         clients and answers it, 800 000 times; in *local stream*, a process sends five million numbers to \
         another, through a buffer for so many. For these, *go-mirror* is \
         what a user of Go would write, with the standard library. *independent rings* are eight token rings \
         of 1000 nodes, 125 rounds each, *independent sieves* eight pipelines that find the primes up to \
         4000, and in *mixed* one process computes beside 10 000 that talk in pairs: nothing in these \
         programs says what may go to another processor. Targets in milliseconds hold for the \
         machine that they were stated for; they are scaled with what Go's mirrors of ProducerConsumer and \
         TokenRing take on one core, here and there.\n"
    )
}
