//! Line numbers and excerpts of the text, for messages.

/// The number of the line at a place, from 1.
pub(super) fn line(text: &str, at: usize) -> u32 {
    let before = &text.as_bytes()[..at.min(text.len())];
    before.iter().filter(|byte| **byte == b'\n').count() as u32 + 1
}

/// The line at a place, without surrounding blanks, and cut off if it is long.
pub(super) fn excerpt(text: &str, at: usize) -> String {
    let at = at.min(text.len());
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[start..].lines().next().unwrap_or("").trim();
    let mut short: String = line.chars().take(160).collect();
    if short.len() < line.len() {
        short.push_str(" ..");
    }
    short
}
