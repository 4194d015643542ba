//! What is refused, and what is said about it.
