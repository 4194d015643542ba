//! A text of a hundred million bytes, whose words are as frequent as those of a language (Zipf's law): the n-th word
//! has 1/n of the first one's frequency.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::places;

const BYTES: usize = 100_000_000;
const DIFFERENT: u64 = 50_000;
const WORDS_IN_A_LINE: usize = 12;

/// The file, made if it is missing.
pub fn file() -> Result<PathBuf, String> {
    let path = places::target().join("words.txt");
    let is_there = path.metadata().is_ok_and(|metadata| metadata.len() >= BYTES as u64);
    // Written under another name first, so that an interrupted run leaves no partial file.
    let begun = path.with_extension("begun");
    match is_there || (write(&begun, BYTES).and_then(|()| fs::rename(&begun, &path))).is_ok() {
        true => Ok(path),
        false => Err(format!("{}: cannot be written", path.display())),
    }
}

fn write(path: &Path, bytes: usize) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let mut random = Random(1);
    let words: Vec<String> = (0..DIFFERENT).map(|_| random.word()).collect();
    let mut sum = 0;
    let sums: Vec<u64> = (0..DIFFERENT)
        .map(|rank| {
            sum += (1 << 32) / (rank + 1);
            sum
        })
        .collect();
    let mut written = 0;
    for number in 1.. {
        let point = random.below(sum);
        let word = &words[sums.partition_point(|&sum| sum <= point)];
        let is_last = usize::is_multiple_of(number, WORDS_IN_A_LINE);
        file.write_all(word.as_bytes())?;
        file.write_all(if is_last { b"\n" } else { b" " })?;
        written += word.len() + 1;
        if is_last && written >= bytes {
            break;
        }
    }
    file.flush()
}

/// A generator of the same numbers everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        // It has a full period, and its upper bits vary well.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 16) % n
    }

    fn word(&mut self) -> String {
        let length = 1 + self.below(4) + self.below(8);
        (0..length).map(|_| char::from(b'a' + self.below(26) as u8)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_as_frequent_as_they_shall_be() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("words");
        write(&path, 100_000).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!((100_000..100_200).contains(&text.len()));
        let mut counts = std::collections::HashMap::new();
        text.split_whitespace().for_each(|word| *counts.entry(word).or_insert(0) += 1);
        let mut counts: Vec<i32> = counts.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let ratio = f64::from(counts[0]) / f64::from(counts[9]);
        assert!((7.0..14.0).contains(&ratio), "{ratio}");
    }
}
