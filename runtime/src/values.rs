//! Values of messages, as components written in Rust see them, and as bindings to other machines and kernels do.
//!
//! # Safety of this module: *at home*
//! `worker` is the home worker, and this is its thread. What is made with its address stays on that thread: raw
//! pointers can't be sent to another one. A [`Held`] text and a [`Parcel`] own what they point to.

mod carried;
mod layouts;

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::mem::{ManuallyDrop, take};
use core::ops::Deref;
use core::ptr::null_mut;

use drystone_component::{Parameter, Template, Type};

use crate::instance;
use crate::layout::{Instance, TextHead, Worker};
use crate::text::{self, elsewhere};
use crate::worker::heap_of;

pub use self::carried::{Carried, Reading, Writing};
pub use self::layouts::layout_of;

/// A value to be sent.
pub enum Value<'a> {
    /// INTEGER
    Integer(i64),
    /// REAL
    Real(f64),
    /// CHARACTER, or BOOLEAN as 0 and 1.
    Byte(u8),
    /// TEXT
    Text(&'a [u8]),
    /// A sequence, as XDR.
    Sequence(&'a [u8]),
    /// TEXT that is one of the program's already.
    Held(Held),
    /// A new component, which the receiver will hold.
    Component(Box<dyn Unmade>),
    /// A component that came in another message.
    Parcel(Parcel),
    /// The container of a component is empty.
    Empty,
}

/// A component that is made when it is sent.
pub trait Unmade {
    /// The template of the component.
    fn template(&self) -> &'static Template;

    /// Makes the component, which has no holder yet. Null: no memory.
    ///
    /// # Safety
    /// *At home*.
    unsafe fn make(self: Box<Self>, worker: *mut Worker) -> *mut Instance;
}

/// The values of a message that has come.
#[derive(Clone, Copy)]
pub struct Values<'a> {
    words: *mut u64,
    parameters: &'a [Parameter],
    message: PhantomData<&'a ()>,
}

impl<'a> Values<'a> {
    /// The values of a message, as long as it lasts.
    ///
    /// # Safety
    /// `words` has one word for each parameter, a value of that type. Nobody else touches them during `'a`.
    pub(crate) unsafe fn new(words: *mut u64, parameters: &'a [Parameter]) -> Values<'a> {
        Values { words, parameters, message: PhantomData }
    }

    /// The parameters whose values these are.
    pub fn parameters(&self) -> &'a [Parameter] {
        self.parameters
    }

    fn at(&self, index: usize, types: &[Type]) -> *mut u64 {
        assert!(types.contains(&self.parameters[index].ty));
        self.words.wrapping_add(index)
    }

    fn word(&self, index: usize, types: &[Type]) -> u64 {
        // SAFETY: there is a word for each parameter.
        unsafe { *self.at(index, types) }
    }

    /// Takes a component out of the message. `None`: its container was empty, or the component has been taken.
    ///
    /// # Safety
    /// *At home*.
    pub(crate) unsafe fn parcel(&self, index: usize, worker: *mut Worker) -> Option<Parcel> {
        let word = self.at(index, &[Type::Component]);
        // SAFETY: there is a word for each parameter; nobody else touches it.
        let instance = unsafe { word.replace(0) } as *mut Instance;
        (!instance.is_null()).then_some(Parcel { worker, instance })
    }

    /// Takes a TEXT out of the message, in which an empty one stays.
    ///
    /// # Safety
    /// *At home*.
    pub(crate) unsafe fn held(&self, index: usize, worker: *mut Worker) -> Held {
        let word = self.at(index, &[Type::Text]);
        // SAFETY: there is a word for each parameter; nobody else touches it. 0 is the empty text.
        Held { worker, text: unsafe { word.replace(0) } as *mut TextHead }
    }

    /// An INTEGER.
    pub fn integer(&self, index: usize) -> i64 {
        self.word(index, &[Type::Integer]) as i64
    }

    /// A REAL.
    pub fn real(&self, index: usize) -> f64 {
        f64::from_bits(self.word(index, &[Type::Real]))
    }

    /// A CHARACTER or BOOLEAN.
    pub fn byte(&self, index: usize) -> u8 {
        self.word(index, &[Type::Character, Type::Boolean]) as u8
    }

