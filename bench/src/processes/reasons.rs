//! Why targets are missed, as far as it is known: what profiles say, and what would help.

/// For a row that misses its target.
pub fn of(row: &str) -> Option<&'static str> {
    let reason = match row {
        "ProducerConsumer 1:1" | "ProducerConsumer 5:5" => {
            "some 645 instructions for each element, in a profile: 420 of generated code, 80 to release the lock and hand it \
             over, 60 to await, 59 to keep all registers around the release, of which hardly any are needed"
        }
        "Eratosthenes" => {
            "some 115 instructions for each number that is moved, half of them for its two switches"
        }
        "News" => {
            "some 370 instructions for each text that is delivered: texts count their holders through calls of the \
             runtime, and the blocks of a thousand customers are larger than the first cache"
        }
        "Library" => {
            "in a profile: a third is the generated code of customers and lending, a seventh visits collections in order \
             through calls, and a twentieth deletes components, one for every book"
        }
        "Mandelbrot" => {
            "the innermost loop is written out, five instructions for a point that has left; what is left is arithmetic one \
             value at a time, and elements that are stored and read again at once"
        }
        "TrafficSimulation" => {
            "five million messages and 2.6 million processes in 1.2 s; vehicles, passes and their connections are made \
             and deleted for every road that is entered; a seventh of the instructions finds the quickest routes"
        }
        "bytes per process" => {
            "the prototype of the target joins a component with its one service and communication; here a component may \
             have many, so each has a pointer to it and a link of its own"
        }
        "creation" => {
            "1280 instructions from NEW to the end of DELETE, in a profile: 220 make the component and find its service, 490 \
             end and delete them, the rest is mostly generated code"
        }
        "jitter" => {
            "a run takes less than a millisecond, so one interruption by the machine is many of them; the peers' runs are \
             longer"
        }
        "http keep-alive 50" | "http keep-alive 1000" => {
            "some 19 400 instructions outside the kernel for a request, which are more than half of the time: twenty \
             procedures with frames (2500), texts that are cut, searched, joined and dropped (4200), five turns of native \
             components (1700); the rest is spread thin"
        }
        "delay delete 10^6 servers" => {
            "the program takes a million answers first: within one time slice ten thousand servers become ready to end, and \
             they run before who wakes later, first in, first out"
        }
        "key-value pipelined" => {
            "some 3150 instructions for a command: six of its procedures have frames because they own texts or may wait \
             (630), texts are cut, copied and dropped (610), and the store is a process of its own"
        }
        "word count" => {
            "each character passes a loop that can be interrupted, and each word is a text of its own that is looked up in \
             a table, once, more than half of the time; Go's mirror, which makes texts too, takes longer"
        }
        "parallel job" => {
            "some 28 instructions for two letters that are compared: two sums may overflow, the index of the array and the end \
             of the time slice are tested, and more is kept than there are registers"
        }
        "delay end a holder of 10^6 by force" => {
            "who ends by force is found, taken out of all queues, closed and freed while nothing else runs, some 40 ns for \
             each component: in parts, others would meet components that are half gone"
        }
        "delay delete a client with 10^6 slots" => {
            "the connections of one component are undone all at once, some 30 ns for each"
        }
        "time slices average" => {
            "the check is three instructions; loops in which every iteration sends, receives or sleeps have none, the \
             others do"
        }
        "delay + to 100 MB"
        | "delay + to 100 MB that another shares"
        | "delay change 100 MB that another shares"
        | "delay FIND in 100 MB" => {
            "49000 pages of 4 KB are touched for the first time (25000 by FIND), which is 60 of 80 ms of the processor's time: \
             some 0.2 ms for each part of 256 KB, between which others may run; on a busy machine the rest is the wait for a \
             processor, for asking the clock in each part instead of waiting for the tick changed nothing"
        }
        "scaling Mandelbrot" => {
            "its hundred tasks take some 0.16 ms each, less than a time slice, so most have ended before one is known to \
             compute: with two workers `--stats` counts 0, 13 and 54 runs elsewhere in three runs"
        }
        _ if row.starts_with("collection ") => "see the section on collections",
        _ => return None,
    };
    Some(reason)
}
