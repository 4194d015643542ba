//! The procedures that `Sounds.dry` declares.

use alloc::borrow::Cow;

/// How many vowels a word has.
pub fn vowels(word: &[u8]) -> i64 {
    word.iter().filter(|letter| b"aeiou".contains(letter)).count() as i64
}

/// Whether two words end with the same letters, and with which.
pub fn rhyme(a: &[u8], b: &[u8], ending: &mut Cow<[u8]>) -> bool {
    let same = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    *ending = Cow::Owned(a[a.len() - same..].to_vec());
    same > 1
}

/// A letter of a word.
pub fn letter(word: &[u8], i: i64) -> u8 {
    word[i as usize]
}
