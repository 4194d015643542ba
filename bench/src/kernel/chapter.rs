//! Writes the microkernel's counts into the book's chapter on kernels.

use std::fs;

use crate::places;

/// The text before and after the counts.
const BEGIN: &str = "-kernel microkernel -append measure\n";
const END: &str = "all threads have ended\n";

/// Writes the counts between them.
pub fn write(said: &str) -> Result<(), String> {
    let path = places::root().join("docs/src/kernel.md");
    let fail = |error: std::io::Error| format!("{}: {error}", path.display());
    let text = fs::read_to_string(&path).map_err(fail)?;
    let text =
        with(&text, said).ok_or_else(|| format!("{}: no place for what is counted", path.display()))?;
    fs::write(&path, text).map_err(fail)
}

fn with(text: &str, said: &str) -> Option<String> {
    let (counts, _) = said.split_once(END)?;
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{counts}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_replace_those_that_were_there() {
        let text = format!("$ qemu {BEGIN}boot 1\n{END}```\n");
        let said = format!("boot 2\nsyscall 53\n{END}\x1estatus 0\n");
        assert_eq!(with(&text, &said).unwrap(), format!("$ qemu {BEGIN}boot 2\nsyscall 53\n{END}```\n"));
        assert_eq!(with("nothing", &said), None);
    }

    #[test]
    fn the_chapter_has_a_place_for_them() {
        let text = fs::read_to_string(places::root().join("docs/src/kernel.md")).expect("it is there");
        assert!(with(&text, END).is_some());
    }
}
