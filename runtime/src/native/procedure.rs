//! Procedures in Rust, for `PROCEDURE {NATIVE}`: how one is declared ([`procedure!`](crate::procedure)), how a program
//! is bound to those that its platform carries ([`bind`]), and how generated code calls one.
//!
//! A procedure gets its arguments by value or as [`Passed`], and gives its result: that is safe Rust. It sees no
//! component and no process, and it doesn't wait. Words of generated code become values here, and values words.
//!
//! # Safety
//! The compiler lays a call's words out as the [`Formal`]s of the procedure's description say, and [`bind`] compares
//! these with the carrier's. So a word of type TEXT is a text, which is live during the call because generated code
//! holds it, and doesn't change meanwhile: nobody can change a text that has two holders, and an only holder is in this
//! call. New texts come from the heap of the worker of this thread. That is so away from home, too: a copy counts
//! holders as [`text::copy`] does.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::slice;
use core::sync::atomic::Ordering::{Acquire, Release};

use drystone_component as model;
use drystone_component::form::{Form, Layout};
use drystone_component::{Formal, Passing, Program, Signature, Type};

use crate::failure::fail;
use crate::layout::{Fault, Process, Status, TextHead, Worker};
use crate::text;
use crate::text::elsewhere::{self, Undecoded};
use crate::worker::{Failure, heap_of};

/// Parameters, and a result, that a procedure may have at most. The compiler lets no program have more.
const MOST: usize = 16;

/// What most procedures have at most: for these a call prepares less.
const FEW: usize = 4;

/// A value on its way to a procedure or back.
#[derive(Clone, Debug, PartialEq)]
pub enum Passed<'t> {
    /// No value.
    Nothing,
    /// INTEGER
    Integer(i64),
    /// REAL
    Real(f64),
    /// BOOLEAN
    Boolean(bool),
    /// CHARACTER
    Character(u8),
    /// TEXT: that of the program, or a new one.
    Text(Cow<'t, [u8]>),
    /// ANY
    Any(AnyValue<'t>),
}

/// A value of any type but components, for `ANY`.
#[derive(Clone, Debug, PartialEq)]
pub struct AnyValue<'t> {
    /// What it consists of: a [`Form`]. The program takes back what is of this form, whatever a procedure does to it.
    pub form: &'t str,
    /// The value as XDR, as sequences have their elements.
    pub bytes: Vec<u8>,
}

/// The arguments of a call, in order.
pub struct Arguments<'s, 't> {
    passed: slice::IterMut<'s, Passed<'t>>,
}

/// What a procedure does; an error is a fault of the component that calls it, with this text.
pub type Code = fn(&mut Arguments<'_, '_>) -> Result<Passed<'static>, String>;

/// A procedure that a crate carries. [`procedure!`](crate::procedure) makes one.
#[derive(Debug)]
pub struct Procedure {
    /// Its name, with that of its file before it: `Hash.Sha256`.
    pub name: &'static str,
    /// Its parameters, and then its result if it has one.
    pub signature: &'static [Formal],
    /// What it does.
    pub code: Code,
}

/// Runs something, and tells why it has panicked if it has. A platform where a panic ends all just runs it.
pub type Guard = fn(&mut dyn FnMut()) -> Result<(), String>;

/// Runs something where a panic ends all.
pub fn unguarded(run: &mut dyn FnMut()) -> Result<(), String> {
    run();
    Ok(())
}

/// What carries a procedure of a program.
struct Carrier {
    procedure: &'static Procedure,
    guard: Guard,
}

/// Binds the procedures that a program calls to those that its platform carries, before it runs.
///
/// # Errors
/// Nobody carries one, or not with this signature.
pub fn bind(
    program: &Program,
    carried: impl Iterator<Item = &'static Procedure> + Clone,
    guard: Guard,
) -> Result<(), String> {
    for &wanted in program.procedures.get() {
        // SAFETY: a program's descriptions live for ever.
        let wanted = unsafe { &*wanted };
        let (name, signature) = (wanted.name.get(), wanted.signature.get());
        let procedure = find(name, signature, carried.clone())?;
        let carrier = Box::leak(Box::new(Carrier { procedure, guard }));
        wanted.carrier.store((&raw mut *carrier).cast(), Release);
    }
    Ok(())
}

