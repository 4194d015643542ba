//! TCP keep-alive: the kernel notices that a connection's other end has gone without closing it (its machine is off, a
//! cable is cut), also while nothing is sent.

use std::os::fd::AsFd;
use std::time::Duration;

use rustix::net::sockopt;

/// How long nothing comes before the kernel probes the other end.
const IDLE: Duration = Duration::from_secs(15);

/// How long it waits for an answer to a probe.
const INTERVAL: Duration = Duration::from_secs(5);

/// Probes without an answer before the connection is lost.
const COUNT: u32 = 3;

/// How long the other end may take to receive what was sent.
const RECEIPT: Duration = Duration::from_secs(30);

/// Loses the connection when nothing has come from the other end's machine for 30 seconds, not even an answer to a
/// probe. This works while nothing is being sent; see also [`expect_receipt`].
pub fn keep_alive(stream: impl AsFd) {
    // What can't be set stays as the system has it.
    let _ = sockopt::set_socket_keepalive(&stream, true);
    let _ = sockopt::set_tcp_keepidle(&stream, IDLE);
    let _ = sockopt::set_tcp_keepintvl(&stream, INTERVAL);
    let _ = sockopt::set_tcp_keepcnt(&stream, COUNT);
}

/// Loses the connection when the other end hasn't acknowledged for 30 seconds what was sent. Only for protocols in
/// which both ends always read: the kernel can't tell an end with a full buffer from one that has gone.
pub fn expect_receipt(stream: impl AsFd) {
    let _ = sockopt::set_tcp_user_timeout(&stream, RECEIPT.as_millis() as u32);
}
