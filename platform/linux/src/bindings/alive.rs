//! Connections by TCP whose other end has gone without a word: its machine is off, a cable is cut. The kernel asks now
//! and then whether it is still there, also if nothing is to be said.

use std::os::fd::AsFd;
use std::time::Duration;

use rustix::net::sockopt;

/// How long nothing is heard before the kernel asks.
const IDLE: Duration = Duration::from_secs(15);

/// How long it waits for an answer.
const INTERVAL: Duration = Duration::from_secs(5);

/// How often it asks before the connection is lost.
const COUNT: u32 = 3;

/// How long the other end may take to receive what was sent.
const RECEIPT: Duration = Duration::from_secs(30);

/// Loses the connection when the other end has been silent for 30 seconds, the kernel of its machine too, if nothing is
/// under way to it.
pub(super) fn keep_alive(stream: impl AsFd) {
    // What can't be set stays as the system has it.
    let _ = sockopt::set_socket_keepalive(&stream, true);
    let _ = sockopt::set_tcp_keepidle(&stream, IDLE);
    let _ = sockopt::set_tcp_keepintvl(&stream, INTERVAL);
    let _ = sockopt::set_tcp_keepcnt(&stream, COUNT);
}

/// Loses the connection when the other end hasn't received for 30 seconds what was sent. Only where both ends read
/// always: to the kernel one that has no room for more is the same as one that has gone.
pub(super) fn expect_receipt(stream: impl AsFd) {
    let _ = sockopt::set_tcp_user_timeout(&stream, RECEIPT.as_millis() as u32);
}
