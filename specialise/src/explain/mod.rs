//! Explains a specialisation to people: a listing of the source with binding times (Figure 7 of *copy elimination*),
//! and a picture of the copies between buffers (its Figures 1 and 4).

mod listing;
mod picture;

pub use listing::listing;
pub use picture::picture;