/// The procedure of a name.
///
/// # Errors
/// Nobody carries it, or not with this signature.
pub fn find(
    name: &str,
    signature: &[Formal],
    mut carried: impl Iterator<Item = &'static Procedure>,
) -> Result<&'static Procedure, String> {
    let found = carried.find(|procedure| procedure.name == name);
    let found = found.ok_or_else(|| format!("{name} is NATIVE, and nothing here carries it"))?;
    if found.signature != signature {
        let [declared, carried] = [signature, found.signature].map(Signature);
        return Err(format!("{name} is declared as {declared}, and carried as {carried}"));
    }
    Ok(found)
}

/// A call of a procedure. Its words are replaced by what it gives: those of `VARIABLE` parameters and of the result.
/// Texts among these belong to the caller.
///
/// # Safety
/// *Generated code calls*: `p` runs on `w`, the worker of this thread. There is a word for each [`Formal`] of the
/// procedure, as the head of this file says, and then for each `ANY` a text that is its form. If this answers `Leave`,
/// the process leaves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_procedure(
    w: *mut Worker,
    p: *mut Process,
    procedure: &'static model::Procedure,
    words: *mut u64,
    location: u32,
) -> Status {
    // SAFETY: `bind` has put a carrier there before the program began, which lives for ever; it has the signature of
    // the description, by which generated code has laid out the words.
    let (carrier, words) = unsafe {
        let carrier = &*procedure.carrier.load(Acquire).cast::<Carrier>();
        let signature = carrier.procedure.signature;
        let forms = signature.iter().filter(|formal| formal.ty == Type::Component).count();
        (carrier, slice::from_raw_parts_mut(words, signature.len() + forms))
    };
    let is_small = carrier.procedure.signature.len() <= FEW;
    // SAFETY: the words are of these types, and their texts are live during the call.
    let done =
        unsafe { if is_small { call::<FEW>(w, carrier, words) } else { call::<MOST>(w, carrier, words) } };
    match done {
        Ok(()) => Status::Done,
        Err((fault, reason)) => {
            // SAFETY: *generated code calls*, and the process leaves.
            unsafe { fail(w, Failure { reason, ..Failure::of(p, fault, location) }) };
            Status::Leave
        }
    }
}

/// Runs a procedure of at most `N` parameters and results, and replaces the words if it has done what it should.
///
/// # Safety
/// `w` is the worker of this thread; the words are of the types of the carrier's signature, and forms follow.
unsafe fn call<const N: usize>(
    w: *mut Worker,
    carrier: &Carrier,
    words: &mut [u64],
) -> Result<(), (Fault, String)> {
    let &Procedure { name, signature, code } = carrier.procedure;
    let mut passed = [const { Passed::Nothing }; N];
    let mut count = 0;
    let (words, forms) = words.split_at_mut(signature.len());
    // SAFETY: for each `ANY` there is a text of the compiler's.
    let form = |index| unsafe { form_of(signature, forms, index) };
    for (index, formal) in signature.iter().enumerate().filter(|(_, it)| it.passing != Passing::Result) {
        // SAFETY: the word is of this type, and the text is live during the call.
        let read = unsafe { read(words[index], formal.ty, || form(index)) };
        passed[index] = read.map_err(|why| (Fault::InvalidArgument, format!("{name}: {why}")))?;
        count += 1;
    }
    let mut result = Ok(Passed::Nothing);
    let mut run = || result = code(&mut Arguments::new(&mut passed[..count]));
    let done = (carrier.guard)(&mut run);
    done.map_err(|why| (Fault::AssertionFailed, format!("{name} panicked: {why}")))?;
    let result = result.map_err(|why| (Fault::InvalidArgument, format!("{name}: {why}")))?;
    if let Some(last) = passed.get_mut(count) {
        *last = result;
    }
    // SAFETY: as above; the texts that were passed are live.
    unsafe { give(w, signature, &passed, words, form) }.map_err(|fault| (fault, String::new()))
}

