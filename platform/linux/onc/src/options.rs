//! What `BY Onc(...)` may say.

use drystone_net::xdr::Integers;

/// The type of a TEXT in the `.x` file for `rpcgen`; the bytes are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Texts {
    /// `opaque<>`: a pointer and a length.
    Opaque,
    /// `string<>`: in C it ends at its first zero byte.
    String,
}

/// Most bytes of a record, if nothing is said.
const LIMIT: usize = 1 << 20;

/// The options, with defaults that follow from the interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// `program`: the program's number; `None`: one for anyone's use, made of the interface's fingerprint.
    pub program: Option<u32>,
    /// `version`: the program's version, by default 1.
    pub version: u32,
    /// `procedures`, such as `GetLength=1,ReadBlock=2`: procedures' numbers, where they aren't the messages' places.
    pub procedures: Vec<(String, u32)>,
    /// `integers`: 32 or 64.
    pub integers: Integers,
    /// `texts`: opaque or string.
    pub texts: Texts,
    /// `open`: clients on other machines may call.
    pub open: bool,
    /// `limit`: most bytes of a record over TCP, and of a connection's unanswered calls.
    pub limit: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            program: None,
            version: 1,
            procedures: Vec::new(),
            integers: Integers::Hyper,
            texts: Texts::Opaque,
            open: false,
            limit: LIMIT,
        }
    }
}

impl Options {
    /// Sets an option to a value, as they are written.
    ///
    /// # Errors
    /// A sentence says what is wrong.
    pub fn set(&mut self, option: &str, value: &str) -> Result<(), String> {
        let refused = |wanted: &str| format!("{option}: {value} is not {wanted}");
        match option {
            "program" => self.program = Some(number(value).ok_or_else(|| refused("a program's number"))?),
            "version" => self.version = number(value).ok_or_else(|| refused("a version's number"))?,
            "procedures" => {
                let wanted = "a list such as GetLength=1,ReadBlock=2 (0 is taken)";
                self.procedures = procedures(value).ok_or_else(|| refused(wanted))?;
            }
            "integers" => {
                self.integers = match value {
                    "32" => Integers::Int,
                    "64" => Integers::Hyper,
                    _ => return Err(refused("32 or 64")),
                }
            }
            "texts" => {
                self.texts = match value {
                    "opaque" => Texts::Opaque,
                    "string" => Texts::String,
                    _ => return Err(refused("opaque or string")),
                }
            }
            "open" => {
                self.open = match value {
                    "TRUE" => true,
                    "FALSE" => false,
                    _ => return Err(refused("TRUE or FALSE")),
                }
            }
            "limit" => {
                let limit = value.parse().ok().filter(|&limit| limit > 0);
                self.limit = limit.ok_or_else(|| refused("a number of bytes"))?;
            }
            _ => {
                let known = "program, version, procedures, integers, texts, open, limit";
                return Err(format!("{option}: there is no such option, only {known}"));
            }
        }
        Ok(())
    }
}

/// A number in decimal, or in hexadecimal with `0x`.
fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn procedures(list: &str) -> Option<Vec<(String, u32)>> {
    let entries = list.split(',').filter(|entry| !entry.trim().is_empty());
    let entry = |entry: &str| {
        let (name, value) = entry.split_once('=')?;
        // Procedure 0 is the null procedure of each program.
        let value = number(value.trim()).filter(|&value| value != 0)?;
        Some((name.trim().to_string(), value))
    };
    entries.map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_taken_as_they_are_written() {
        let mut options = Options::default();
        for (option, value) in [
            ("program", "0x20000001"),
            ("version", "3"),
            ("procedures", "Get=7, Put=9"),
            ("integers", "32"),
            ("texts", "string"),
            ("open", "TRUE"),
            ("limit", "4096"),
        ] {
            options.set(option, value).expect("it is right");
        }
        let procedures = vec![("Get".to_string(), 7), ("Put".to_string(), 9)];
        let wanted = Options {
            program: Some(0x2000_0001),
            version: 3,
            procedures,
            integers: Integers::Int,
            texts: Texts::String,
            open: true,
            limit: 4096,
        };
        assert_eq!(options, wanted);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let refused = |option, value| Options::default().set(option, value).unwrap_err();
        assert_eq!(refused("program", "-1"), "program: -1 is not a program's number");
        assert_eq!(refused("limit", "0"), "limit: 0 is not a number of bytes");
        assert_eq!(refused("integers", "16"), "integers: 16 is not 32 or 64");
        for list in ["Get", "Get=0", "Get=x"] {
            assert!(refused("procedures", list).starts_with("procedures: "), "{list}");
        }
        assert!(refused("speed", "9").contains("there is no such option"));
    }
}
