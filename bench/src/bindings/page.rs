//! The page of figures about bindings.

use super::effort::Effort;
use super::reasons;
use crate::page::{Page, Place, Plot};
use crate::row::{Better, Row};

/// The page, with a plot of the times and one of the rates.
pub fn page<'a>(rows: &'a [Row]) -> Page<'a> {
    let plot = |better, file: &str, title: &str| Plot {
        file: file.into(),
        title: title.into(),
        rows: rows
            .iter()
            .filter(|row| row.better == better && row.unit != "ns" && is_headline(row))
            .collect(),
    };
    Page {
        subject: "bindings",
        title: "Bindings",
        notes: notes(),
        place,
        reason: reasons::of,
        plots: vec![
            plot(Better::Lower, "bindings-times.svg", "round trips"),
            plot(Better::Higher, "bindings-rates.svg", "messages without answers"),
        ],
        sections: &[],
    }
}

/// Whether a row is in the first table: its name has no prefix.
pub fn is_headline(row: &Row) -> bool {
    !["texts ", "udp ", "requests "].iter().any(|prefix| row.row.starts_with(prefix))
}

fn place(row: &Row) -> Place {
    if is_headline(row) { Place::Headline } else { Place::More }
}

/// How the figures are made.
fn notes() -> String {
    let Effort { rounds, .. } = Effort::FULL;
    format!(
        "Every row is measured in up to {rounds} rounds. In a round each contender in turn does the work in \
         processes of its own, after a tenth of it that isn't measured; a figure is the median of the rounds \
         with their quartiles. A *round trip* is one INTEGER and one INTEGER as its answer, one after the \
         other over one communication; *throughput* is messages of one INTEGER without answers, all of them \
         received, and in the rows *texts* texts of 100 bytes. Each client says in the end what it got, and \
         that is compared: the sum of all answers, or the sum that the server made of all messages. With *2 \
         cores* both sides may use both processors. *asleep* is with one processor for both sides, so that \
         each has to sleep for the other to go on; *spinning* is what a program of Drystone does by itself \
         as long as answers come soon. *tokio-mpsc* is a pair of channels of 1024 messages between two \
         threads, each with a runtime of its own (a worker of Drystone has room for as many); *futex*, \
         *pipe* and *unix* are two processes by hand, with a message of 20 bytes: those without answers are \
         written 64 KiB at once, which nobody looks at, or, as *pipe each* and *unix each*, by themselves, \
         with a system call each, which no target is computed from. Drystone sends what it has when that is \
         4 KiB (16 KiB over tcp), or when it has nothing else to do. *tonic* calls a method with one reply, \
         or streams from the client; *capnp-rpc* calls methods and streaming methods, over buffered \
         connections; *async-nats* sends numbers with a subject of its own for the answers, by the NATS that \
         Drystone uses too; *libtirpc* is client and server with what rpcgen makes; all of these are in \
         bench/peers. Drystone over tcp has a capacity of 16384. *busy* is the same while a third program \
         computes beside all of them, on one thread that may use any processor, in the same session, so that \
         Linux gives it as much as it gives each thread of theirs. *http* asks both servers by POST with the \
         same JSON, with one connection that is kept: the server has one processor, and the client, a part \
         of the bench, another; *requests* is with 50 connections. What Drystone has to reach is computed \
         from the peers' figures in the same row.\n"
    )
}