/// What the argument for an `ANY` consists of, as generated code passes it.
///
/// # Safety
/// For each `ANY` of the signature there is a form: a text of the compiler's, which lives for ever.
unsafe fn form_of<'t>(signature: &[Formal], forms: &[u64], index: usize) -> &'t str {
    let before = signature[..index].iter().filter(|formal| formal.ty == Type::Component).count();
    // SAFETY: as this function demands.
    let bytes: &'t [u8] = unsafe { text::bytes(forms[before] as *const TextHead) };
    core::str::from_utf8(bytes).unwrap_or_default()
}

/// A word as a value.
///
/// # Errors
/// A value can't be XDR.
///
/// # Safety
/// The word is of this type, for `ANY` of that which the form says; texts are null, or live and unchanged during `'t`.
unsafe fn read<'t>(word: u64, ty: Type, form: impl Fn() -> &'t str) -> Result<Passed<'t>, String> {
    Ok(match ty {
        Type::Integer => Passed::Integer(word as i64),
        Type::Real => Passed::Real(f64::from_bits(word)),
        Type::Boolean => Passed::Boolean(word != 0),
        Type::Character => Passed::Character(word as u8),
        // SAFETY: the text is null or live and unchanged during `'t`.
        Type::Text => Passed::Text(Cow::Borrowed(unsafe { text::bytes(word as *const TextHead) })),
        Type::Component => {
            let (form, mut bytes) = (form(), Vec::with_capacity(256));
            // SAFETY: the value is of that form, and live.
            unsafe { elsewhere::encode(word, &Layout::of(Form::new(form)), &mut bytes)? };
            Passed::Any(AnyValue { form, bytes })
        }
        Type::Sequence => Passed::Nothing,
    })
}

/// Replaces the words of `VARIABLE` parameters and of the result; none if there is no memory.
///
/// # Safety
/// `w` is the worker of this thread; the words are of the signature's types, and their texts live.
unsafe fn give<'t, const N: usize>(
    w: *mut Worker,
    signature: &[Formal],
    passed: &[Passed<'_>; N],
    words: &mut [u64],
    form: impl Fn(usize) -> &'t str,
) -> Result<(), Fault> {
    let mut made = [None; N];
    let mut failed = None;
    for (index, formal) in signature.iter().enumerate().filter(|(_, it)| it.passing != Passing::Value) {
        // SAFETY: as this function demands.
        match unsafe { word(w, &passed[index], words[index], formal.ty, || form(index)) } {
            Ok(word) => made[index] = Some(word),
            Err(fault) => failed = Some(fault),
        }
    }
    for (index, ((made, word), formal)) in made.into_iter().zip(words).zip(signature).enumerate() {
        match (made, failed) {
            (Some(made), None) => *word = made,
            // SAFETY: the value was made just before, and is forgotten.
            (Some(made), _) if is_held(formal.ty, || form(index)) => unsafe {
                text::drop(&mut *heap_of(w), made as *mut TextHead);
            },
            _ => {}
        }
    }
    failed.map_or(Ok(()), Err)
}

/// Whether a value's word is the address of what holds it.
fn is_held<'t>(ty: Type, form: impl Fn() -> &'t str) -> bool {
    match ty {
        Type::Component => Form::new(form()).is_held(),
        ty => ty == Type::Text,
    }
}

