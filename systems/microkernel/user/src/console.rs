//! Output of users, which the kernel writes.

use core::fmt::{self, Write};

use crate::calls::{Number, call};

/// The kernel's console.
pub struct Console;

impl Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        call(Number::Write, text.as_ptr() as u64, text.len() as u64);
        Ok(())
    }
}

/// A line of text.
#[macro_export]
macro_rules! say {
    ($($what:tt)*) => {{
        use core::fmt::Write;
        let _ = writeln!($crate::Console, $($what)*);
    }};
}
