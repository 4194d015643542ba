//! What became of a program, for people: a listing of its source with binding times (Figure 7 of the paper), and a
//! picture of what was copied where (its Figures 1 and 4).

mod listing;
mod picture;

pub use listing::listing;
pub use picture::picture;
