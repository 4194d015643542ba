//! A stranger whose texts a program gives to the library's procedures: none of them panics, each gives what its heading
//! says, and what has been read as JSON is written and read again as the same.

#![no_main]

use std::borrow::Cow;

use drystone_library::{ADDITION, PORTABLE};
use drystone_runtime::native::{AnyValue, Arguments, Formal, Passed, Passing, Procedure, Type};

/// Forms, and how many bytes their zeros have.
const FORMS: [(&str, usize); 7] = [
    ("i", 8),
    ("r", 8),
    ("t", 4),
    ("()", 4),
    ("[c", 4),
    ("(name:t,age:i,tags:[t,at:(x:i,y:r,b:b,c:c),rest:[(n:i,s:[[t))", 44),
    ("[(n:i,s:[[t)", 4),
];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let all: Vec<&Procedure> = [&PORTABLE, &ADDITION].into_iter().flat_map(|it| it.procedures).collect();
    let mut source = Source(bytes);
    let procedure = all[source.byte() as usize % all.len()];
    let parameters = procedure.signature.iter().filter(|formal| formal.passing != Passing::Result);
    let mut passed: Vec<Passed> = parameters.clone().map(|formal| source.value(*formal)).collect();
    // What reads a document that was read before gets one.
    if procedure.name.starts_with("Json.Native") && procedure.name != "Json.NativeParse" {
        passed[0] = Passed::Text(Cow::Owned(tape(source.0)));
    }
    let given = call(procedure, &mut passed);
    let result = procedure.signature.iter().find(|formal| formal.passing == Passing::Result);
    match result {
        Some(formal) => assert_eq!(type_of(&given), Some(formal.ty), "{}", procedure.name),
        None => assert_eq!(given, Passed::Nothing),
    }
    for (formal, passed) in parameters.zip(&passed) {
        assert_eq!(type_of(passed), Some(formal.ty), "{}", procedure.name);
    }
    if let ("Json.Read", [_, Passed::Any(value), _]) = (procedure.name, &passed[..]) {
        let write = find(&all, "Json.Of");
        let text = call(write, &mut [Passed::Any(value.clone())]);
        let before = Passed::Any(value.clone());
        let mut again = [text.clone(), before, Passed::Text(Cow::Borrowed(b""))];
        assert_eq!(call(procedure, &mut again), Passed::Boolean(true));
        let [_, value, _] = again;
        assert_eq!(call(write, &mut [value]), text);
    }
});

fn find<'a>(all: &[&'a Procedure], name: &str) -> &'a Procedure {
    all.iter().find(|procedure| procedure.name == name).expect("the library has it")
}

/// The result; a fault is none.
fn call(procedure: &Procedure, passed: &mut [Passed<'_>]) -> Passed<'static> {
    let result = procedure.signature.iter().find(|formal| formal.passing == Passing::Result);
    (procedure.code)(&mut Arguments::new(passed)).unwrap_or_else(|_| zero(result.map(|formal| formal.ty)))
}

fn zero(ty: Option<Type>) -> Passed<'static> {
    match ty {
        Some(Type::Boolean) => Passed::Boolean(false),
        Some(Type::Character) => Passed::Character(0),
        Some(Type::Integer) => Passed::Integer(0),
        Some(Type::Real) => Passed::Real(0.0),
        Some(Type::Text) => Passed::Text(Cow::Borrowed(b"")),
        _ => Passed::Nothing,
    }
}

fn type_of(passed: &Passed<'_>) -> Option<Type> {
    Some(match passed {
        Passed::Nothing => return None,
        Passed::Boolean(_) => Type::Boolean,
        Passed::Character(_) => Type::Character,
        Passed::Integer(_) => Type::Integer,
        Passed::Real(_) => Type::Real,
        Passed::Text(_) => Type::Text,
        Passed::Any(_) => Type::Component,
    })
}

/// What `Json.Parse` keeps of a document; of another text, that of `null`.
fn tape(text: &[u8]) -> Vec<u8> {
    let parse = PORTABLE.procedures.iter().find(|procedure| procedure.name == "Json.NativeParse");
    let parse = parse.expect("the library has it");
    let read = |text: &[u8]| {
        let empty = || Passed::Text(Cow::Owned(Vec::new()));
        let mut passed = [
            Passed::Text(Cow::Owned(text.to_vec())),
            empty(),
            empty(),
            Passed::Integer(0),
            Passed::Integer(0),
        ];
        let is_right = call(parse, &mut passed) == Passed::Boolean(true);
        let [_, Passed::Text(tape), ..] = passed else { unreachable!("it stays a text") };
        is_right.then(|| tape.into_owned())
    };
    read(text).or_else(|| read(b"null")).expect("null is a document")
}

/// Bytes that become arguments.
struct Source<'b>(&'b [u8]);

impl<'b> Source<'b> {
    fn byte(&mut self) -> u8 {
        let (&first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        first
    }

    fn integer(&mut self) -> i64 {
        let kind = self.byte();
        match kind {
            0 => (0..8).fold(0, |all, _| all << 8 | i64::from(self.byte())),
            1 => i64::MAX - i64::from(self.byte()),
            2 => i64::MIN + i64::from(self.byte()),
            // About a time.
            3 => (0..6).fold(0, |all, _| all << 8 | i64::from(self.byte())),
            _ => i64::from(kind) - 128,
        }
    }

    fn text(&mut self) -> &'b [u8] {
        let length = match self.byte() {
            255 => self.0.len(),
            length => self.0.len().min(length.into()),
        };
        let (text, rest) = self.0.split_at(length);
        self.0 = rest;
        text
    }

    fn value(&mut self, formal: Formal) -> Passed<'b> {
        match formal.ty {
            Type::Boolean => Passed::Boolean(self.byte() & 1 != 0),
            Type::Character => Passed::Character(self.byte()),
            Type::Integer => Passed::Integer(self.integer()),
            Type::Real => Passed::Real(f64::from_bits(self.integer() as u64)),
            Type::Text => Passed::Text(Cow::Borrowed(self.text())),
            Type::Component => {
                let (form, zeros) = FORMS[self.byte() as usize % FORMS.len()];
                Passed::Any(AnyValue { form, bytes: vec![0; zeros] })
            }
            Type::Sequence => unreachable!("no procedure takes a sequence alone"),
        }
    }
}
