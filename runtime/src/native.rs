//! How components are written in Rust: from outside nobody can tell that they are.
//!
//! A native component implements [`Component`]; for each client of an interface that it offers it makes a
//! [`Service`], which runs as a service process like any other: it takes one request at a time and answers by
//! [`Context::send`]. Messages that the client has no room for yet wait in an outbox; the next request is received
//! when that is empty. A service that cannot answer before the platform has done something says
//! [`Context::wait`]: it is called again when its [`Waiter`] is woken, or dropped if the client has gone meanwhile.
//! When the protocol has reached its end, or the client has closed, the service is dropped.
//!
//! The messages of an interface are an enum, made by [`interface!`](crate::interface) from what the component language
//! says about it. The program's description of the same interface is found by its fingerprint when a [`Kind`] is made,
//! once, before anything runs.
//!
//! This module doesn't know what a service does, nor how a platform waits: see the platform module for that.

mod kind;
mod making;
mod process;
mod running;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::marker::PhantomData;

use drystone_component::{Fingerprint, Parameter, Template, Type};

use crate::layout::{Instance, Process, Worker};
use kind::Binding;

pub use kind::Kind;
pub use process::{park, platform, unpark, yield_now};
pub use running::ds_native;
pub(crate) use running::{drop_word, fits, word_of};

/// The messages of an interface, as the Rust side knows them; made by [`interface!`](crate::interface).
pub trait Messages: Copy + Eq + 'static {
    /// Which interface it is.
    const DECLARATION: &'static Declaration;
    /// Every message by its number.
    const ALL: &'static [Self];
    /// Its number.
    fn index(self) -> usize;
}

/// Which interface it is that the Rust side means.
#[derive(Debug)]
pub struct Declaration {
    /// Its name, for messages to people.
    pub name: &'static str,
    /// What tells it from all others.
    pub fingerprint: Fingerprint,
}

/// Declares the messages of an interface, by their numbers: `interface! { Echo [1, 2] { Say, Heard } }` makes an enum
/// `Echo` that implements [`Messages`](crate::native::Messages). The two numbers are the interface's fingerprint, so a
/// build script writes this from the declaration in the component language.
#[macro_export]
macro_rules! interface {
    ($(#[$doc:meta])* $visible:vis $name:ident $fingerprint:tt { $($(#[$about:meta])* $message:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visible enum $name { $($(#[$about])* $message),+ }

        impl $crate::native::Messages for $name {
            const DECLARATION: &'static $crate::native::Declaration = &$crate::native::Declaration {
                name: stringify!($name),
                fingerprint: $crate::component::Fingerprint($fingerprint),
            };
            const ALL: &'static [Self] = &[$($name::$message),+];
            fn index(self) -> usize {
                self as usize
            }
        }
    };
}

/// One client's service.
pub trait Service: 'static {
    /// The messages of its interface.
    type Messages: Messages;

    /// A request has come.
    fn receive(&mut self, cx: &mut Context<'_, Self::Messages>, message: Self::Messages, values: Values<'_>);

    /// It said [`Context::wait`] and has been woken, perhaps for nothing: it tries again.
    fn ready(&mut self, _cx: &mut Context<'_, Self::Messages>) {}
}

/// A component written in Rust: what its services share. It is dropped when the instance is deleted, after they
/// have ended.
pub trait Component: 'static {
    /// A new client: makes the service for the interface that stands at `interface` in the list given to
    /// [`Kind::new`], by [`Serving::new`].
    fn serve(&mut self, interface: usize) -> Serving;
}

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
    /// A new component, which the receiver will hold.
    Component(&'static Kind, Box<dyn Component>),
    /// A component that came in another message.
    Parcel(Parcel),
}

/// The values of a message that has come.
#[derive(Clone, Copy)]
pub struct Values<'a> {
    words: *mut u64,
    parameters: &'a [Parameter],
    message: PhantomData<&'a ()>,
}

