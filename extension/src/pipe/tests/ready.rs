//! Pipes that are there, with what others say they give.
