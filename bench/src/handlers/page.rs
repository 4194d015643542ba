//! The page of figures about handlers.

use super::effort::Effort;
use super::experiment::{BUSY, FLOOD};
use crate::page::{Page, Place, Plot};
use crate::row::{Better, Row};

/// The page.
pub fn page(rows: &[Row]) -> Page<'_> {
    let plot = |file: &str, title: &str, has: fn(&Row) -> bool| Plot {
        file: file.into(),
        title: title.into(),
        rows: rows.iter().filter(|row| has(row) && place(row) == Place::Headline).collect(),
    };
    Page {
        subject: "handlers",
        title: "Handlers",
        notes: notes(),
        place,
        reason: |_| None,
        plots: vec![
            plot("handlers-times.svg", "from a request to its answer", |row| {
                row.unit == "us" && row.better == Better::Lower
            }),
            plot("handlers-demultiplexer.svg", "to find whose a packet is", |row| {
                row.row.starts_with("demultiplexer")
            }),
            plot("handlers-pipes.svg", "copy, checksum and byte swap", |row| row.row.starts_with("one pass")),
        ],
        sections: &[],
    }
}

fn place(row: &Row) -> Place {
    let is_headline = match row.row.split_once(',') {
        Some((_, rest)) => rest == " 32 at once",
        None => true,
    };
    if is_headline { Place::Headline } else { Place::More }
}

fn notes() -> String {
    let Effort { rounds, requests, .. } = Effort::FULL;
    format!(
        "\n*Drystone* is the handler in Linux's kernel (XDP, generic mode: a pair of virtual interfaces), \
         *af-xdp* the same object in Drystone's own engine, in a process that waits. Client and server are \
         in network namespaces of their own, joined by a pair of virtual interfaces (veth). The client spins \
         on one processor; the server, what arrives for it (receive packet steering), and what is busy \
         beside it have the other one. So there is no network in these figures, but one interrupt between \
         processors in each direction where the server isn't the kernel. All parties have their turn in each \
         of up to {rounds} rounds, of {requests} requests each, after a tenth of these that isn't measured; \
         each answer is compared with what it should be. A figure is the median of the rounds' medians (or \
         of their rates) with the quartiles; *p99* is that of the time below which 99 of 100 answers of a \
         round came. *remote increment*: eight bytes are added to a number of the server's, and the sum \
         comes back (the handler is the one that `drystone handler new` writes; `udp-spinning` and \
         `udp-blocking` are processes with a socket of UDP, which ask for messages without end, or wait for \
         them). *{BUSY} busy*: with so many processes that compute beside the server, on its processor; \
         Linux's groups of sessions are switched off, and there are a hundredth of the requests. Its target \
         is 1.15 times Drystone's own figure without them. *memcached get*: values of 32 bytes under 1000 \
         keys, over memcached's UDP protocol; *process* is Drystone's cache without a handler, *memcached* \
         the real one with one thread. *dns*: addresses of 1000 names of a zone, asked for 32 at once; *nsd* \
         serves the same file with one server process and minimal responses. *remote increment in the \
         language*: `systems/Counter.dry`, whose service is marked `{{HANDLER}}`, by a `udp:` name; \
         *process* is the same program without an interface. Its target is the figure of the handler in C. \
         *dispatcher*: the handler of *remote increment* behind a dispatcher with another one. *flood*: before each \
         request {FLOOD} datagrams come for that other handler, whose 8192 rounds each take long, and whose \
         share is a hundred runs in ten milliseconds (*dispatcher-without-shares*: it has no limit); the time is \
         from the first of these to the answer. The target is half of what it takes without shares.\n\n\
         *demultiplexer N*: to find whose a packet is among N filters that differ in a port (or in addresses \
         and ports); *walked* is the same structure without compiled code, *chain* and *libpcap-chain* ask \
         one filter after the other, Drystone's compiled ones and libpcap's `bpf_filter`; *linux-filter* is \
         one filter that joins all by `or`, compiled by Linux and attached to a socket, which says only \
         whether somebody wants the packet: it is a difference of two times to send, so it scatters. *one \
         pass*: copy, Internet checksum and byte swap of 4096 bytes (or as many as are said) by one list of \
         pipes; *c* is that loop written by hand for `clang -O3 -mavx2`, *c-plain* the obvious loop, \
         *passes* and *c-passes* do one after the other, *apart* with the caches flushed before each of them \
         as the paper does. Uncached: flushed before. The target is the least of: three passes' time / 1.6, \
         hand-written C's x 1.05, `memcpy`'s x 2.\n\n\
         What follows is measured by `drystone-stack`'s example `figures`, ten runs of each, one after \
         the other, between a line of raw frames and a library on a pair of virtual interfaces. *raw \
         latency*: eight bytes are counted and come back, by a handler in Linux's kernel (*xdp-native*: in \
         the driver). *polling* and *suspended*: by a handler in Drystone's engine (AF_XDP), by an *upcall*, \
         or by the application itself (*user-level*), in a thread that polls or that waits. *raw \
         throughput*: messages of so many bytes that the application takes. *udp in place*, *udp checksum*, \
         *udp one copy*, *copies*: how much data handlers get through without a device, 1472 bytes a \
         message; *udp pipe*: on their way into the region through a cipher and a checksum that the handler \
         has as a pipe (*passes*: one after the other; *linux*: the same object in Linux's kernel). *tcp \
         latency*: four bytes and back, *drystone* with a handler in Linux's kernel that answers, *engine* \
         with one in Drystone's, *-process* where the process answers, *library* without a handler; *tcp \
         throughput* with segments of 1460 bytes, *small segments* of 536; *aborts*: what the handler left \
         to the library, in percent of all segments. *generic write* and *specific write*: x86-64 \
         instructions of a remote write of 40 bytes, with the copying (Valgrind); targets are the paper's \
         MIPS instructions. *sandbox N*: what the verified handler takes, divided by what the same without \
         checks and a handler that does nothing take together.\n"
    )
}
