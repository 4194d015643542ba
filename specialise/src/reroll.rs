//! Long runs of equal element copies become loops.
