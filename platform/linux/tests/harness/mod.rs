//! Drives the system's services without a compiler: a native client whose behaviour is an asynchronous Rust function,
//! polled whenever its process runs.
//!
//! It is sound as the runtime's native processes are: one thread, and pointers that the runtime keeps alive while the
//! process that uses them does.
#![allow(dead_code, missing_docs, clippy::missing_safety_doc, clippy::undocumented_unsafe_blocks)]

use std::any::Any;
use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::ptr;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use drystone_component::{
    Body, Fingerprint, Interface, Message, Parameter, Program, Required, Role, Side, Str, Table, Template,
    Type,
};
use drystone_linux::Options;
use drystone_runtime::entry_points::*;
use drystone_runtime::layout::*;
use drystone_runtime::template_of;
use drystone_runtime::text;

type Script = Box<dyn FnOnce(Client) -> Pin<Box<dyn Future<Output = ()>>>>;

thread_local! {
    static SCRIPTS: RefCell<Vec<Script>> = const { RefCell::new(Vec::new()) };
    static PANIC: RefCell<Option<Box<dyn Any + Send>>> = const { RefCell::new(None) };
}

const NO_LOCATION: u32 = u32::MAX;

/// Pattern of `ds_test`.
const ANY: i32 = -1;

unsafe fn slot_at<T>(instance: *mut Instance, offset: u32) -> *mut T {
    unsafe { instance.byte_add(offset as usize).cast() }
}

/// Runs a program whose first component requires these interfaces and does what the script says; its status.
pub fn run<F: Future<Output = ()> + 'static>(
    requires: &[&str],
    options: Options,
    script: impl FnOnce(Client) -> F + 'static,
) -> i32 {
    let program: &'static Program = Box::leak(Box::new(program(requires)));
    SCRIPTS.with_borrow_mut(|scripts| scripts.push(Box::new(|client| Box::pin(script(client)))));
    let status = drystone_linux::run(program, options);
    if let Some(panic) = PANIC.take() {
        resume_unwind(panic);
    }
    status
}

fn program(requires: &[&str]) -> Program {
    let interfaces: &'static [*const Interface] = interfaces().leak();
    Program {
        entry: template("Main", requires, interfaces),
        files: Table::new(&[]),
        locations: Table::new(&[]),
        names: Table::new(&[]),
        suspension_points: Table::new(&[]),
        enter: enter as *const u8,
        native_shim: ds_native as *const u8,
        interfaces: Table::new(interfaces),
        procedures: Table::new(&[]),
    }
}

/// What generated code does between two processes.
unsafe extern "C" fn enter(w: *mut Worker, mut p: *mut Process) {
    unsafe {
        loop {
            let resume: unsafe extern "C" fn(*mut Worker, *mut Process) = std::mem::transmute((*p).resume);
            resume(w, p);
            (*w).switches += 1;
            p = (*w).ready_head;
            if p.is_null() || (*w).attention.load(Ordering::Relaxed) != 0 {
                return;
            }
            (*w).ready_head = (*p).next;
        }
    }
}

/// The system's interfaces, from the language's own text.
fn interfaces() -> Vec<*const Interface> {
    use drystone_language::program::{self, InterfaceId};
    use drystone_language::{ast::Direction, check};
    let (program, _) = check::system();
    let parameter = |(name, ty): &(String, program::Type)| Parameter {
        name: Str::new(name.clone().leak()),
        form: Str::new(""),
        ty: match ty {
            program::Type::Boolean => Type::Boolean,
            program::Type::Character => Type::Character,
            program::Type::Integer => Type::Integer,
            program::Type::Real => Type::Real,
            program::Type::Text => Type::Text,
            program::Type::Component(_) | program::Type::Any(_) => Type::Component,
            program::Type::Record(_) | program::Type::Sequence(_) => {
                unreachable!("the system's messages carry plain values")
            }
        },
    };
    let convert = |id: InterfaceId| {
        let i = &program.interfaces[id.index()];
        let messages = i.messages.iter().map(|m| Message {
            name: Str::new(m.name.clone().leak()),
            sender: if m.direction == Direction::In { Side::Client } else { Side::Server },
            parameters: Table::new(m.values.iter().map(parameter).collect::<Vec<_>>().leak()),
            marshalling: None,
        });
        let messages: &'static [Message] = messages.collect::<Vec<_>>().leak();
        let mut next = vec![Interface::NONE; i.states.len() * messages.len()];
        let mut states = Vec::new();
        for (s, state) in i.states.iter().enumerate() {
            let mut bits = if state.may_end { Interface::MAY_END } else { 0 };
            for &(message, to) in &state.transitions {
                next[s * messages.len() + message] = to as u16;
                bits |= match messages[message].sender {
                    Side::Client => Interface::CLIENT_SENDS,
                    Side::Server => Interface::SERVER_SENDS,
                };
            }
            states.push(bits);
        }
        let interface = Interface {
            name: Str::new(i.name.clone().leak()),
            fingerprint: Fingerprint::of(&program.identity(id)),
            messages: Table::new(messages),
            next: Table::new(next.leak()),
            states: Table::new(states.leak()),
            payload_words: messages.iter().map(|m| m.parameters.length).max().unwrap_or(0),
            queued: 0,
        };
        ptr::from_ref(Box::leak(Box::new(interface)))
    };
    (0..program.interfaces.len() as u32).map(InterfaceId).map(convert).collect()
}

