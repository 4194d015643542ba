//! Executable memory on Unix (W^X): no address is ever both written and executed.
//!
//! `unsafe` here and in the modules below: memory is mapped, and lent as bytes. That is sound because each piece of
//! code owns its place while it lives, and no address at which it could be written leaves this module.

mod near;
mod own;
#[cfg(target_os = "linux")]
mod pool;

extern crate std;

use alloc::{format, string::String};
use core::ops::Deref;
use std::io;

/// Code in executable memory.
#[derive(Debug)]
pub struct Pages(Kind);

#[derive(Debug)]
enum Kind {
    #[cfg(target_os = "linux")]
    Piece(pool::Piece),
    Own(own::Map),
}

/// Puts code into memory where it can be executed.
///
/// A process that is forked from this one can't run this code: it panics there, and has to compile the program anew.
pub fn pages(code: &[u8]) -> Result<Pages, String> {
    #[cfg(target_os = "linux")]
    if let Some(piece) = pool::place(code) {
        return Ok(Pages(Kind::Piece(piece)));
    }
    let map =
        own::Map::new(code).map_err(|error: io::Error| format!("there is no memory for code: {error}"))?;
    Ok(Pages(Kind::Own(map)))
}

impl Deref for Pages {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.0 {
            #[cfg(target_os = "linux")]
            Kind::Piece(piece) => piece.code(),
            Kind::Own(map) => map.code(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_has_its_place_however_long_it_is() {
        let codes = [1, 100, 511, 512, 513, 5000, 20_000, 300_000].map(|length| std::vec![0x90; length]);
        let all: std::vec::Vec<Pages> = codes.iter().map(|code| pages(code).unwrap()).collect();
        for (pages, code) in all.iter().zip(&codes) {
            assert_eq!(&**pages, code);
        }
    }
}
