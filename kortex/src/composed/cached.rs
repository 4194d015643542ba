//! `Cached(messages: "GetLength", lifetime: 1000, entries: 4096)`: answers the listed requests from a cache, which all
//! clients of the binding share. An answer is kept for `lifetime` milliseconds, and at most `entries` are kept. Any
//! other request is passed on and empties the cache.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::mem::take;

use drystone_component::calls::Calls;
use drystone_component::{Interface, Type};
use drystone_runtime::binding::Factory;
use drystone_runtime::far::{Arrival, Far, Filling, Letter, Outgoing, Reach, Waker};

use super::messages::listed;
use super::options::{MILLISECOND, SOME, count, only};
use super::services::Services;
use super::time::Time;

struct Answer {
    message: usize,
    letter: Letter,
    until: u64,
}

struct Cache {
    cached: Vec<bool>,
    lifetime: u64,
    most: usize,
    time: Rc<dyn Time>,
    answers: RefCell<BTreeMap<Vec<u8>, Answer>>,
    /// How often the cache was emptied. An answer to a request of an earlier generation isn't kept, for it may be out
    /// of date.
    generation: Cell<u64>,
}

struct Cached {
    inner: Box<dyn Reach>,
    cache: Rc<Cache>,
}

pub(super) fn put_before(
    inner: Box<dyn Reach>,
    interface: &'static Interface,
    factory: &Factory<'_>,
    services: &Services,
) -> Result<Box<dyn Reach>, String> {
    only(factory, &["messages", "lifetime", "entries"])?;
    let calls = Calls::of(interface).map_err(|why| "Cached: ".to_string() + &why.to_string())?;
    let cached = listed(factory, "messages", interface)?
        .ok_or("Cached needs messages: which requests may be answered by what is known")?;
    if let Some(call) = calls.calls.iter().find(|call| !cached[call.message] && call.answers.is_empty()) {
        let name = interface.messages.get()[call.message].name.get();
        return Err(format!(
            "Cached: {name} has no answer, so nobody knows from when on it has changed what is known"
        ));
    }
    for call in calls.calls.iter().filter(|call| cached[call.message]) {
        let carries = |number: usize| interface.messages.get()[number].has_component();
        if call.answers.is_empty() || call.answers.iter().copied().chain([call.message]).any(carries) {
            return Err("Cached: only requests with answers that carry no components can be".into());
        }
    }
    let lifetime = count(factory, "lifetime", SOME)?.unwrap_or(1000) * MILLISECOND;
    let most = count(factory, "entries", SOME)?.unwrap_or(4096) as usize;
    let time = services.time.clone();
    let (answers, generation) = Default::default();
    let cache = Cache { cached, lifetime, most, time, answers, generation };
    Ok(Box::new(Cached { inner, cache: Rc::new(cache) }))
}

impl Reach for Cached {
    fn begin(&mut self) -> Box<dyn Far> {
        let cache = self.cache.clone();
        let (inner, asked) = (self.inner.begin(), Asked::default());
        Box::new(Asking { inner, cache, pump: None, asked, known: None, coming: 0 })
    }
}

struct Asking {
    inner: Box<dyn Far>,
    cache: Rc<Cache>,
    pump: Option<Waker>,
    asked: Asked,
    /// An answer from the cache.
    known: Option<(usize, Letter)>,
    /// The message that has arrived.
    coming: usize,
}

/// The request that the server's next answer belongs to.
#[derive(Default)]
enum Asked {
    #[default]
    Nothing,
    /// A cacheable request, by its key, made in this generation.
    Kept(Vec<u8>, u64),
    /// A request that may change other answers, at some time before its own answer.
    Changing,
}

/// A request as a key.
fn key(message: usize, values: &Outgoing<'_>) -> Vec<u8> {
    let mut key = message.to_le_bytes().to_vec();
    for (index, parameter) in values.parameters().iter().enumerate() {
        match parameter.ty {
            Type::Integer => key.extend(values.integer(index).to_le_bytes()),
            Type::Real => key.extend(values.real(index).to_bits().to_le_bytes()),
            Type::Boolean | Type::Character => key.push(values.byte(index)),
            Type::Text => {
                key.extend(values.text(index).len().to_le_bytes());
                key.extend(values.text(index));
            }
            Type::Sequence => {
                let sequence = values.sequence(index).unwrap_or_default();
                key.extend(sequence.len().to_le_bytes());
                key.extend(sequence);
            }
            Type::Component => {}
        }
    }
    key
}

impl Cache {
    fn find(&self, key: &[u8]) -> Option<(usize, Letter)> {
        let answers = self.answers.borrow();
        let answer = answers.get(key).filter(|answer| answer.until > self.time.now())?;
        Some((answer.message, answer.letter.copy()))
    }

    /// Empties the cache. Pending requests may still get an answer from before, which isn't kept.
    fn forget(&self) {
        self.generation.set(self.generation.get() + 1);
        self.answers.borrow_mut().clear();
    }

    fn keep(&self, key: Vec<u8>, message: usize, letter: Letter) {
        let mut answers = self.answers.borrow_mut();
        if answers.len() >= self.most {
            let now = self.time.now();
            answers.retain(|_, answer| answer.until > now);
            if answers.len() >= self.most {
                answers.clear();
            }
        }
        let until = self.time.now().saturating_add(self.lifetime);
        answers.insert(key, Answer { message, letter, until });
    }
}

impl Asking {
    /// If the answered request could change something, it has now done so.
    fn changed(&mut self) {
        if let Asked::Changing = self.asked {
            self.asked = Asked::Nothing;
            self.cache.forget();
        }
    }
}

impl Far for Asking {
    fn attach(&mut self, pump: Waker) {
        self.pump = Some(pump.clone());
        self.inner.attach(pump);
    }

    fn has_room(&mut self) -> bool {
        self.inner.has_room()
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        if !self.cache.cached[message] {
            self.cache.forget();
            self.asked = Asked::Changing;
            return self.inner.send(message, values);
        }
        let key = key(message, &values);
        self.known = self.cache.find(&key);
        if self.known.is_none() {
            self.asked = Asked::Kept(key, self.cache.generation.get());
            self.inner.send(message, values);
        }
    }

    fn receive(&mut self) -> Arrival {
        if let Some((message, _)) = &self.known {
            return Arrival::Message(*message);
        }
        let arrival = self.inner.receive();
        match arrival {
            Arrival::Message(message) => self.coming = message,
            Arrival::Nothing => {}
            Arrival::Closed | Arrival::Lost(_) => self.changed(),
        }
        arrival
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        if let Some((_, letter)) = self.known.take() {
            return values.put_letter(letter);
        }
        self.inner.take(values)?;
        self.changed();
        if let Asked::Kept(key, generation) = take(&mut self.asked)
            && generation == self.cache.generation.get()
            && let Some(letter) = values.copy()
        {
            self.cache.keep(key, self.coming, letter);
        }
        Ok(())
    }

    fn slot(&self) -> usize {
        self.inner.slot()
    }

    fn close(&mut self) {
        self.inner.close();
    }
}