impl<'a> Values<'a> {
    /// The words of a message's parameters, for as long as it lasts.
    ///
    /// # Safety
    /// There is one for each parameter, of that type, and nobody else touches them meanwhile.
    pub(crate) unsafe fn new(words: *mut u64, parameters: &'a [Parameter]) -> Values<'a> {
        Values { words, parameters, message: PhantomData }
    }

    /// What they are.
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

    /// A component, for whoever asks first; `None` where its container was empty.
    ///
    /// # Safety
    /// On the home worker's thread, with its worker.
    pub(crate) unsafe fn parcel(&self, index: usize, worker: *mut Worker) -> Option<Parcel> {
        let word = self.at(index, &[Type::Component]);
        // SAFETY: there is a word for each parameter; nobody else touches it.
        let instance = unsafe { word.replace(0) } as *mut Instance;
        (!instance.is_null()).then_some(Parcel { worker, instance })
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
        // SAFETY: the word is a text that the caller of `receive` owns until that returns.
        unsafe { crate::text::bytes(self.word(index, &[Type::Text]) as *const _) }
    }
}

/// A component that came in a message, and that nobody holds now: it is deleted, unless it is sent on.
pub struct Parcel {
    worker: *mut Worker,
    instance: *mut Instance,
}

impl Parcel {
    /// What it is.
    pub fn template(&self) -> &'static Template {
        // SAFETY: it is alive, and templates live for ever.
        unsafe { &*crate::instance::template_of(self.instance) }
    }

    pub(crate) fn into_word(self) -> u64 {
        core::mem::ManuallyDrop::new(self).instance as u64
    }
}

impl Drop for Parcel {
    fn drop(&mut self) {
        // SAFETY: it belongs to the home's thread, and nobody holds the component.
        unsafe { crate::instance::drop_in_message(self.worker, self.instance) }
    }
}

/// A process that waits for the platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// What the platform passes to `wake`.
    pub process: *mut Process,
}

/// What a service can do besides computing.
pub struct Context<'a, M> {
    call: &'a mut Call,
    messages: PhantomData<M>,
}

/// The part of a context that doesn't depend on the interface.
struct Call {
    worker: *mut Worker,
    process: *mut Process,
    binding: &'static Binding,
    outbox: VecDeque<u64>,
    waiting: bool,
    halted: bool,
}

impl<M: Messages> Context<'_, M> {
    /// Sends a message; if the client hasn't taken the one before it, later.
    pub fn send<'v>(&mut self, message: M, values: impl IntoIterator<Item = Value<'v>>) {
        self.call.send(message.index(), &mut values.into_iter());
    }

    /// Nothing more can be done before [`Context::waiter`] is woken: `ready` will be called then.
    pub fn wait(&mut self) {
        self.call.waiting = true;
    }

    /// This process, to be woken.
    pub fn waiter(&self) -> Waiter {
        Waiter { process: self.call.process }
    }

    /// Wakes another service, if it waits.
    pub fn wake(&self, waiter: Waiter) {
        // SAFETY: on the home worker's thread; a waiter is forgotten by whoever holds it when its service is dropped.
        unsafe { unpark(self.call.worker, waiter.process) }
    }

    /// Something happened that the protocol has no message for: reports it and ends the program with status 1.
    pub fn fail(&mut self, reason: &str) {
        // SAFETY: worker and process are those that run.
        unsafe {
            (*platform(self.call.worker)).report(reason.as_bytes());
            crate::failure::ds_halt(self.call.worker, self.call.process, 1);
        }
        self.call.halted = true;
    }
}

/// A service, whatever its interface.
pub struct Serving {
    service: Box<dyn Serve>,
    declaration: &'static Declaration,
}

impl Serving {
    /// Makes one.
    pub fn new<S: Service>(service: S) -> Serving {
        Serving { service: Box::new(Typed(service)), declaration: S::Messages::DECLARATION }
    }
}

trait Serve {
    fn receive(&mut self, call: &mut Call, index: usize, values: Values<'_>);
    fn ready(&mut self, call: &mut Call);
}

struct Typed<S>(S);

impl<S: Service> Serve for Typed<S> {
    fn receive(&mut self, call: &mut Call, index: usize, values: Values<'_>) {
        let message = S::Messages::ALL[index];
        self.0.receive(&mut Context { call, messages: PhantomData }, message, values);
    }

    fn ready(&mut self, call: &mut Call) {
        self.0.ready(&mut Context { call, messages: PhantomData });
    }
}
