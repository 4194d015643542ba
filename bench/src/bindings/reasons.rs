//! Why targets are missed, from profiles.

/// The reason for the page, by row.
pub fn of(row: &str) -> Option<&'static str> {
    let reason = match row {
        "lrpc round trip asleep" => {
            "each side sleeps in its epoll and is woken by an eventfd, because other things may wake it too: that \
             takes some 2.5 us more than two futexes; the rest are the two programs, five thousand instructions for \
             both messages"
        }
        "worker throughput" | "tcp throughput" | "busy worker throughput" | "busy tcp throughput" => EACH,
        "lrpc throughput" | "busy lrpc throughput" => {
            "each message is sent, checked against its protocol, and received by itself: some 700 instructions where \
             it is sent, and as many where it is received, counted between workers"
        }
        "busy onc round trip" => {
            "both sides have what is left of one processor, so each has to sleep for the other to go on: three \
             quarters of the time are the kernel's, for an epoll, a read and a write on each side; the rest are the \
             two programs, some 4 us each"
        }
        "nats round trip" => {
            "each time that the home has slept it wakes the thread that ends time slices, a system call for each \
             message"
        }
        _ => return None,
    };
    Some(reason)
}

const EACH: &str = "a message takes some 700 instructions where it is sent and as many where it is received: more \
                     than half of them keep the connection's books, the others call the runtime and move the values";
