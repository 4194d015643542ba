//! The page of figures about the specialiser.

use std::fmt::Write;

use super::effort::Effort;
use super::reasons;
use super::rows::{GONE, LIKE_HAND};
use super::targets::GROWTH;
use crate::curves::{self, Curve, Panel};
use crate::page::{Page, Place, Plot, Section};
use crate::row::Row;
use crate::statistics::{Figure, rounded};

/// The page, with bars for the messages, and for the layers beyond messages.
pub fn page<'a>(rows: &'a [Row], sections: &'a [Section]) -> Page<'a> {
    let of = |is_shown: fn(&Row) -> bool| {
        rows.iter().filter(|row| place(row) == Place::Headline && is_shown(row)).collect::<Vec<_>>()
    };
    let plot = |file: &str, title: &str, rows| Plot { file: file.into(), title: title.into(), rows };
    Page {
        subject: "specialise",
        title: "The specialiser",
        notes: notes(),
        place,
        reason: reasons::of,
        plots: vec![
            plot("specialise-sizes.svg", "a call message, by size", of(is_size)),
            plot(
                "specialise-others.svg",
                "other messages, replies, frames and filters",
                of(|row| !is_size(row)),
            ),
        ],
        sections,
    }
}

fn is_size(row: &Row) -> bool {
    row.row == "pair" || row.row.starts_with("array ")
}

fn place(row: &Row) -> Place {
    match row.row.as_str() {
        name if name.starts_with(GROWTH_PREFIX) => Place::Section,
        name if ["avx2 ", "cranelift ", "instructions ", "time "]
            .iter()
            .any(|prefix| name.starts_with(prefix)) =>
        {
            Place::More
        }
        _ => Place::Headline,
    }
}

const GROWTH_PREFIX: &str = "growth ";

/// The name of the row of the time to specialise an array.
pub fn growth_row(count: usize) -> String {
    format!("{GROWTH_PREFIX}array {count}")
}

/// The section on how the time to specialise grows, if it was measured.
pub fn sections(rows: &[Row]) -> Result<Vec<Section>, String> {
    let curve = |name: &str, of: fn(&Row) -> Option<Figure>| {
        let time = |count: usize| {
            let row = rows.iter().find(|row| row.row == growth_row(count))?;
            Some((count as f64, of(row)?.value))
        };
        Curve { name: name.into(), points: GROWTH.iter().filter_map(|&(count, _)| time(count)).collect() }
    };
    let curves = vec![
        curve("to C", |row| row.drystone),
        curve("to machine code", |row| row.peers.get("drystone-cranelift").copied().flatten()),
    ];
    if curves[0].points.is_empty() {
        return Ok(Vec::new());
    }
    let mut text = String::from("Milliseconds from LLVM's text to C.\n\n| numbers | ms |\n|--:|--:|\n");
    for (count, ms) in &curves[0].points {
        let _ = writeln!(text, "| {count} | {} |", rounded(*ms));
    }
    text += "\n![Time to specialise](specialise-growth.svg)\n";
    let panel = Panel { title: "time to specialise an array's call, ms, by its length".into(), curves };
    let plot = curves::svg(&[panel], 1)?;
    Ok(vec![Section {
        title: "How the time to specialise grows",
        text,
        plot: Some(("specialise-growth.svg", plot)),
    }])
}

/// How the figures are made.
fn notes() -> String {
    let Effort { extent, runs, .. } = Effort::FULL;
    format!(
        "The sources are Debian's: libtirpc (client stubs by rpcgen), lwIP and libpcap's `bpf_filter`; \
         bench/peers/c/README.md says what is on top of them. Every contender is a shared object in one \
         process, called through a pointer with new random arguments in each call; the call is part of every \
         figure, and all functions in C begin with a cache line. Before anything is measured each must do \
         the same as the generic code, by every byte, on 5000 random cases. Then there are {} rounds, in \
         which each has {} microseconds in turn; a figure stands as the median of its rounds with their \
         quartiles. *generic* is each file compiled by itself with -O2 and linked to a library; *lto* is \
         clang's whole-program optimisation with everything but the entry internal, a pre-link -O2 and a \
         post-link -O3 that may inline nearly everything, *lto-pgo* the same with a profile of the same \
         calls. *hand* is the same bytes written by hand, with the better of gcc -O3 and clang -O3; \
         Drystone's figure is the residual C compiled in the same two ways, *drystone-O2* that by clang -O2. \
         *avx2* rows allow both what x86-64-v3 has. *instructions* are those that callgrind counts for a \
         call; the known part is what generic code executes more than hand-written code (without vectors), \
         of which {GONE} % must be gone. *cranelift* rows compare machine code made in the measuring process \
         with code without vectors. *time to specialise* is from the text of all layers to the text of C (or \
         to machine code), median of {runs} runs in a process. Targets: at least 9 x over the better generic \
         build for the pair and every array, at least 2 x for frames, and for all others and those arrays at \
         most {LIKE_HAND} x the hand-written code's time.\n",
        extent.rounds, extent.microseconds
    )
}
