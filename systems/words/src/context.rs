//! The naming context `words:`: every name stands for a lexicon of one word, itself, whose meaning are its letters from
//! the last to the first.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use drystone_component::Name;
use drystone_kortex::Host;
use drystone_runtime::binding::{BindingFactory, Edge, Endpoint, NamingContext};
use drystone_runtime::far::{Arrival, Exported, Far, Filling, Outgoing, Reach, Waker};
use drystone_runtime::native::{Message, Value};

use crate::interfaces::lexicon::{self, Out};

struct Words;

impl BindingFactory for Words {
    fn bind(&mut self, Endpoint { interface, name, .. }: Endpoint<'_>) -> Result<Box<dyn Reach>, String> {
        if interface.fingerprint != lexicon::DECLARATION.fingerprint {
            return Err(format!("a Lexicon is there, and no {}", interface.name.get()));
        }
        Ok(Box::new(Word(name.rest().into())))
    }
}

impl NamingContext for Words {
    fn export(&mut self, _: Endpoint<'_>) -> Result<Box<dyn Exported>, String> {
        Err("these names stand for words, and for nothing else".into())
    }

    fn resolve<'n>(&mut self, _: Name<'n>) -> Result<Edge<'_, 'n>, String> {
        Ok(Edge::Interface(self))
    }
}

struct Word(String);

impl Reach for Word {
    fn begin(&mut self) -> Box<dyn Far> {
        Box::new(Page { word: self.0.clone().into_bytes(), answers: VecDeque::new(), pump: None })
    }
}

/// One communication.
struct Page {
    word: Vec<u8>,
    answers: VecDeque<Out<'static>>,
    pump: Option<Waker>,
}

impl Far for Page {
    fn attach(&mut self, pump: Waker) {
        self.pump = Some(pump);
    }

    fn has_room(&mut self) -> bool {
        true
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        // In the order of the declaration; definitions are not for these words.
        const LOOK: usize = 1;
        const COUNT: usize = 4;
        match message {
            LOOK if values.text(0) == self.word => {
                let meaning: Vec<u8> = self.word.iter().rev().copied().collect();
                self.answers.push_back(Out::Meaning { x: meaning.into() });
            }
            LOOK => self.answers.push_back(Out::Unknown),
            COUNT => self.answers.push_back(Out::Number { n: 1 }),
            _ => {}
        }
    }

    fn receive(&mut self) -> Arrival {
        self.answers.front().map_or(Arrival::Nothing, |answer| Arrival::Message(answer.number()))
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        match self.answers.pop_front() {
            Some(Out::Meaning { x }) => values.put(Value::Text(&x)),
            Some(Out::Number { n }) => values.put(Value::Integer(n)),
            _ => Ok(()),
        }
    }

    fn close(&mut self) {}
}

/// Makes it.
pub fn begin(_: &Host) -> Box<dyn NamingContext> {
    Box::new(Words)
}
