//! Why targets are missed, as far as it is known: from profiles, with what would help.

/// The reason for a row that misses its target.
pub fn of(row: &str) -> Option<&'static str> {
    let reason = match row {
        "ProducerConsumer 1:1" => {
            "some 615 instructions for each element, in a profile: 390 of generated code, 140 to release the \
             lock and hand it over, 80 to await"
        }
        "ProducerConsumer 5:5" => {
            "some 1090 instructions for each element, in a profile: 450 of generated code, 450 to release \
             the lock, which several wait for, and hand it over, 115 to wait for it, 80 to await"
        }
        "Eratosthenes" => {
            "some 115 instructions for each number that is moved, nearly all of them generated code of the sieves"
        }
        "News" => {
            "some 300 instructions for each text that is delivered, of which 35 count its holders through calls of the \
             runtime, and seven misses of the first cache: the blocks of a thousand customers are larger than that"
        }
        "Library" => {
            "in a profile: two fifths are the generated code of customers and lending, a sixth visits \
             collections in order through calls, and a twentieth deletes components, one for every book"
        }
        "Mandelbrot" => {
            "some 23 instructions for a point that is in, and five for one that has left, whose loop is \
             written out: arithmetic one value at a time"
        }
        "TrafficSimulation" => {
            "five million messages and 2.6 million processes in 1.2 s; vehicles, passes and their connections are made \
             and deleted for every road that is entered; of the instructions, a seventh finds the quickest \
             routes, and as many find through which connections others go"
        }
        "bytes per process" => {
            "the prototype of the target joins a component with its one service and communication; here a \
             component may have many, so each has a pointer to it and a link of its own"
        }
        "creation" => {
            "1310 instructions from NEW to the end of DELETE, in a profile: 310 make the component and find \
             its service, 580 end and delete them, 390 are generated code"
        }
        "jitter" => {
            "a run takes less than a millisecond, so one interruption by the machine is many of them; the \
             peers' runs are longer"
        }
        "http keep-alive 50" | "http keep-alive 1000" => {
            "some 23 000 instructions outside the kernel for a request, in a profile of one client: twenty \
             procedures with frames (2700), texts that are cut, searched, joined and dropped (5200); the \
             rest is spread thin"
        }
        "http library keep-alive 1000" => {
            "in a profile, two fifths of the time are the kernel's, a seventh is spent between hyper and the \
             service, a seventh by memory that is taken and given back for each request, and the rest is spread \
             thin: each request begins and ends a process of its own"
        }
        "base64 in the language" => {
            "in a profile, 129 instructions for three characters that are written as four, 93 for the way back: \
             each access to a character tests the index, and each write whether somebody else holds the text"
        }
        "sql insert" => {
            "some 11 900 instructions for an insert, in a profile: 3400 are SQLite's and 800 rusqlite's; the \
             request and its answer are values of the language, then bytes, then values of SQLite (1500), and \
             pass through the runtime (2100), memory that is taken and given back (800) and the pool (1200)"
        }
        "sql select" => {
            "in a profile, a quarter of the instructions are SQLite's; nearly a fifth makes values into bytes and \
             back, as much is spent in the runtime, and a tenth in the pool"
        }
        "sql select of 1000 rows" => {
            "in a profile, a third is spent on values that become bytes and then values of the language, each \
             text in a block of its own; 28 of a hundred instructions are SQLite's"
        }
        "delay delete 10^6 servers" => {
            "the program takes a million answers first: within one time slice ten thousand servers become \
             ready to end, and they run before who wakes later, first in, first out"
        }
        "key-value pipelined" => {
            "some 3700 instructions for a command on a new key, in a profile: six of its procedures have \
             frames because they own texts or may wait (590), texts are cut, copied and dropped (700), and \
             the store is a process of its own"
        }
        "word count" => {
            "some 570 instructions for each word, in a profile: two fifths look it up in the table, once, a \
             third is the loop over its characters, which can be interrupted, and a fifth makes its text and \
             drops it; Go's mirror, which makes texts too, takes longer"
        }
        "parallel job" => {
            "some 32 instructions for two letters that are compared: two sums may overflow, the index of the \
             array and the end of the time slice are tested, and more is kept than there are registers"
        }
        "delay end a holder of 10^6 by force" => {
            "who ends by force is found, taken out of all queues, closed and freed while nothing else runs, \
             some 40 ns for each component: in parts, others would meet components that are half gone"
        }
        "time slices average" => {
            "the check is three instructions; loops in which every iteration sends, receives or sleeps have none, the \
             others do"
        }
        "delay + to 100 MB"
        | "delay + to 100 MB that another shares"
        | "delay change 100 MB that another shares"
        | "delay FIND in 100 MB" => {
            "49000 pages of 4 KB are touched for the first time (25000 by FIND), which is 60 of 80 ms of the \
             processor's time: some 0.2 ms for each part of 256 KB, between which others may run; on a busy \
             machine the rest is the wait for a processor, for asking the clock in each part instead of \
             waiting for the tick changed nothing"
        }
        "scaling independent rings" => {
            "14 ms on one processor are short: each ring has its first message in its first millisecond, and \
             most are made by the home before four go at its second tick or third, 0.6 to 1.3 ms after the \
             start; with a thousand rounds instead of 125 it is some 0.58"
        }
        "scaling Mandelbrot" => {
            "its hundred tasks take some 0.16 ms each, less than a time slice, so most have ended before one \
             is known to compute: with two workers `--stats` counts 0, 13 and 54 runs elsewhere in three runs"
        }
        _ if row.starts_with("collection ") => "see the section on collections",
        _ => return None,
    };
    Some(reason)
}
