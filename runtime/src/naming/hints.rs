//! What BY says: binding factories and their options, the first one nearest to the client.
//!
//! Generated code passes them as a text: for each factory its name, `;`, the number of its options, `;`, then each
//! option as its name, `=`, the number of bytes of its value, `:`, and the value as WRITE spells it. `BY
//! Retried(attempts: 3), Monitored()` is `Retried;1;attempts=1:3Monitored;0;`. The empty text is no BY.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use drystone_component::number;

/// What BY says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hints<'a> {
    /// The first one nearest to the client.
    pub factories: Vec<Factory<'a>>,
}

/// A binding factory with its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factory<'a> {
    /// Its name.
    pub name: &'a str,
    /// Names and values, as written.
    pub options: Vec<(&'a str, &'a [u8])>,
}

impl<'a> Hints<'a> {
    /// Reads the text.
    ///
    /// # Errors
    /// It isn't such a text. The compiler makes no others.
    pub fn parse(text: &'a [u8]) -> Result<Hints<'a>, String> {
        let mut rest = text;
        let mut factories = Vec::new();
        while !rest.is_empty() {
            let factory =
                factory(&mut rest).ok_or_else(|| String::from("the options of BY are not well-formed"))?;
            factories.push(factory);
        }
        Ok(Hints { factories })
    }

    /// Whether there is no BY.
    pub fn is_empty(&self) -> bool {
        self.factories.is_empty()
    }

    /// The value of an option that applies to all factories: the first factory that has it says so.
    pub fn option(&self, name: &str) -> Option<&'a [u8]> {
        self.factories.iter().find_map(|factory| factory.option(name))
    }

    /// The same for an INTEGER.
    ///
    /// # Errors
    /// It is none; says so.
    pub fn integer(&self, name: &str) -> Result<Option<i64>, String> {
        self.factories
            .iter()
            .map(|factory| factory.integer(name))
            .find(|found| *found != Ok(None))
            .unwrap_or(Ok(None))
    }
}

impl Hints<'_> {
    /// How many messages of a communication may wait or be on their way, as BY says.
    ///
    /// # Errors
    /// It is no such number; says so.
    pub fn capacity(&self) -> Result<Option<u32>, String> {
        let Some(capacity) = self.integer("capacity")? else { return Ok(None) };
        let capacity = u32::try_from(capacity).ok().filter(|capacity| (1..=1_000_000).contains(capacity));
        capacity.map(Some).ok_or_else(|| String::from("capacity is from 1 to 1000000"))
    }
}

impl<'a> Factory<'a> {
    /// The value of an option.
    pub fn option(&self, name: &str) -> Option<&'a [u8]> {
        self.options.iter().find(|option| option.0 == name).map(|option| option.1)
    }

    /// The value of an option that is an INTEGER.
    ///
    /// # Errors
    /// It is none; says so.
    pub fn integer(&self, name: &str) -> Result<Option<i64>, String> {
        self.read(name, "an INTEGER", number::parse_integer)
    }

    /// The value of an option that is a REAL, or an INTEGER.
    ///
    /// # Errors
    /// It is none; says so.
    pub fn real(&self, name: &str) -> Result<Option<f64>, String> {
        self.read(name, "a REAL", number::parse_real)
    }

    /// The value of an option that is a BOOLEAN.
    ///
    /// # Errors
    /// It is none; says so.
    pub fn boolean(&self, name: &str) -> Result<Option<bool>, String> {
        self.read(name, "TRUE or FALSE", |value| match value {
            b"TRUE" => Some(true),
            b"FALSE" => Some(false),
            _ => None,
        })
    }

    fn read<T>(
        &self,
        name: &str,
        wanted: &str,
        read: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, String> {
        let Some(value) = self.option(name) else { return Ok(None) };
        read(value).map(Some).ok_or_else(|| {
            let given = String::from_utf8_lossy(value);
            format!("{}: {name} is {wanted}, not \"{given}\"", self.name)
        })
    }
}

