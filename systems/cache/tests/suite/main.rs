//! The cache's handler beside its process, in every engine; and both beside memcached.

mod alike;
mod beside;
mod hoarders;
mod mutations;
#[allow(dead_code)]
#[path = "../../../../platform/linux/handlers/tests/suite/namespace.rs"]
mod namespace;
mod network;
mod requests;
mod strange;

/// Numbers that look as if they were random.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    pub fn one_of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}
