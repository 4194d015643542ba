//! What must be true of the repository's own sources: the files of crates stand on floors, unsafe code says why it is
//! sound, and `ARCHITECTURE.md` is right.

mod architecture;
mod floors;
mod sources;
mod unsafe_code;