fn named(interfaces: &[*const Interface], name: &str) -> &'static Interface {
    interfaces.iter().map(|&i| unsafe { &*i }).find(|i| i.name.get() == name).expect("is declared")
}

const MAIN_PROCESS: usize = size_of::<Instance>();
const SLOTS: usize = MAIN_PROCESS + 8;

fn template(
    name: &'static str,
    requires: &[&str],
    interfaces: &'static [*const Interface],
) -> &'static Template {
    let required: Vec<_> = requires
        .iter()
        .enumerate()
        .map(|(i, name)| Required {
            interface: named(interfaces, name),
            offset: (SLOTS + i * size_of::<RequiredSlot>()) as u32,
            slots: 0,
        })
        .collect();
    let body = Body {
        entry: ptr::null(),
        size: (size_of::<Process>() + 8) as u32,
        condition: 0,
        frame: 0,
        owned: Table::new(&[]),
        finally: ptr::null(),
        interface: ptr::null(),
        native: main_body as *const u8,
    };
    Box::leak(Box::new(Template {
        name: Str::new(name),
        location: NO_LOCATION,
        size: (SLOTS + requires.len() * size_of::<RequiredSlot>()) as u32,
        isolated: false,
        virtual_time: false,
        role: Role::Own,
        offered: Table::new(&[]),
        required: Table::new(required.leak()),
        bodies: Table::new(vec![body].leak()),
        main: 0,
        finally: Template::NO_BODY,
        main_process: MAIN_PROCESS as u32,
        owned: Table::new(&[]),
    }))
}

type Running = Pin<Box<dyn Future<Output = ()>>>;

unsafe extern "C" fn main_body(w: *mut Worker, p: *mut Process) {
    unsafe {
        let cell: *mut *mut Running = p.byte_add(size_of::<Process>()).cast();
        if (*cell).is_null() {
            let script = SCRIPTS.with_borrow_mut(|scripts| scripts.remove(0));
            *cell = Box::into_raw(Box::new(script(Client { w, p })));
        }
        let polled = catch_unwind(AssertUnwindSafe(|| {
            (*(*cell)).as_mut().poll(&mut Context::from_waker(Waker::noop()))
        }));
        match polled {
            Ok(Poll::Pending) => {}
            Ok(Poll::Ready(())) => {
                drop(Box::from_raw(*cell));
                ds_finish(w, p, NO_LOCATION);
            }
            Err(panic) => {
                PANIC.set(Some(panic));
                ds_halt(w, p, 99);
            }
        }
    }
}

/// A value of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum V {
    Int(i64),
    Byte(u8),
    Text(Vec<u8>),
    Component(Held),
}

impl V {
    pub fn text(text: impl AsRef<[u8]>) -> V {
        V::Text(text.as_ref().to_vec())
    }
}

/// A component that the script holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held(*mut Instance);

/// The process of a script.
#[derive(Clone, Copy)]
pub struct Client {
    w: *mut Worker,
    p: *mut Process,
}

/// One communication of it.
#[derive(Clone, Copy)]
pub struct Port {
    client: Client,
    interface: &'static Interface,
    end: End,
}

#[derive(Clone, Copy)]
enum End {
    Required(*mut RequiredSlot),
    Holder(*mut Instance, *mut OfferedSlot),
}

impl Client {
    /// An interface that it requires.
    pub fn required(self, name: &str) -> Port {
        unsafe {
            let instance = (*self.p).instance;
            let required = (*template_of(instance)).required.get();
            let it = required.iter().find(|r| (*r.interface).name.get() == name).expect("is required");
            let slot = slot_at(instance, it.offset);
            Port { client: self, interface: &*it.interface, end: End::Required(slot) }
        }
    }

    /// An interface of a component that it holds.
    pub fn held(self, held: Held, name: &str) -> Port {
        unsafe {
            let offered = (*template_of(held.0)).offered.get();
            let it = offered.iter().find(|o| (*o.interface).name.get() == name).expect("is offered");
            let slot = slot_at(held.0, it.offset);
            Port { client: self, interface: &*it.interface, end: End::Holder(held.0, slot) }
        }
    }

