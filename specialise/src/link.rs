//! Several modules to one.