/// A value as a word, where there was `before`. A text is a new holder.
///
/// # Safety
/// `w` is the worker of this thread; `before` is a live text or null if the type is TEXT.
unsafe fn word<'t>(
    w: *mut Worker,
    value: &Passed<'_>,
    before: u64,
    ty: Type,
    form: impl Fn() -> &'t str,
) -> Result<u64, Fault> {
    Ok(match (value, ty) {
        (Passed::Integer(value), Type::Integer) => *value as u64,
        (Passed::Real(value), Type::Real) => value.to_bits(),
        (Passed::Boolean(value), Type::Boolean) => u64::from(*value),
        (Passed::Character(value), Type::Character) => u64::from(*value),
        (Passed::Text(value), Type::Text) => {
            let before = before as *mut TextHead;
            // SAFETY: `before` is live or null; only its thread uses a worker's heap.
            unsafe {
                let is_same = core::ptr::eq::<[u8]>(text::bytes(before), &**value);
                let heap = heap_of(w);
                let text = if is_same { text::copy(&*heap, before) } else { text::make(&mut *heap, value)? };
                text as u64
            }
        }
        // Of the form that the program has there, whatever form the procedure left.
        (Passed::Any(AnyValue { bytes, .. }), Type::Component) => {
            let layout = Layout::of(Form::new(form()));
            // SAFETY: only its thread uses a worker's heap.
            let decoded = elsewhere::decode(unsafe { &mut *heap_of(w) }, &layout, bytes);
            decoded.map_err(|why| match why {
                Undecoded::OutOfMemory => Fault::OutOfMemory,
                Undecoded::Wrong(_) => Fault::WrongType,
            })?
        }
        // A procedure that is put together by hand may give something else than it says.
        _ => return Err(Fault::WrongType),
    })
}

/// A method for each type that takes the next argument, by value or as a variable.
macro_rules! take {
    ($($kind:ident: $by_value:ident -> $value:ty, $by_variable:ident -> $variable:ty;)*) => {
        $(
            #[doc = concat!("The next argument, as ", stringify!($value), ".")]
            pub fn $by_value(&mut self) -> $value {
                match self.passed.next() {
                    Some(Passed::$kind(value)) => value.get(),
                    other => unfit(stringify!($kind), other),
                }
            }

            #[doc = concat!("The next argument, as ", stringify!($variable), ".")]
            pub fn $by_variable(&mut self) -> $variable {
                match self.passed.next() {
                    Some(Passed::$kind(value)) => value,
                    other => unfit(stringify!($kind), other),
                }
            }
        )*
    };
}

impl<'s, 't> Arguments<'s, 't> {
    /// These, in order.
    pub fn new(passed: &'s mut [Passed<'t>]) -> Arguments<'s, 't> {
        Arguments { passed: passed.iter_mut() }
    }

    take! {
        Integer: integer -> i64, integer_variable -> &'s mut i64;
        Real: real -> f64, real_variable -> &'s mut f64;
        Boolean: boolean -> bool, boolean_variable -> &'s mut bool;
        Character: character -> u8, character_variable -> &'s mut u8;
        Text: text -> &'s [u8], text_variable -> &'s mut Cow<'t, [u8]>;
        Any: any -> &'s AnyValue<'t>, any_variable -> &'s mut AnyValue<'t>;
    }
}

/// A procedure that is put together by hand takes something else than it says.
fn unfit(wanted: &str, found: Option<&mut Passed<'_>>) -> ! {
    panic!("the signature has no {wanted} there: {found:?}")
}

/// An argument as its procedure takes it by value.
trait Get<T> {
    fn get(self) -> T;
}

impl<T: Copy> Get<T> for &mut T {
    fn get(self) -> T {
        *self
    }
}

impl<'s> Get<&'s [u8]> for &'s mut Cow<'_, [u8]> {
    fn get(self) -> &'s [u8] {
        self
    }
}

impl<'s, 't> Get<&'s AnyValue<'t>> for &'s mut AnyValue<'t> {
    fn get(self) -> &'s AnyValue<'t> {
        self
    }
}

/// What the Rust function of a procedure may give: a value, or an error.
pub trait Outcome {
    /// As the call gives it on.
    ///
    /// # Errors
    /// What the component's fault says.
    fn passed(self) -> Result<Passed<'static>, String>;
}

macro_rules! outcomes {
    ($($ty:ty: $value:ident => $passed:expr;)*) => {
        $(impl Outcome for $ty {
            fn passed(self) -> Result<Passed<'static>, String> {
                let $value = self;
                Ok($passed)
            }
        })*
    };
}

