//! C identifiers: unique, and different from the names that C and the rest of the text use.

use std::collections::{BTreeSet, HashMap};

/// Words with a meaning for C, for the headers that the text includes, or for the compilers.
const TAKEN: &str = "auto break case char const continue default do double else enum extern float for goto if inline \
    int long register restrict return short signed sizeof static struct switch typedef union unsigned void volatile \
    while asm typeof bool true false NULL memcpy memmove memset memcmp linux unix main alloca \
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t size_t u128 i128 \
    INT64_C UINT64_C memchr strcpy strncpy strcat strncat strcmp strcoll strncmp strxfrm strchr strcspn \
    strpbrk strrchr strspn strstr strtok strerror strlen index rindex bcmp bcopy bzero ffs strdup strndup \
    strsep stpcpy stpncpy strsignal strnlen strcasecmp strncasecmp strtok_r mempcpy memmem memccpy strchrnul \
    strcasestr basename";

/// Names that are in use.
#[derive(Clone)]
pub(super) struct Names {
    used: BTreeSet<String>,
    /// The last number appended to each wanted name, so that the search need not begin at the first.
    counts: HashMap<String, u32>,
}

impl Names {
    /// The names that every text uses.
    pub fn new() -> Names {
        let used = TAKEN.split_whitespace().chain(super::library::names()).map(str::to_string).collect();
        Names { used, counts: HashMap::new() }
    }

    /// Takes an unused name, as close to the wanted one as possible.
    pub fn take(&mut self, wanted: &str) -> String {
        let wanted = identifier(wanted);
        if self.used.insert(wanted.clone()) {
            return wanted;
        }
        let between = if wanted.ends_with(|last: char| last.is_ascii_digit()) { "_" } else { "" };
        let count = self.counts.entry(wanted.clone()).or_insert(1);
        loop {
            *count += 1;
            let name = format!("{wanted}{between}{count}");
            if self.used.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// A text in which characters that no identifier can contain are replaced.
fn identifier(text: &str) -> String {
    let mut name: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
        name.insert(0, 'v');
    }
    name
}

/// A compiler's name of a value, without the suffixes of passes and inlining; empty if nothing is left.
pub(super) fn plain(name: &str) -> &str {
    let mut name = name;
    while let Some((head, tail)) = name.rsplit_once('.') {
        let is_suffix = tail.chars().all(|c| c.is_ascii_digit())
            || tail.starts_with('i') && tail[1..].chars().all(|c| c.is_ascii_digit())
            || ["lcssa", "addr", "us", "sroa", "coerce", "ph", "pre", "next", "iv", "prol", "epil", "sink"]
                .contains(&tail);
        if !is_suffix {
            break;
        }
        name = head;
    }
    let name = if name == "indvars" { "i" } else { name };
    if name.starts_with(|first: char| first.is_ascii_digit()) { "" } else { name }
}
