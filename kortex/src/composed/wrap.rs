//! Wraps the far halves of a binding, on the client's side or on the server's.

use alloc::boxed::Box;

use drystone_component::Side;
use drystone_runtime::far::{Exported, Far, Reach, Waker};

/// Makes a far half that stands before another one.
pub(super) trait Wrap: 'static {
    /// Wraps a half; `near` is the side that stands here.
    fn wrap(&self, inner: Box<dyn Far>, near: Side) -> Box<dyn Far>;
}

/// A binding, or an exported interface, with each of its halves wrapped.
pub(super) struct Wrapped<T> {
    pub(super) inner: T,
    pub(super) wrap: Box<dyn Wrap>,
}

impl Reach for Wrapped<Box<dyn Reach>> {
    fn begin(&mut self) -> Box<dyn Far> {
        self.wrap.wrap(self.inner.begin(), Side::Client)
    }
}

impl Exported for Wrapped<Box<dyn Exported>> {
    fn attach(&mut self, listener: Waker) {
        self.inner.attach(listener);
    }

    fn accept(&mut self) -> Option<Box<dyn Far>> {
        Some(self.wrap.wrap(self.inner.accept()?, Side::Server))
    }

    fn is_over(&self) -> bool {
        self.inner.is_over()
    }
}
