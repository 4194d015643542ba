//! A window in memory onto a file: single bytes are read and written in it, at any position.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use memchr::memchr;

use crate::disk::DiskFile;

/// Bytes of a window.
const WINDOW: usize = 16 * 1024;

/// A file with a position.
pub(crate) struct Window {
    file: DiskFile,
    /// The window's position in the file.
    start: u64,
    bytes: Vec<u8>,
    /// The window has changes that aren't in the file.
    changed: bool,
    position: u64,
}

/// What ends a part of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Line,
    File,
}

impl Window {
    pub(crate) fn new(file: File) -> Window {
        Window { file: DiskFile::new(file), start: 0, bytes: Vec::new(), changed: false, position: 0 }
    }

    /// Where the next byte is read or written.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Sets the position. It may be beyond the end: a write there fills the gap with zeros.
    pub(crate) fn set_position(&mut self, position: u64) {
        self.position = position;
    }

    /// Bytes of the file, including those that are only in the window.
    pub(crate) fn length(&self) -> io::Result<u64> {
        let length = self.file.metadata()?.len();
        Ok(if self.changed { length.max(self.end()) } else { length })
    }

    /// The byte at the position, which moves on; `None` at the end.
    pub(crate) fn read_byte(&mut self) -> io::Result<Option<u8>> {
        let Some(&byte) = self.ahead()?.first() else { return Ok(None) };
        self.position += 1;
        Ok(Some(byte))
    }

    /// Shows a part of the line at the position, without its end (`\n`), and says whether it is the last part.
    pub(crate) fn read_part(
        &mut self,
        show: impl FnOnce(&[u8]) -> io::Result<()>,
    ) -> io::Result<Option<Ended>> {
        let ahead = self.ahead()?;
        if ahead.is_empty() {
            return Ok(Some(Ended::File));
        }
        let found = memchr(b'\n', ahead);
        let taken = found.unwrap_or(ahead.len());
        show(&ahead[..taken])?;
        self.position += taken as u64 + u64::from(found.is_some());
        Ok(found.map(|_| Ended::Line))
    }

    /// Writes at the position, which moves on.
    pub(crate) fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let inside = (self.start..=self.end()).contains(&self.position);
            if !inside || self.position - self.start == WINDOW as u64 {
                self.update()?;
                self.bytes.clear();
                self.start = self.position;
            }
            let at = (self.position - self.start) as usize;
            let taken = bytes.len().min(WINDOW - at);
            let (now, later) = bytes.split_at(taken);
            let over = taken.min(self.bytes.len() - at);
            self.bytes[at..at + over].copy_from_slice(&now[..over]);
            self.bytes.extend_from_slice(&now[over..]);
            self.changed = true;
            self.position += taken as u64;
            bytes = later;
        }
        Ok(())
    }

    /// Writes the changes to the file, where other programs see them.
    pub(crate) fn update(&mut self) -> io::Result<()> {
        if self.changed {
            // It isn't tried again, even if it fails.
            self.changed = false;
            self.file.write_all_at(&self.bytes, self.start)?;
            self.file.has_written(self.bytes.len() as u64);
        }
        Ok(())
    }

    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// The window's bytes from the position on, after moving it if necessary; empty at the end.
    fn ahead(&mut self) -> io::Result<&[u8]> {
        if !(self.start..self.end()).contains(&self.position) {
            self.update()?;
            self.start = self.position;
            self.bytes.resize(WINDOW, 0);
            let read = read_at(&self.file, &mut self.bytes, self.start);
            self.bytes.truncate(*read.as_ref().unwrap_or(&0));
            read?;
        }
        Ok(&self.bytes[(self.position - self.start) as usize..])
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // For files that weren't closed: a failure can't be reported.
        let _ = self.update();
    }
}

/// Reads at `position`. Returns less than requested only at the end.
pub(crate) fn read_at(file: &File, bytes: &mut [u8], position: u64) -> io::Result<usize> {
    let mut read = 0;
    while read < bytes.len() {
        match file.read_at(&mut bytes[read..], position + read as u64) {
            Ok(0) => break,
            Ok(n) => read += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window() -> Window {
        Window::new(tempfile::tempfile().unwrap())
    }

    #[test]
    fn what_was_written_is_read() {
        let mut w = window();
        w.write(b"one\ntwo\r\n\nlast").unwrap();
        assert_eq!(w.length().unwrap(), 14);
        assert_eq!(w.read_byte().unwrap(), None);
        w.set_position(0);
        let mut parts = Vec::new();
        let mut read = || {
            let add = |part: &[u8]| {
                parts.push(part.to_vec());
                Ok(())
            };
            w.read_part(add).unwrap()
        };
        assert_eq!([read(), read(), read()], [Some(Ended::Line); 3]);
        assert_eq!([read(), read()], [None, Some(Ended::File)]);
        assert_eq!(parts, [&b"one"[..], b"two\r", b"", b"last"]);
    }

    #[test]
    fn a_hole_is_zeros() {
        let mut w = window();
        w.set_position(100_000);
        w.write(b"x").unwrap();
        w.set_position(5);
        assert_eq!(w.read_byte().unwrap(), Some(0));
        w.set_position(100_000);
        assert_eq!(w.read_byte().unwrap(), Some(b'x'));
        assert_eq!(w.length().unwrap(), 100_001);
    }

    #[test]
    fn any_order_of_reads_and_writes_is_that_of_an_array() {
        let mut w = window();
        let mut model: Vec<u8> = Vec::new();
        let mut random = 1u64;
        let mut next = |n: u64| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (random >> 33) % n
        };
        for _ in 0..20_000 {
            match next(4) {
                0 => w.set_position(next(70_000)),
                1 => {
                    let bytes: Vec<u8> = (0..next(300)).map(|_| next(256) as u8).collect();
                    let at = w.position() as usize;
                    w.write(&bytes).unwrap();
                    if !bytes.is_empty() {
                        model.resize(model.len().max(at + bytes.len()), 0);
                        model[at..at + bytes.len()].copy_from_slice(&bytes);
                    }
                }
                2 => {
                    for _ in 0..next(100) {
                        let at = w.position() as usize;
                        assert_eq!(w.read_byte().unwrap(), model.get(at).copied());
                    }
                }
                _ => assert_eq!(w.length().unwrap(), model.len() as u64),
            }
        }
        w.update().unwrap();
        let mut bytes = vec![0; model.len() + 1];
        assert_eq!(read_at(&w.file, &mut bytes, 0).unwrap(), model.len());
        assert_eq!(bytes[..model.len()], model[..]);
    }
}
