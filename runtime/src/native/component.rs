//! What a component written in Rust implements.

use alloc::boxed::Box;

use super::here::Activity;
use super::ports::Ports;
use super::turn::Serving;

/// A component written in Rust: what its processes share. It is dropped when the instance is deleted, after they have
/// ended.
pub trait Component: 'static {
    /// A new client: what serves it, for the interface that stands at `interface` in the list given to
    /// [`Kind::new`](super::Kind::new).
    fn serve(&mut self, interface: usize) -> Serving;

    /// The component begins, if its kind is active ([`Design::is_active`](super::Design::is_active)): this is called
    /// first, and its services wait for it; then its own process does what it gives.
    fn begin(&mut self, ports: Ports) -> Activity {
        drop(ports);
        Box::pin(async {})
    }
}
