//! A message's values where they cross from one side to the other: as they go ([`Outgoing`]), as they come
//! ([`Filling`]), and in between ([`Letter`]).
//!
//! # Safety: *words of messages*
//! All of it is used at home (see [`crate::home`]), and keeps the home's worker. There is a word for each parameter, of
//! its type, and each is owned by exactly one of them, or by a communication's buffer.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::iter::repeat_n;
use core::mem::take;
use core::ops::Deref;
use core::slice;

use drystone_component::wire::{self, Sink, Source};
use drystone_component::{Message, Parameter, Type};

use super::marshal;
use crate::layout::{TextHead, Worker};
use crate::text;
use crate::values::{Parcel, Value, Values, drop_word, fits, word_of};
use crate::worker::heap_of;

/// A message's values, on their way elsewhere. What nobody takes stays behind and is dropped.
pub struct Outgoing<'a> {
    worker: *mut Worker,
    values: Values<'a>,
    words: *mut u64,
    message: &'static Message,
}

impl<'a> Outgoing<'a> {
    /// The words of a message's parameters.
    ///
    /// # Safety
    /// At home; there is one for each parameter, of that type, and nobody else touches them meanwhile.
    pub(crate) unsafe fn new(worker: *mut Worker, words: *mut u64, message: &'static Message) -> Self {
        // SAFETY: there is a word for each parameter.
        let values = unsafe { Values::new(words, message.parameters.get()) };
        Outgoing { worker, values, words, message }
    }

    /// Appends the values as XDR, by the message's own code if it has some.
    ///
    /// # Errors
    /// What has no form outside the program; then nothing is appended.
    #[inline]
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), String> {
        match self.message.marshalling {
            // SAFETY: the words are those of this message.
            Some(code) => unsafe { marshal::encode(code, self.words, out) },
            None => wire::encode(self.message.types(), self, out),
        }
    }

    /// The component that a parameter is, when this is asked first; `None` where its container was empty. One that
    /// nobody takes is deleted.
    pub fn component(&self, index: usize) -> Option<Parcel> {
        // SAFETY: at home.
        unsafe { self.values.parcel(index, self.worker) }
    }

    /// What makes other messages of the same program's values.
    pub fn letters(&self) -> Letters {
        Letters { worker: self.worker }
    }

    /// All of it, to be kept.
    pub fn into_letter(self) -> Letter {
        let message = self.message;
        // SAFETY: there is a word for each parameter; `take` leaves a word that owns nothing.
        let words = unsafe { slice::from_raw_parts_mut(self.words, message.parameters.length) };
        Letter { worker: self.worker, words: words.iter_mut().map(take).collect(), message }
    }
}

impl<'a> Deref for Outgoing<'a> {
    type Target = Values<'a>;

    fn deref(&self) -> &Values<'a> {
        &self.values
    }
}

impl Source for Outgoing<'_> {
    fn integer(&self, index: usize) -> i64 {
        self.values.integer(index)
    }

    fn real(&self, index: usize) -> f64 {
        self.values.real(index)
    }

    fn byte(&self, index: usize) -> u8 {
        self.values.byte(index)
    }

    fn text(&self, index: usize) -> &[u8] {
        self.values.text(index)
    }

    fn sequence(&self, index: usize) -> Result<Vec<u8>, String> {
        self.values.sequence(index)
    }
}

/// Makes letters, for one who says the same in other messages. It keeps the home's worker, and so stays on its thread.
#[derive(Clone, Copy)]
pub struct Letters {
    worker: *mut Worker,
}

impl Letters {
    /// # Safety
    /// At home, as long as this or a copy of it is used.
    pub(crate) unsafe fn new(worker: *mut Worker) -> Letters {
        Letters { worker }
    }

    /// One of these values.
    ///
    /// # Errors
    /// They are not the message's, or there is no memory.
    pub fn of<'v>(
        self,
        message: &'static Message,
        values: impl IntoIterator<Item = Value<'v>>,
    ) -> Result<Letter, String> {
        self.filled(message, |filling| values.into_iter().try_for_each(|value| filling.put(value)))
    }

    /// One of the values that `fill` gives.
    ///
    /// # Errors
    /// Those of `fill`; or it gives too few.
    pub fn filled(
        self,
        message: &'static Message,
        fill: impl FnOnce(&mut Filling<'_>) -> Result<(), String>,
    ) -> Result<Letter, String> {
        let Letters { worker } = self;
        let mut words: Box<[u64]> = repeat_n(0, message.parameters.length).collect();
        // SAFETY: at home; there is a word for each parameter.
        let mut filling = unsafe { Filling::new(worker, &mut words, message) };
        fill(&mut filling)?;
        if !filling.is_whole() {
            return Err("a message lacks values".into());
        }
        drop(filling);
        Ok(Letter { worker, words, message })
    }
}

/// A message's values on their own. It keeps them as programs do: texts are shared, not copied.
pub struct Letter {
    worker: *mut Worker,
    words: Box<[u64]>,
    message: &'static Message,
}

impl Letter {
    /// The same, to be sent. What the receiver takes is gone from here.
    pub fn as_outgoing(&mut self) -> Outgoing<'_> {
        // SAFETY: only this letter uses its words.
        unsafe { Outgoing::new(self.worker, self.words.as_mut_ptr(), self.message) }
    }

    /// Another one with the same values; empty containers for components, of which there can't be two.
    pub fn copy(&self) -> Letter {
        let of = |(&word, parameter): (&u64, &Parameter)| {
            // SAFETY: the words are those of the parameters.
            unsafe { copy_of(self.worker, word, parameter.ty) }
        };
        let words = self.words.iter().zip(self.message.parameters.get()).map(of);
        Letter { worker: self.worker, words: words.collect(), message: self.message }
    }
}

