//! The form of a value: what it consists of, as a text, which describes the elements of sequences.
//!
//! A BOOLEAN is `b`, a CHARACTER `c`, an INTEGER `i`, a REAL `r`, a TEXT `t`; a sequence is `[` and the form of its
//! elements; and a record is `(`, its fields, each a name, `:` and a form, with commas between them, and `)`. A
//! sequence of points is `[(x:i,y:i)`.

use alloc::boxed::Box;

use crate::interface::{Parameter, Type};

/// A form. Texts that are none make its methods panic: forms come from compilers, never from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form<'a>(&'a str);

/// What a value is.
#[derive(Clone, Copy, Debug)]
pub enum Kind<'a> {
    /// `BOOLEAN`
    Boolean,
    /// `CHARACTER`
    Character,
    /// `INTEGER`
    Integer,
    /// `REAL`
    Real,
    /// `TEXT`
    Text,
    /// A sequence with such elements.
    Sequence(Form<'a>),
    /// A record with these fields.
    Record(Fields<'a>),
}

/// The fields of a record, in the order in which they are declared.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a>(&'a str);

/// A form that is read once, for what goes through many values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// `BOOLEAN`
    Boolean,
    /// `CHARACTER`
    Character,
    /// `INTEGER`
    Integer,
    /// `REAL`
    Real,
    /// `TEXT`
    Text,
    /// A sequence with such elements.
    Sequence(Box<Layout>),
    /// A record with these fields, in the order in which they are declared: for each its word, as [`Fields::words`]
    /// says.
    Record(Box<[(usize, Layout)]>),
}

impl Layout {
    /// What the form says.
    pub fn of(form: Form<'_>) -> Layout {
        match form.kind() {
            Kind::Boolean => Layout::Boolean,
            Kind::Character => Layout::Character,
            Kind::Integer => Layout::Integer,
            Kind::Real => Layout::Real,
            Kind::Text => Layout::Text,
            Kind::Sequence(element) => Layout::Sequence(Box::new(Layout::of(element))),
            Kind::Record(fields) => {
                Layout::Record(fields.words().map(|(word, form)| (word, Layout::of(form))).collect())
            }
        }
    }

    /// Whether the word of such a value is a pointer, to what counts its holders.
    pub fn is_held(&self) -> bool {
        matches!(self, Layout::Text | Layout::Sequence(_) | Layout::Record(_))
    }
}

impl<'a> Form<'a> {
    /// The first form of a text.
    pub fn new(text: &'a str) -> Form<'a> {
        Form(&text[..length(text.as_bytes())])
    }

    /// The form that a text from outside is; `None`: it is none.
    pub fn checked(text: &'a str) -> Option<Form<'a>> {
        behind(text.as_bytes(), DEEPEST).is_some_and(<[u8]>::is_empty).then_some(Form(text))
    }

    /// What a parameter consists of.
    ///
    /// # Panics
    /// It is a component.
    pub fn of(parameter: &Parameter) -> Form<'_> {
        let sequence = || Form(parameter.form.get());
        assert!(parameter.ty != Type::Component, "a component has no form");
        Form::plain(parameter.ty).unwrap_or_else(sequence)
    }

    /// The form of values of a type, where that says it: of all but sequences and components.
    pub fn plain(ty: Type) -> Option<Form<'static>> {
        Some(Form(match ty {
            Type::Boolean => "b",
            Type::Character => "c",
            Type::Integer => "i",
            Type::Real => "r",
            Type::Text => "t",
            Type::Sequence | Type::Component => return None,
        }))
    }

    /// As text.
    pub fn text(self) -> &'a str {
        self.0
    }

    /// What the value is.
    pub fn kind(self) -> Kind<'a> {
        match self.0.as_bytes()[0] {
            b'b' => Kind::Boolean,
            b'c' => Kind::Character,
            b'i' => Kind::Integer,
            b'r' => Kind::Real,
            b't' => Kind::Text,
            b'[' => Kind::Sequence(Form(&self.0[1..])),
            _ => Kind::Record(Fields(&self.0[1..self.0.len() - 1])),
        }
    }

    /// Whether the word of such a value is a pointer, to what counts its holders.
    pub fn is_held(self) -> bool {
        matches!(self.0.as_bytes()[0], b't' | b'[' | b'(')
    }

    /// Whether there is a REAL in it.
    pub fn has_real(self) -> bool {
        match self.kind() {
            Kind::Real => true,
            Kind::Sequence(element) => element.has_real(),
            Kind::Record(mut fields) => fields.any(|(_, form)| form.has_real()),
            _ => false,
        }
    }
}

