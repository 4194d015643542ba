//! The specialiser as a whole: what it makes of C, of IR, and of generated programs.

mod c;
mod contexts;
mod corpus;
mod differential;
mod generate;
mod interpreters;
mod invalid;
mod linkage;
mod mutated;
mod paper;
mod passes;
mod rerolled;
mod residual;
mod toolchain;
mod torn;
