//! Marks: bits that a path sets for an instruction.

/// An access that must be confined to the program's own memory.
pub(super) const CONFINED: u8 = 1;
/// An access that is proven to be in other memory.
pub(super) const ELSEWHERE: u8 = 1 << 1;
/// A load that is done as the program has it.
pub(super) const PLAIN: u8 = 1 << 2;
/// A load that is rewritten, because its field stands at another place.
pub(super) const REWRITTEN: u8 = 1 << 3;
/// Something that takes from the budget.
pub(super) const BUDGET: u8 = 1 << 4;
/// A call that is reached.
pub(super) const CALLED: u8 = 1 << 5;
