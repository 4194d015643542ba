//! The image's command line: settings, as `NAME=VALUE` with the names that executables know (`DRYSTONE_MEMORY`), and
//! the program's arguments. They are separated by blanks, or quoted by `'`; `\` takes the next character as it is.

use alloc::vec::Vec;

use drystone_component::size;

/// The settings of a command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The program's arguments.
    pub(crate) arguments: Vec<Vec<u8>>,
    /// Most bytes for the program; 0: as many as there are.
    pub(crate) memory: usize,
    /// The seed of `RANDOM`.
    pub(crate) seed: Option<u64>,
}

impl Settings {
    pub(crate) fn of(command_line: &[u8]) -> Settings {
        let mut settings = Settings::default();
        for word in words(command_line) {
            if let Some(value) = word.strip_prefix(b"DRYSTONE_MEMORY=") {
                settings.memory = core::str::from_utf8(value).ok().and_then(size::bytes).unwrap_or(0);
            } else if let Some(value) = word.strip_prefix(b"DRYSTONE_SEED=") {
                settings.seed = number(value);
            } else {
                settings.arguments.push(word);
            }
        }
        settings
    }
}

fn number(text: &[u8]) -> Option<u64> {
    core::str::from_utf8(text).ok()?.parse().ok()
}

fn words(text: &[u8]) -> Vec<Vec<u8>> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut is_quoted = false;
    let mut rest = text.iter().copied();
    while let Some(byte) = rest.next() {
        match byte {
            b' ' if !is_quoted => words.extend(word.take()),
            b'\'' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            b'\\' => word.get_or_insert_default().extend(rest.next()),
            _ => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn words_are_as_they_were_said() {
        assert_eq!(words(b" one  'two three' '' fo\\'ur"), [&b"one"[..], b"two three", b"", b"fo'ur"]);
        assert_eq!(words(b""), Vec::<Vec<u8>>::new());
    }

    #[test]
    fn settings_are_no_arguments() {
        let settings = Settings::of(b"DRYSTONE_SEED=7 a DRYSTONE_MEMORY=1k b");
        let arguments = vec![b"a".to_vec(), b"b".to_vec()];
        assert_eq!(settings, Settings { arguments, memory: 1024, seed: Some(7) });
    }
}
