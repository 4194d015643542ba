//! The page of figures.

use super::{BUSY, Effort};
use crate::page::{Page, Place, Plot};
use crate::row::Row;

/// What is told of the rows.
pub fn page(rows: &[Row]) -> Page<'_> {
    let plot = |unit: &str, file: &str, title: &str| Plot {
        file: file.into(),
        title: title.into(),
        rows: rows.iter().filter(|row| row.unit == unit && place(row) == Place::Headline).collect(),
    };
    Page {
        subject: "handlers",
        title: "Handlers",
        notes: notes(),
        place,
        reason: |_| None,
        plots: vec![plot("us", "handlers-times.svg", "from a request to its answer")],
        sections: &[],
    }
}

fn place(row: &Row) -> Place {
    if row.row.ends_with(", p99") { Place::More } else { Place::Headline }
}

fn notes() -> String {
    let Effort { rounds, requests, .. } = Effort::FULL;
    format!(
        "\n*Drystone* is the handler in Linux's kernel (XDP, generic mode: a pair of virtual interfaces), *af-xdp* the same object in Drystone's \
         own engine, in a process that waits. \
         Client and server are in network namespaces of their own, joined by a pair of virtual interfaces (veth). The client spins on \
         one processor; the server, what arrives for it (receive packet steering), and what is busy beside it have the other one. So \
         there is no network in these figures, but one interrupt between processors in each direction where the server isn't the kernel. \
         All parties have their turn in each of up to {rounds} rounds, of {requests} requests each, after a tenth of these that isn't \
         measured; each answer is compared with what it should be. A figure is the median of the rounds' medians (or of their rates) with the \
         quartiles; *p99* is that of the time below which 99 of 100 answers of a round came. \
         *remote increment*: eight bytes are added to a number of the server's, and the sum comes back (the handler is the one that \
         `drystone handler new` writes; `udp-spinning` and `udp-blocking` are processes with a socket of UDP, which ask for messages \
         without end, or wait for them). *{BUSY} busy*: with so many processes that compute beside the server, on its processor; Linux's \
         groups of sessions are switched off, and there are a hundredth of the requests. Its target is 1.15 times Drystone's own figure without them. \
         *memcached get*: values of 32 bytes under 1000 keys, over memcached's UDP protocol; *process* is Drystone's cache without a \
         handler, *memcached* the real one with one thread. *dns*: addresses of 1000 names of a zone, asked for 32 at once; *nsd* serves the same \
         file with one server process and minimal responses.\n"
    )
}