    /// A new component that does what the script says, its only required interface served by `server`'s.
    pub fn spawn<F: Future<Output = ()> + 'static>(
        self,
        name: &'static str,
        server: Held,
        script: impl FnOnce(Client) -> F + 'static,
    ) -> Held {
        unsafe {
            let offered = (*template_of(server.0)).offered.get();
            let it = offered.iter().find(|o| (*o.interface).name.get() == name).expect("is offered");
            let table: &'static [*const Interface] = vec![it.interface].leak();
            SCRIPTS.with_borrow_mut(|scripts| scripts.push(Box::new(|client| Box::pin(script(client)))));
            let mut made = ptr::null_mut();
            let holder = (*self.p).instance.expose_provenance();
            let child = template("Child", &[name], table);
            assert!(ds_new(self.w, self.p, &mut made, child, holder, NO_LOCATION) == Status::Done);
            let slot = slot_at::<RequiredSlot>(made, SLOTS as u32);
            let target = slot_at::<OfferedSlot>(server.0, it.offset).expose_provenance();
            assert!(ds_connect(self.w, self.p, slot, target, NO_LOCATION) == Status::Done);
            Held(made)
        }
    }

    pub async fn delete(self, held: Held) {
        poll_fn(|_| unsafe {
            match ds_delete(self.w, self.p, held.0, NO_LOCATION) {
                Status::Done => Poll::Ready(()),
                Status::Leave => Poll::Pending,
            }
        })
        .await;
    }

    pub async fn sleep(self, milliseconds: i64) {
        poll_fn(|_| unsafe {
            match ds_passivate(self.w, self.p, milliseconds, NO_LOCATION) {
                Status::Done => Poll::Ready(()),
                Status::Leave => Poll::Pending,
            }
        })
        .await;
    }
}

impl Port {
    unsafe fn reach(self) -> *mut Communication {
        let Client { w, p } = self.client;
        unsafe {
            match self.end {
                End::Required(slot) => ds_reach(w, p, slot, self.interface, NO_LOCATION),
                End::Holder(instance, slot) => {
                    ds_reach_held(w, p, instance, slot, self.interface, NO_LOCATION)
                }
            }
        }
    }

    pub async fn send(self, name: &str, values: impl IntoIterator<Item = V>) {
        let Client { w, p } = self.client;
        let messages = self.interface.messages.get();
        let is = |m: &Message| m.name.get() == name && m.sender == Side::Client;
        let number = messages.iter().position(is).expect("is a message") as u32;
        let words: Vec<u64> = values
            .into_iter()
            .map(|value| match value {
                V::Int(x) => x as u64,
                V::Byte(x) => x as u64,
                V::Text(x) => unsafe { text::from_bytes(w, &x).unwrap() as u64 },
                V::Component(x) => x.0 as u64,
            })
            .collect();
        assert_eq!(words.len(), messages[number as usize].parameters.length);
        poll_fn(|_| unsafe {
            let c = self.reach();
            if c.is_null() {
                return Poll::Pending;
            }
            let payload = ds_send(w, p, c, self.interface, number, NO_LOCATION);
            if payload.is_null() {
                return Poll::Pending;
            }
            ptr::copy_nonoverlapping(words.as_ptr(), payload, words.len());
            ds_sent(w, c, self.interface, number);
            Poll::Ready(())
        })
        .await;
    }

    /// The next message; `None`: the service has ended.
    pub async fn receive(self) -> Option<(&'static str, Vec<V>)> {
        let Client { w, p } = self.client;
        poll_fn(|_| unsafe {
            let c = self.reach();
            if c.is_null() {
                return Poll::Pending;
            }
            match ds_test(w, p, c, self.interface, Side::Client as u32, ANY, NO_LOCATION) {
                0 => return Poll::Ready(None),
                1 => {}
                _ => return Poll::Pending,
            }
            let number = (*c).word.tag as u32 - 1;
            let payload = ds_receive(w, p, c, self.interface, number, NO_LOCATION);
            assert!(!payload.is_null());
            let message = &self.interface.messages.get()[number as usize];
            let mut values = Vec::new();
            for (i, parameter) in message.parameters.get().iter().enumerate() {
                let word = *payload.add(i);
                values.push(match parameter.ty {
                    Type::Integer | Type::Real => V::Int(word as i64),
                    Type::Character | Type::Boolean => V::Byte(word as u8),
                    Type::Text => {
                        let value = V::text(text::bytes(word as *const TextHead));
                        ds_text_drop(w, word as *mut TextHead);
                        value
                    }
                    Type::Component | Type::Sequence => {
                        let held = word as *mut Instance;
                        (*held).holder = (*p).instance.expose_provenance();
                        V::Component(Held(held))
                    }
                });
            }
            ds_received(w, c);
            Poll::Ready(Some((message.name.get(), values)))
        })
        .await
    }

    /// Sends a request and receives its answer.
    pub async fn ask(self, name: &str, values: impl IntoIterator<Item = V>) -> (&'static str, Vec<V>) {
        self.send(name, values).await;
        self.receive().await.expect("an answer")
    }

    /// The component that the answer brings.
    pub async fn ask_component(self, name: &str, values: impl IntoIterator<Item = V>) -> Held {
        let (name, values) = self.ask(name, values).await;
        match values.first() {
            Some(V::Component(held)) => *held,
            _ => panic!("{name} {values:?}"),
        }
    }
}
