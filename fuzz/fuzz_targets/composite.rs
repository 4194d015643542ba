//! Composite calls: bytes of strangers are refused or run within their budget; and programs that are made of bytes do
//! the same in the tree's interpreter, the bytecode's and compiled, at once and piece by piece.

#![no_main]

#[path = "../../extension/tests/composite/executors.rs"]
mod executors;
#[path = "../../extension/tests/composite/generate.rs"]
mod generate;
#[path = "../../extension/tests/composite/script.rs"]
mod script;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    match first % 4 {
        0 => _ = executors::take(rest, &[]),
        // Some of a generated program's words are others.
        1 => {
            let (changes, rest) = rest.split_at(rest.len().min(8));
            let mut encoded = generate::program(rest).encode();
            let words = encoded.len() / 4;
            for change in changes.chunks_exact(4) {
                let at = 4 * (u16::from_le_bytes([change[0], change[1]]) as usize % words);
                encoded[at..at + 4].copy_from_slice(&[0, 0, change[2] & change[3], change[3]]);
            }
            executors::take(&encoded, rest);
        }
        _ => {
            let (program, values) = rest.split_at(rest.len() * 3 / 4);
            executors::agree(program, values);
        }
    }
});
