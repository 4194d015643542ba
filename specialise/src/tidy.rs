//! Takes out of a residual function what does nothing.
