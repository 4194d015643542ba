//! Why targets are missed, as profiles tell.

/// For whoever reads the page.
pub fn of(row: &str) -> Option<&'static str> {
    let reason = match row {
        "lrpc round trip asleep" => {
            "each side sleeps in its epoll and is woken by an eventfd, because other things may wake it too: that takes \
             some 2.5 us more than two futexes; the rest are the two programs, five thousand instructions for both messages"
        }
        "worker throughput" | "lrpc throughput" | "tcp throughput" => {
            "what is sent is shown to the other side when the program has nothing else to do: while one side works through \
             what has come the other waits, so that both seldom work at once (more messages on their way make that worse)"
        }
        _ => return None,
    };
    Some(reason)
}
