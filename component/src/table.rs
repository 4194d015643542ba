//! Strings and tables in read-only data, of which descriptions consist.

use core::slice;

/// A string in a program's read-only data.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Str {
    /// First byte; may dangle if `length` is 0.
    pub bytes: *const u8,
    /// Number of bytes, UTF-8.
    pub length: usize,
}

/// A table in a program's read-only data.
#[repr(C)]
pub struct Table<T: 'static> {
    /// First entry; may dangle if `length` is 0.
    pub first: *const T,
    /// Number of entries.
    pub length: usize,
}

impl<T> Clone for Table<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Table<T> {}

// SAFETY: a `Str` is a `&'static str` in another form.
unsafe impl Sync for Str {}
// SAFETY: a `&'static str` may be sent to other threads.
unsafe impl Send for Str {}
// SAFETY: a `Table<T>` is a `&'static [T]` in another form.
unsafe impl<T: Sync> Sync for Table<T> {}
// SAFETY: a `&'static [T]` may be sent to other threads if `T` may be shared.
unsafe impl<T: Sync> Send for Table<T> {}

impl Str {
    /// Describes a Rust string.
    pub const fn new(text: &'static str) -> Str {
        Str { bytes: text.as_ptr(), length: text.len() }
    }

    /// The string itself.
    pub fn get(&self) -> &'static str {
        if self.length == 0 {
            return "";
        }
        // SAFETY: `bytes` and `length` come from a `&'static str` (`new`), or from the compiler, which puts UTF-8
        // source text into read-only data.
        unsafe { core::str::from_utf8_unchecked(slice::from_raw_parts(self.bytes, self.length)) }
    }
}

impl<T> Table<T> {
    /// Describes a Rust slice.
    pub const fn new(entries: &'static [T]) -> Table<T> {
        Table { first: entries.as_ptr(), length: entries.len() }
    }

    /// The entries.
    pub fn get(&self) -> &'static [T] {
        if self.length == 0 {
            return &[];
        }
        // SAFETY: `first` and `length` come from a `&'static [T]` (`new`), or from the compiler, which puts as many
        // entries into read-only data.
        unsafe { slice::from_raw_parts(self.first, self.length) }
    }
}