impl<'a> Fields<'a> {
    /// For each field, in order, the word of the record in which it is: those that are held come first.
    pub fn words(self) -> impl Iterator<Item = (usize, Form<'a>)> {
        let mut held = 0;
        let mut plain = self.filter(|(_, form)| form.is_held()).count();
        self.map(move |(_, form)| {
            let next = if form.is_held() { &mut held } else { &mut plain };
            *next += 1;
            (*next - 1, form)
        })
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (&'a str, Form<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, rest) = self.0.split_once(':')?;
        let form = Form::new(rest);
        let rest = &rest[form.0.len()..];
        self.0 = rest.strip_prefix(',').unwrap_or(rest);
        Some((name, form))
    }
}

/// How deep forms from outside may be.
const DEEPEST: usize = 256;

/// What follows behind the first form of a text; `None`: it doesn't begin with one.
fn behind(text: &[u8], deepest: usize) -> Option<&[u8]> {
    let (first, mut rest) = text.split_first()?;
    match first {
        b'b' | b'c' | b'i' | b'r' | b't' => Some(rest),
        b'[' => behind(rest, deepest.checked_sub(1)?),
        b'(' if rest.first() == Some(&b')') => Some(&rest[1..]),
        b'(' => loop {
            let colon = rest.iter().position(|byte| *byte == b':')?;
            let is_name = rest[..colon].first().is_some_and(u8::is_ascii_alphabetic)
                && rest[..colon].iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
            let field = behind(&rest[colon + 1..], deepest.checked_sub(1)?).filter(|_| is_name)?;
            let (next, more) = field.split_first()?;
            match next {
                b',' => rest = more,
                b')' => return Some(more),
                _ => return None,
            }
        },
        _ => None,
    }
}

/// How many bytes the first form takes.
fn length(text: &[u8]) -> usize {
    match text[0] {
        b'[' => 1 + length(&text[1..]),
        b'(' => {
            let mut open = 0;
            let closes = |byte: &u8| {
                open += i32::from(*byte == b'(') - i32::from(*byte == b')');
                open == 0
            };
            1 + text.iter().position(closes).expect("a record has its end")
        }
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    use super::*;

    fn shown(form: Form<'_>) -> String {
        match form.kind() {
            Kind::Sequence(element) => String::from("SEQUENCE OF ") + &shown(element),
            Kind::Record(fields) => {
                let fields: Vec<String> =
                    fields.map(|(name, form)| name.to_string() + " " + &shown(form)).collect();
                String::from("{") + &fields.join(", ") + "}"
            }
            plain => alloc::format!("{plain:?}"),
        }
    }

    #[test]
    fn what_is_no_form_is_found_out() {
        for form in ["i", "[t", "()", "[(a:i,rest:[(),p:(x:r,y_2:[[t),last:b)"] {
            assert_eq!(Form::checked(form), Some(Form(form)));
            assert_eq!(Form::checked(&(String::from(form) + "i")), None, "{form} and more");
            (0..form.len()).for_each(|end| assert_eq!(Form::checked(&form[..end]), None, "{form} to {end}"));
        }
        for text in ["x", "(i)", "(:i)", "(a:i;b:i)", "(a:i,)", "(1:i)", "(a.b:i)"] {
            assert_eq!(Form::checked(text), None, "{text}");
        }
        assert_eq!(Form::checked(&("[".repeat(1_000_000) + "i")), None);
    }

    #[test]
    fn forms_are_read_as_they_are_meant() {
        let form = Form::new("[(a:i,rest:[(),p:(x:r,y:[[t),last:b)");
        let expected = "SEQUENCE OF {a Integer, rest SEQUENCE OF {}, \
            p {x Real, y SEQUENCE OF SEQUENCE OF Text}, last Boolean}";
        assert_eq!(shown(form), expected);
        assert!(form.has_real() && !Form::new("(a:[t,b:i)").has_real());
        let Kind::Sequence(element) = form.kind() else { panic!("it is a sequence") };
        let Kind::Record(fields) = element.kind() else { panic!("it is a record") };
        let words: Vec<usize> = fields.words().map(|(word, _)| word).collect();
        assert_eq!(words, [2, 0, 1, 3]);
        let Layout::Sequence(element) = Layout::of(form) else { panic!("it is a sequence") };
        let Layout::Record(fields) = *element else { panic!("it is a record") };
        assert_eq!(fields.iter().map(|(word, _)| *word).collect::<Vec<_>>(), words);
    }
}
