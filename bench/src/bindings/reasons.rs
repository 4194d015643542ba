//! Why targets are missed, as profiles tell.

/// For whoever reads the page.
pub fn of(row: &str) -> Option<&'static str> {
    let reason = match row {
        "lrpc round trip asleep" => {
            "each side sleeps in its epoll and is woken by an eventfd, because other things may wake it too: that takes \
             some 2.5 us more than two futexes; the rest are the two programs, five thousand instructions for both messages"
        }
        "worker throughput" | "lrpc throughput" | "tcp throughput" => {
            "at each side a message is a process of its own that waits for the next one: nine hundred instructions at the \
             sender, twelve hundred at the receiver, with two turns of the scheduler; what is sent goes in batches of \
             hundreds, as with the peers, which have no process to be told of each"
        }
        _ => return None,
    };
    Some(reason)
}