    /// A TEXT.
    pub fn text(&self, index: usize) -> &'a [u8] {
        // SAFETY: the word is a text that stays where it is as long as the message.
        unsafe { text::bytes(self.word(index, &[Type::Text]) as *const _) }
    }

    /// A sequence, as XDR.
    ///
    /// # Errors
    /// It takes 4 GB or more.
    pub fn sequence(&self, index: usize) -> Result<Vec<u8>, String> {
        let word = self.word(index, &[Type::Sequence]);
        let mut bytes = Vec::with_capacity(256);
        // SAFETY: the word is a sequence of that form, which stays where it is as long as the message.
        unsafe { elsewhere::encode(word, layout_of(&self.parameters[index]), &mut bytes)? };
        if u32::try_from(bytes.len()).is_err() {
            return Err("a sequence of 4 GB or more cannot leave the program".into());
        }
        Ok(bytes)
    }
}

/// A component that came in a message, and has no holder now. If it is not sent on it is deleted.
pub struct Parcel {
    worker: *mut Worker,
    instance: *mut Instance,
}

impl Parcel {
    /// Its template.
    pub fn template(&self) -> &'static Template {
        // SAFETY: the component is alive, and templates live for ever.
        unsafe { &*instance::template_of(self.instance) }
    }

    pub(crate) fn into_word(self) -> u64 {
        ManuallyDrop::new(self).instance as u64
    }
}

impl Drop for Parcel {
    fn drop(&mut self) {
        // SAFETY: the parcel belongs to the home's thread, and nobody holds the component.
        unsafe { instance::drop_in_message(self.worker, self.instance) }
    }
}

/// A text of the program: copies share its bytes.
pub struct Held {
    worker: *mut Worker,
    text: *mut TextHead,
}

impl Held {
    /// A new text. `None`: no memory.
    ///
    /// # Safety
    /// *At home*.
    pub(crate) unsafe fn new(worker: *mut Worker, bytes: &[u8]) -> Option<Held> {
        // SAFETY: *at home*.
        Some(Held { worker, text: unsafe { text::from_bytes(worker, bytes) }.ok()? })
    }

    /// Appends bytes; `false`: no memory. Other holders of the text keep it as it was.
    #[must_use]
    pub fn append(&mut self, bytes: &[u8]) -> bool {
        // SAFETY: this was made *at home*, and holds the text.
        unsafe { text::append_bytes(heap_of(self.worker), &raw mut self.text, bytes).is_ok() }
    }

    pub(crate) fn into_word(self) -> u64 {
        ManuallyDrop::new(self).text as u64
    }
}

impl Deref for Held {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the value holds the text.
        unsafe { text::bytes(self.text) }
    }
}

impl Clone for Held {
    fn clone(&self) -> Held {
        // SAFETY: this was made *at home*, and holds the text.
        Held { worker: self.worker, text: unsafe { text::copy(&*heap_of(self.worker), self.text) } }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let text = core::mem::replace(&mut self.text, null_mut());
        // SAFETY: this was made *at home*, and holds the text.
        unsafe { text::drop(&mut *heap_of(self.worker), text) }
    }
}

/// A TEXT in a message: borrowed bytes, owned bytes, or a text that came in another message. The program sees no
/// difference, but to send on a text that came costs nothing.
#[derive(Clone)]
pub enum Text<'a> {
    /// Borrowed bytes.
    Lent(&'a [u8]),
    /// Owned bytes.
    Own(Vec<u8>),
    /// A text of the program.
    Held(Held),
}

impl Default for Text<'_> {
    fn default() -> Self {
        Text::Lent(&[])
    }
}

impl Text<'_> {
    /// The same without borrowed bytes.
    pub fn into_static(self) -> Text<'static> {
        match self {
            Text::Lent(bytes) => Text::Own(bytes.to_owned()),
            Text::Own(bytes) => Text::Own(bytes),
            Text::Held(held) => Text::Held(held),
        }
    }
}

impl Deref for Text<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Text::Lent(bytes) => bytes,
            Text::Own(bytes) => bytes,
            Text::Held(held) => held,
        }
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&String::from_utf8_lossy(self), f)
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<'a> From<&'a [u8]> for Text<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Text::Lent(bytes)
    }
}

impl<'a> From<&'a Vec<u8>> for Text<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Text::Lent(bytes)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Text<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Text::Lent(bytes)
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Text::Lent(text.as_bytes())
    }
}

