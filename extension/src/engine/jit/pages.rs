//! Executable memory on Unix: pages that are written first, and executed then, never both. Small ones are used again, which saves
//! most of what they cost.

extern crate std;

use alloc::{format, string::String, vec::Vec};
use core::ops::Deref;
use std::io;
use std::sync::{Mutex, PoisonError};

use memmap2::{Mmap, MmapMut};

/// Pages with code in them.
#[derive(Debug)]
pub struct Pages {
    /// There until they are dropped.
    map: Option<Mmap>,
    code: usize,
}

/// Bytes of pages that are used again.
const SMALL: usize = 1 << 14;
/// As many of them are kept.
const KEPT: usize = 64;

static FREE: Mutex<Vec<Pages>> = Mutex::new(Vec::new());

/// Puts code into pages of its own.
pub fn pages(code: &[u8]) -> Result<Pages, String> {
    let free =
        if code.len() <= SMALL { FREE.lock().unwrap_or_else(PoisonError::into_inner).pop() } else { None };
    fill(free, code).map_err(|error| format!("there is no memory for code: {error}"))
}

fn fill(free: Option<Pages>, code: &[u8]) -> io::Result<Pages> {
    let (mut map, old) = match free.and_then(|mut pages| Some((pages.map.take()?, pages.code))) {
        Some((map, old)) => (map.make_mut()?, old),
        None => (MmapMut::map_anon(code.len().max(SMALL))?, 0),
    };
    map[..code.len()].copy_from_slice(code);
    if let Some(rest) = map.get_mut(code.len()..old) {
        // int3: nothing of what was there can be executed.
        rest.fill(0xcc);
    }
    Ok(Pages { map: Some(map.make_exec()?), code: code.len() })
}

impl Deref for Pages {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.map.as_ref().map_or(&[], |map| &map[..self.code])
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        let Some(map) = self.map.take().filter(|map| map.len() == SMALL) else { return };
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        if free.len() < KEPT {
            free.push(Pages { map: Some(map), code: self.code });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_are_used_again_have_nothing_of_their_former_code() {
        let first = pages(&[0x90; 100]).unwrap();
        assert_eq!(&*first, [0x90; 100]);
        let second = fill(Some(first), &[0xc3; 10]).unwrap();
        assert_eq!(&*second, [0xc3; 10]);
        assert_eq!(second.map.as_ref().unwrap()[10..100], [0xcc; 90]);
        let large = pages(&[0x90; SMALL + 1]).unwrap();
        assert_eq!(large.len(), SMALL + 1);
    }
}
