//! What programs find on each platform (language reference, section 8), as far as it is the same everywhere.

pub mod arguments;
pub mod canvas;
pub mod graphic_view;
pub mod lines;