impl From<Vec<u8>> for Text<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Text::Own(bytes)
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Text::Own(text.into_bytes())
    }
}

impl From<Held> for Text<'_> {
    fn from(held: Held) -> Self {
        Text::Held(held)
    }
}

/// A component in a message.
#[derive(Default)]
pub enum Part {
    /// The container was empty.
    #[default]
    Empty,
    /// A new one, which the receiver will hold.
    New(Box<dyn Unmade>),
    /// One that came in another message.
    Parcel(Parcel),
}

impl From<Parcel> for Part {
    fn from(parcel: Parcel) -> Part {
        Part::Parcel(parcel)
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Empty => "no component",
            Part::New(unmade) => unmade.template().name.get(),
            Part::Parcel(parcel) => parcel.template().name.get(),
        })
    }
}

/// Reads the values of a message that has come, in order. Generated code uses it.
pub struct Taking<'a> {
    worker: *mut Worker,
    values: Values<'a>,
    next: usize,
}

impl<'a> Taking<'a> {
    /// From the first value on.
    ///
    /// # Safety
    /// *At home*.
    pub(crate) unsafe fn new(worker: *mut Worker, values: Values<'a>) -> Taking<'a> {
        Taking { worker, values, next: 0 }
    }

    fn following(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    /// The next value, an INTEGER.
    pub fn integer(&mut self) -> i64 {
        let index = self.following();
        self.values.integer(index)
    }

    /// The next value, a REAL.
    pub fn real(&mut self) -> f64 {
        let index = self.following();
        self.values.real(index)
    }

    /// The next value, a CHARACTER.
    pub fn character(&mut self) -> u8 {
        let index = self.following();
        self.values.byte(index)
    }

    /// The next value, a BOOLEAN.
    pub fn boolean(&mut self) -> bool {
        self.character() != 0
    }

    /// The next value, a TEXT, as long as the message lasts.
    pub fn lent(&mut self) -> &'a [u8] {
        let index = self.following();
        self.values.text(index)
    }

    /// The next value, a TEXT, to be kept.
    pub fn text(&mut self) -> Text<'static> {
        let index = self.following();
        // SAFETY: this was made *at home*.
        Text::Held(unsafe { self.values.held(index, self.worker) })
    }

    /// The next value, a component.
    pub fn part(&mut self) -> Part {
        let index = self.following();
        // SAFETY: this was made *at home*.
        unsafe { self.values.parcel(index, self.worker) }.map_or(Part::Empty, Part::Parcel)
    }
}

/// Writes the values of a message that is being sent, in order. Generated code uses it.
pub struct Putting<'a> {
    worker: *mut Worker,
    words: *mut u64,
    parameters: &'a [Parameter],
    filled: usize,
    /// There was no memory for one of them.
    pub(crate) is_out_of_memory: bool,
}

