//! What programs need from the kernel or server that runs them.

/// The surroundings of a client's programs for one slice: the calls they can make, the client's memory, and the end of
/// the slice.
pub trait Runner: Copy + 'static {
    /// Whether programs may make the call with this number.
    fn may_call(self, number: u64) -> bool;

    /// Makes a call that programs may make. `None`: the call was refused.
    fn call(self, number: u64, words: [u64; 4]) -> Option<i64>;

    /// Whether the slice is over.
    fn is_over(self) -> bool;

    /// Reads the client's memory. Returns whether all of it is the client's.
    fn read(self, from: u64, to: &mut [u8]) -> bool;

    /// Writes the client's memory. Returns whether all of it is the client's.
    fn write(self, to: u64, from: &[u8]) -> bool;

    /// Whether there is memory for a new program or run.
    fn has_room() -> bool;
}