/// A word with the same value, which owns it.
///
/// # Safety
/// At home; the word is a parameter of that type.
unsafe fn copy_of(worker: *mut Worker, word: u64, ty: Type) -> u64 {
    match ty {
        // SAFETY: the word is a text or a sequence, at home.
        Type::Text | Type::Sequence => unsafe { text::copy(&*heap_of(worker), word as *mut TextHead) as u64 },
        Type::Component => 0,
        _ => word,
    }
}

impl Drop for Letter {
    fn drop(&mut self) {
        for (&word, parameter) in self.words.iter().zip(self.message.parameters.get()) {
            // SAFETY: the letter owns the word.
            unsafe { drop_word(self.worker, word, parameter.ty) }
        }
    }
}

/// A message's values, as they come in from elsewhere.
pub struct Filling<'a> {
    worker: *mut Worker,
    words: &'a mut [u64],
    message: &'static Message,
    filled: usize,
}

impl<'a> Filling<'a> {
    /// Nothing has come yet.
    ///
    /// # Safety
    /// At home; there is a word for each parameter.
    pub(crate) unsafe fn new(worker: *mut Worker, words: &'a mut [u64], message: &'static Message) -> Self {
        Filling { worker, words, message, filled: 0 }
    }

    /// What they are to be.
    fn parameters(&self) -> &'static [Parameter] {
        self.message.parameters.get()
    }

    /// All values at once, out of XDR, by the message's own code if it has some.
    ///
    /// # Errors
    /// What is wrong with the bytes; or there is no memory.
    #[inline]
    pub fn decode(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.clear();
        if let Some(code) = self.message.marshalling {
            // SAFETY: the words are those of the message, and own nothing yet.
            if unsafe { marshal::decode(code, self.worker, bytes, self.words) } {
                self.filled = self.words.len();
                return Ok(());
            }
            // What is wrong is found out in the general way.
            self.parameters().iter().zip(&mut *self.words).for_each(|(parameter, word)| {
                // SAFETY: the word is a parameter of that type, or 0.
                unsafe { drop_word(self.worker, take(word), parameter.ty) }
            });
        }
        wire::decode(self.parameters().iter().map(|parameter| parameter.ty), bytes, self)
    }

    /// The next value.
    ///
    /// # Errors
    /// There is no memory for it; or it isn't one of the next parameter's type.
    pub fn put(&mut self, value: Value<'_>) -> Result<(), String> {
        let parameter = self.parameters().get(self.filled).ok_or("more values than parameters")?;
        if !fits(parameter.ty, &value) {
            return Err("a value of another type than the parameter".into());
        }
        // SAFETY: at home.
        self.words[self.filled] = unsafe { word_of(self.worker, value, parameter)? };
        self.filled += 1;
        Ok(())
    }

    /// All values at once.
    ///
    /// # Errors
    /// They are of another message.
    pub fn put_letter(&mut self, mut letter: Letter) -> Result<(), String> {
        let types = |message: &'static Message| {
            message.parameters.get().iter().map(|parameter| (parameter.ty, parameter.form.get()))
        };
        if self.filled != 0 || !types(self.message).eq(types(letter.message)) {
            return Err("values of another message".into());
        }
        for (to, from) in self.words.iter_mut().zip(letter.words.iter_mut()) {
            *to = take(from);
        }
        self.filled = self.words.len();
        Ok(())
    }

    /// What has come, when it is whole, to be kept as well; as [`Letter::copy`] says.
    pub fn copy(&self) -> Option<Letter> {
        let of = |(&word, parameter): (&u64, &Parameter)| {
            // SAFETY: the words are those of the parameters.
            unsafe { copy_of(self.worker, word, parameter.ty) }
        };
        let words = self.is_whole().then(|| self.words.iter().zip(self.parameters()).map(of).collect())?;
        Some(Letter { worker: self.worker, words, message: self.message })
    }

    /// Drops what was put so far.
    #[inline]
    fn clear(&mut self) {
        if self.filled == 0 {
            return;
        }
        for (&word, parameter) in self.words.iter().zip(self.message.parameters.get()).take(self.filled) {
            // SAFETY: the word owns the value from which it was made.
            unsafe { drop_word(self.worker, word, parameter.ty) }
        }
        self.filled = 0;
    }

    /// All values, when they are there.
    pub(crate) fn values(&mut self) -> Option<Values<'_>> {
        let parameters = self.parameters();
        // SAFETY: the words are those of the parameters, and this one's while it is borrowed.
        self.is_whole().then(|| unsafe { Values::new(self.words.as_mut_ptr(), parameters) })
    }

    /// All of it is there, and what it consists of is the buffer's.
    fn is_whole(&self) -> bool {
        self.filled == self.words.len()
    }
}

impl Sink for Filling<'_> {
    fn integer(&mut self, value: i64) -> Result<(), String> {
        self.put(Value::Integer(value))
    }

    fn real(&mut self, value: f64) -> Result<(), String> {
        self.put(Value::Real(value))
    }

    fn byte(&mut self, value: u8) -> Result<(), String> {
        self.put(Value::Byte(value))
    }

    fn text(&mut self, value: &[u8]) -> Result<(), String> {
        self.put(Value::Text(value))
    }

    fn sequence(&mut self, value: &[u8]) -> Result<(), String> {
        self.put(Value::Sequence(value))
    }
}

impl Drop for Filling<'_> {
    /// What was put into a message that didn't become whole is dropped.
    fn drop(&mut self) {
        if !self.is_whole() {
            self.clear();
        }
    }
}