impl<'a> Putting<'a> {
    /// From the first value on.
    ///
    /// # Safety
    /// *At home*; `words` has room for a word for each parameter.
    pub(crate) unsafe fn new(
        worker: *mut Worker,
        words: *mut u64,
        parameters: &'a [Parameter],
    ) -> Putting<'a> {
        Putting { worker, words, parameters, filled: 0, is_out_of_memory: false }
    }

    /// The next value.
    pub fn put(&mut self, value: Value<'_>) {
        assert!(fits(self.parameters[self.filled].ty, &value), "a value of another type than the parameter");
        // SAFETY: this was made *at home*.
        let word = unsafe { word_of(self.worker, value, &self.parameters[self.filled]) };
        self.is_out_of_memory |= word.is_err();
        // SAFETY: there is room for each parameter, and the index was checked just now.
        unsafe { self.words.add(self.filled).write(word.unwrap_or(0)) };
        self.filled += 1;
    }

    /// The next value, of a type that owns nothing.
    #[inline]
    fn put_word(&mut self, types: &[Type], word: u64) {
        assert!(
            types.contains(&self.parameters[self.filled].ty),
            "a value of another type than the parameter"
        );
        // SAFETY: there is room for each parameter, and the index was checked just now.
        unsafe { self.words.add(self.filled).write(word) };
        self.filled += 1;
    }

    /// The next value, an INTEGER.
    #[inline]
    pub fn integer(&mut self, value: i64) {
        self.put_word(&[Type::Integer], value as u64);
    }

    /// The next value, a REAL.
    #[inline]
    pub fn real(&mut self, value: f64) {
        self.put_word(&[Type::Real], value.to_bits());
    }

    /// The next value, a CHARACTER.
    #[inline]
    pub fn character(&mut self, value: u8) {
        self.put_word(&[Type::Character, Type::Boolean], value.into());
    }

    /// The next value, a BOOLEAN.
    #[inline]
    pub fn boolean(&mut self, value: bool) {
        self.character(value.into());
    }

    /// The next value, a TEXT.
    pub fn text(&mut self, value: Text<'_>) {
        match value {
            Text::Held(held) => self.put(Value::Held(held)),
            bytes => self.put(Value::Text(&bytes)),
        }
    }

    /// The next value, a component.
    pub fn part(&mut self, value: Part) {
        self.put(match value {
            Part::Empty => Value::Empty,
            Part::New(unmade) => Value::Component(unmade),
            Part::Parcel(parcel) => Value::Parcel(parcel),
        });
    }

    /// Whether all values are there.
    pub(crate) fn is_whole(&self) -> bool {
        self.filled == self.parameters.len()
    }

    /// The message will not be sent: what was put into it is dropped.
    pub(crate) fn undo(&mut self) {
        let filled = take(&mut self.filled);
        for (index, parameter) in self.parameters[..filled].iter().enumerate() {
            // SAFETY: the word owns the value from which it was made.
            unsafe { drop_word(self.worker, *self.words.add(index), parameter.ty) }
        }
    }
}

/// Whether a parameter of this type may take the value.
pub(crate) fn fits(ty: Type, value: &Value<'_>) -> bool {
    match value {
        Value::Integer(_) => ty == Type::Integer,
        Value::Real(_) => ty == Type::Real,
        Value::Byte(_) => matches!(ty, Type::Character | Type::Boolean),
        Value::Text(_) | Value::Held(_) => ty == Type::Text,
        Value::Sequence(_) => ty == Type::Sequence,
        Value::Component(..) | Value::Parcel(_) | Value::Empty => ty == Type::Component,
    }
}

/// A value as a payload word of that parameter, which owns it.
///
/// # Errors
/// There is no memory; or a sequence isn't of the parameter's form.
///
/// # Safety
/// *At home*; the value fits the parameter.
pub(crate) unsafe fn word_of(
    worker: *mut Worker,
    value: Value<'_>,
    parameter: &Parameter,
) -> Result<u64, String> {
    if let Value::Sequence(bytes) = value {
        // SAFETY: *at home*.
        let decoded = elsewhere::decode(unsafe { &mut *heap_of(worker) }, layout_of(parameter), bytes);
        return decoded.map_err(String::from);
    }
    // SAFETY: *at home*.
    unsafe { plain_word_of(worker, value) }.ok_or_else(|| "out of memory".into())
}

/// The same for anything but a sequence. `None`: no memory.
///
/// # Safety
/// *At home*.
unsafe fn plain_word_of(worker: *mut Worker, value: Value<'_>) -> Option<u64> {
    Some(match value {
        Value::Sequence(_) => unreachable!("its form is needed"),
        Value::Integer(x) => x as u64,
        Value::Real(x) => x.to_bits(),
        Value::Byte(x) => x as u64,
        // SAFETY: *at home*.
        Value::Text(x) => unsafe { text::from_bytes(worker, x).ok()? as u64 },
        Value::Held(held) => held.into_word(),
        // SAFETY: *at home*.
        Value::Component(unmade) => unsafe {
            let instance = unmade.make(worker);
            (!instance.is_null()).then_some(instance as u64)?
        },
        Value::Parcel(parcel) => parcel.into_word(),
        Value::Empty => 0,
    })
}

/// Drops what a payload word owns.
///
/// # Safety
/// *At home*; the word owns a value of that type, and is not used any more.
pub(crate) unsafe fn drop_word(worker: *mut Worker, word: u64, ty: Type) {
    // SAFETY: the word owns a value of this type.
    unsafe {
        match ty {
            Type::Text | Type::Sequence => text::drop(&mut *heap_of(worker), word as *mut _),
            Type::Component => instance::drop_in_message(worker, word as *mut _),
            _ => {}
        }
    }
}
