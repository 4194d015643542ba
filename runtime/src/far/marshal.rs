//! Marshalling by the code that the compiler has made for messages that may leave the program ([`Marshalling`]): that
//! moves numbers itself, and calls this module for texts.
//!
//! # Safety
//! The compiler makes that code for exactly a message's parameters. It reads bytes between two given ends only, and
//! writes as many as it has asked for before. All of it runs at home (see [`crate::home`]).

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::{ptr, slice};

use drystone_component::Marshalling;

use crate::layout::{TextHead, Worker};
use crate::text;

/// Bytes of a number.
const WORD: usize = 4;

/// Appends the values of a message.
///
/// # Errors
/// They are of 4 GB or more.
///
/// # Safety
/// The words are those of the message that the code is for.
pub(super) unsafe fn encode(code: &Marshalling, words: *const u64, out: &mut Vec<u8>) -> Result<(), String> {
    // SAFETY: the code is for these words, and writes as many bytes as it says that they need.
    unsafe {
        let length = (code.length)(words);
        if u32::try_from(length).is_err() {
            return Err("a message of 4 GB or more cannot leave the program".to_string());
        }
        out.reserve(length as usize);
        (code.encode)(words, out.as_mut_ptr().add(out.len()));
        out.set_len(out.len() + length as usize);
    }
    Ok(())
}

/// Makes the values of a message out of bytes; `false`: they are wrong, or there is no memory. Then some of the texts
/// may be there, and the other words are 0 or numbers.
///
/// # Safety
/// The words are those of the message that the code is for, and own nothing.
pub(super) unsafe fn decode(
    code: &Marshalling,
    worker: *mut Worker,
    bytes: &[u8],
    words: &mut [u64],
) -> bool {
    words.fill(0);
    let bytes = bytes.as_ptr_range();
    // SAFETY: the code is for as many words, and reads no bytes but these.
    unsafe { (code.decode)(worker.cast(), bytes.start, bytes.end, words.as_mut_ptr()) != 0 }
}

/// Bytes that fill up to a whole number of words.
fn padding(length: usize) -> usize {
    length.wrapping_neg() % WORD
}

/// The bytes that a text takes: its length, itself, and what fills up the last word.
///
/// # Safety
/// The text is live or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_text_marshalled(text: *const TextHead) -> u64 {
    // SAFETY: the text is live or null.
    let length = unsafe { text::bytes(text) }.len();
    (WORD + length + padding(length)) as u64
}

/// Writes a text; where the next value goes.
///
/// # Safety
/// The text is live or null, and there is room for what [`ds_text_marshalled`] has said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_text_marshal(text: *const TextHead, to: *mut u8) -> *mut u8 {
    // SAFETY: the text is live or null, and there is room for its length, its bytes, and what fills up the last word.
    unsafe {
        let bytes = text::bytes(text);
        ptr::copy_nonoverlapping((bytes.len() as u32).to_be_bytes().as_ptr(), to, WORD);
        let to = to.add(WORD);
        ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
        let to = to.add(bytes.len());
        ptr::write_bytes(to, 0, padding(bytes.len()));
        to.add(padding(bytes.len()))
    }
}

/// Makes a text of the bytes that begin at `from` and end before `end`; where the next value begins, or null if there
/// is no whole text or no memory.
///
/// # Safety
/// On the thread of `w`, the home worker; the bytes can be read; the word can be written, and owns nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_text_unmarshal(
    w: *mut Worker,
    from: *const u8,
    end: *const u8,
    word: *mut u64,
) -> *const u8 {
    // SAFETY: the bytes can be read.
    let bytes = unsafe { slice::from_raw_parts(from, end.offset_from_unsigned(from)) };
    let made = text_of(bytes).and_then(|(text, rest)| {
        // SAFETY: at home; the word can be written, and owns nothing.
        unsafe { word.write(text::from_bytes(w, text).ok()? as u64) };
        Some(rest.as_ptr())
    });
    made.unwrap_or(ptr::null())
}

/// The bytes of the text that comes first, and what follows it.
fn text_of(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<WORD>()?;
    let length = u32::from_be_bytes(*length) as usize;
    let (text, rest) = rest.split_at_checked(length)?;
    let (filler, rest) = rest.split_at_checked(padding(length))?;
    filler.iter().all(|&byte| byte == 0).then_some((text, rest))
}