outcomes! {
    (): _nothing => Passed::Nothing;
    i64: value => Passed::Integer(value);
    f64: value => Passed::Real(value);
    bool: value => Passed::Boolean(value);
    u8: value => Passed::Character(value);
    Vec<u8>: value => Passed::Text(Cow::Owned(value));
    String: value => Passed::Text(Cow::Owned(value.into_bytes()));
    &'static [u8]: value => Passed::Text(Cow::Borrowed(value));
    &'static str: value => Passed::Text(Cow::Borrowed(value.as_bytes()));
}

impl<T: Outcome, E: ToString> Outcome for Result<T, E> {
    fn passed(self) -> Result<Passed<'static>, String> {
        self.map_err(|error| error.to_string())?.passed()
    }
}

/// Declares a procedure that a crate carries, by its heading and the function that does it:
///
/// ```
/// use drystone_runtime::native::Procedure;
///
/// static VOWELS: Procedure = drystone_runtime::procedure!(Words.Vowels(TEXT): INTEGER = vowels);
///
/// fn vowels(text: &[u8]) -> i64 {
///     text.iter().filter(|&letter| b"aeiou".contains(letter)).count() as i64
/// }
/// ```
///
/// | type | by value | `VARIABLE` | result |
/// |---|---|---|---|
/// | INTEGER | `i64` | `&mut i64` | `i64` |
/// | REAL | `f64` | `&mut f64` | `f64` |
/// | BOOLEAN | `bool` | `&mut bool` | `bool` |
/// | CHARACTER | `u8` | `&mut u8` | `u8` |
/// | TEXT | `&[u8]` | `&mut Cow<[u8]>` | `Vec<u8>`, `String`, `&'static str` |
/// | ANY | `&AnyValue` | `&mut AnyValue` | |
///
/// A result may be a `Result`, too: its error is a fault of the component that calls.
#[macro_export]
macro_rules! procedure {
    ($file:ident . $name:ident ($($($word:ident)+),*) $(: $result:ident)? = $function:path) => {
        $crate::native::Procedure {
            name: concat!(stringify!($file), ".", stringify!($name)),
            signature: &[
                $($crate::procedure!(@formal $($word)+),)*
                $($crate::procedure!(@formal RESULT $result),)?
            ],
            code: |arguments| {
                let _ = &arguments;
                $crate::native::Outcome::passed($function($($crate::procedure!(@take arguments $($word)+)),*))
            },
        }
    };
    (@formal VARIABLE $ty:ident) => { $crate::procedure!(@formal Variable, $ty) };
    (@formal RESULT $ty:ident) => { $crate::procedure!(@formal Result, $ty) };
    (@formal $passing:ident, $ty:ident) => {
        $crate::native::Formal {
            ty: $crate::procedure!(@type $ty),
            passing: $crate::native::Passing::$passing,
        }
    };
    (@formal $ty:ident) => { $crate::procedure!(@formal Value, $ty) };
    (@type INTEGER) => { $crate::native::Type::Integer };
    (@type REAL) => { $crate::native::Type::Real };
    (@type BOOLEAN) => { $crate::native::Type::Boolean };
    (@type CHARACTER) => { $crate::native::Type::Character };
    (@type TEXT) => { $crate::native::Type::Text };
    (@type ANY) => { $crate::native::Type::Component };
    (@take $arguments:ident INTEGER) => { $arguments.integer() };
    (@take $arguments:ident REAL) => { $arguments.real() };
    (@take $arguments:ident BOOLEAN) => { $arguments.boolean() };
    (@take $arguments:ident CHARACTER) => { $arguments.character() };
    (@take $arguments:ident TEXT) => { $arguments.text() };
    (@take $arguments:ident ANY) => { $arguments.any() };
    (@take $arguments:ident VARIABLE INTEGER) => { $arguments.integer_variable() };
    (@take $arguments:ident VARIABLE REAL) => { $arguments.real_variable() };
    (@take $arguments:ident VARIABLE BOOLEAN) => { $arguments.boolean_variable() };
    (@take $arguments:ident VARIABLE CHARACTER) => { $arguments.character_variable() };
    (@take $arguments:ident VARIABLE TEXT) => { $arguments.text_variable() };
    (@take $arguments:ident VARIABLE ANY) => { $arguments.any_variable() };
}