fn factory<'a>(rest: &mut &'a [u8]) -> Option<Factory<'a>> {
    let name = word(rest, b';')?;
    let count: usize = word(rest, b';')?.parse().ok()?;
    let options = (0..count).map(|_| option(rest)).collect::<Option<_>>()?;
    Some(Factory { name, options })
}

fn option<'a>(rest: &mut &'a [u8]) -> Option<(&'a str, &'a [u8])> {
    let name = word(rest, b'=')?;
    let length: usize = word(rest, b':')?.parse().ok()?;
    let (value, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    Some((name, value))
}

/// What stands before a separator, which goes too.
fn word<'a>(rest: &mut &'a [u8], separator: u8) -> Option<&'a str> {
    let end = rest.iter().position(|&byte| byte == separator)?;
    let word = core::str::from_utf8(&rest[..end]).ok().filter(|word| !word.is_empty())?;
    *rest = &rest[end + 1..];
    Some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factories_come_with_their_options() {
        let text = b"Retried;2;attempts=1:3note=4:a;=:Monitored;0;Tcp;3;capacity=2:16pause=3:0.5on=4:TRUE";
        let hints = Hints::parse(text).unwrap();
        let names: Vec<_> = hints.factories.iter().map(|factory| factory.name).collect();
        assert_eq!(names, ["Retried", "Monitored", "Tcp"]);
        assert_eq!(hints.factories[0].integer("attempts"), Ok(Some(3)));
        assert_eq!(hints.factories[0].option("note"), Some(&b"a;=:"[..]));
        assert_eq!(hints.factories[1].integer("attempts"), Ok(None));
        assert_eq!(hints.factories[2].real("pause"), Ok(Some(0.5)));
        assert_eq!(hints.factories[2].real("capacity"), Ok(Some(16.0)));
        assert_eq!(hints.factories[2].boolean("on"), Ok(Some(true)));
        assert_eq!(hints.integer("capacity"), Ok(Some(16)));
        assert_eq!(hints.integer("deadline"), Ok(None));
        assert!(Hints::parse(b"").unwrap().is_empty());
    }

    #[test]
    fn a_value_of_another_type_is_said() {
        let hints = Hints::parse(b"Retried;2;attempts=4:manyquick=3:YES").unwrap();
        let many = hints.factories[0].integer("attempts").unwrap_err();
        assert_eq!(many, "Retried: attempts is an INTEGER, not \"many\"");
        let yes = hints.factories[0].boolean("quick").unwrap_err();
        assert_eq!(yes, "Retried: quick is TRUE or FALSE, not \"YES\"");
        assert_eq!(hints.integer("attempts").unwrap_err(), many);
    }

    #[test]
    fn a_capacity_is_a_number_of_messages() {
        let capacity = |value: &str| {
            let text = format!("Monitored;0;Tcp;1;capacity={}:{value}", value.len());
            Hints::parse(text.as_bytes()).unwrap().capacity()
        };
        assert_eq!(Hints::default().capacity(), Ok(None));
        assert_eq!((capacity("1"), capacity("1000000")), (Ok(Some(1)), Ok(Some(1_000_000))));
        for wrong in ["0", "-1", "1000001", "4294967297"] {
            assert_eq!(capacity(wrong).unwrap_err(), "capacity is from 1 to 1000000");
        }
    }

    #[test]
    fn what_is_cut_off_or_odd_is_refused() {
        let whole = b"Retried;1;attempts=2:10Monitored;0;";
        for length in 1..whole.len() {
            let is_whole = [23, 35].contains(&length);
            assert_eq!(Hints::parse(&whole[..length]).is_ok(), is_whole, "{length}");
        }
        for odd in
            [&b";0;"[..], b"A;-1;", b"A;99999999999999999999;", b"A;1;b=18446744073709551615:x", b"\xFF;0;"]
        {
            assert!(Hints::parse(odd).is_err());
        }
    }
}
