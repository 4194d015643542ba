//! Names of the program's own: what is exported by them, and *naming contexts*, which are components of the program
//! (*THINK*, Fassino).
//!
//! A name that nobody has exported, such as `local:shop/apples`, is asked for at the component that is exported by a
//! beginning of it, `local:shop`, if that offers the interface of contexts: it answers by another name, of any scheme,
//! each time that a communication begins. So contexts may lie within contexts, come and go.
//!
//! # Safety
//! As the binding module says. What is found stays at home.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use drystone_component::{Interface, Message, Name};

use super::beyond::{CAPACITY, binder};
use crate::communication::connection::{Refusal, connect_to_name, fits, lead, link};
use crate::far::{Arrival, Far, Filling, Letters, Outgoing, Reach, Waker, door};
use crate::home::AtHome;
use crate::home::names::{Exported, Waiting};
use crate::layout::Worker;
use crate::naming::{DEEPEST, Endpoint, Hints, ROUND};
use crate::near::{listen, proxy};
use crate::values::Value;

/// Connects a slot to a local name; where that isn't known yet, as soon as it is.
///
/// # Errors
/// The interfaces don't fit together, or there is no memory.
///
/// # Safety
/// As the binding module says.
pub unsafe fn connect(w: *mut Worker, waiting: Waiting, name: Name<'_>) -> Result<(), Refusal> {
    // SAFETY: at home; the slot is linked, and a new proxy leads nowhere else.
    unsafe {
        let at = AtHome::new(w);
        match context_of(at, name) {
            Some((context, name)) => {
                let reach = Resolver::new(at, context, name, waiting.interface, 0)?;
                let proxy = proxy(at, waiting.interface, Box::new(reach), &name.to_string());
                lead(w, waiting.slot, proxy.ok_or(String::from("out of memory"))?);
                Ok(())
            }
            None => connect_to_name(w, waiting, name.bytes()),
        }
    }
}

/// A name has been exported: if it is a context's, the slots that wait for names below it are connected.
///
/// # Errors
/// As for [`connect`].
pub fn exported(at: AtHome, name: Name<'_>, interface: &'static Interface) -> Result<(), String> {
    if !is_of_contexts(at, interface) {
        return Ok(());
    }
    let beginning = [name.bytes(), b"/"].concat();
    // SAFETY: slots that wait are linked; the home's names are used for one call at a time.
    unsafe {
        for (name, waiting) in (*at.data()).names.waiting_below(&beginning) {
            (*at.data()).names.cease(waiting.slot);
            connect(at.worker(), waiting, Name::decode(&name)?).map_err(said)?;
        }
    }
    Ok(())
}

/// Whether a slot of the interface can be connected to a local name at once.
///
/// # Errors
/// Why not.
pub fn must_be_there(at: AtHome, interface: &'static Interface, name: Name<'_>) -> Result<(), String> {
    // SAFETY: nothing changes the names meanwhile.
    match unsafe { (*at.data()).names.exported(name.bytes()) } {
        Some(exported) => fits(interface, exported.interface).map_err(said),
        None if context_of(at, name).is_some() => Ok(()),
        None => Err(alloc::format!("{name}: nothing is exported by that name")),
    }
}

/// Why something was refused, as a sentence.
pub fn said(why: Refusal) -> String {
    match why {
        Refusal::Reason(reason) => reason,
        Refusal::Fault(fault) => fault.name().to_string(),
    }
}

/// Whether it is the interface of naming contexts.
fn is_of_contexts(at: AtHome, interface: &'static Interface) -> bool {
    // SAFETY: the platform is used for this call.
    let binder = unsafe { (*(*at.data()).platform).binder() };
    binder.is_some_and(|binder| binder.is_of_contexts(interface))
}

/// The context that stands under the longest beginning of a name, and what that calls it; none if the name itself is
/// exported.
fn context_of(at: AtHome, name: Name<'_>) -> Option<(Exported, Name<'_>)> {
    // SAFETY: nothing changes the names meanwhile.
    let names = unsafe { &(*at.data()).names };
    if names.is_empty() || names.exported(name.bytes()).is_some() {
        return None;
    }
    let known = name.contexts().filter_map(|name| Some((names.exported(name.context().as_bytes())?, name)));
    known.into_iter().next().filter(|(exported, _)| is_of_contexts(at, exported.interface))
}

/// What reaches a name that a context has answered.
///
/// # Errors
/// Nothing does.
fn reach(
    at: AtHome,
    interface: &'static Interface,
    name: &[u8],
    depth: usize,
) -> Result<Box<dyn Reach>, String> {
    let name = Name::decode(name)?;
    if !name.is_local() {
        // SAFETY: the platform is used for this call.
        return unsafe { binder(at, name) }?.bind(Endpoint { interface, name, hints: &Hints::default() });
    }
    if depth == DEEPEST {
        return Err(alloc::format!("{name}: {ROUND}"));
    }
    match context_of(at, name) {
        // SAFETY: the context is exported.
        Some((context, name)) => unsafe {
            Ok(Box::new(Resolver::new(at, context, name, interface, depth + 1)?))
        },
        None => {
            must_be_there(at, interface, name)?;
            entrance(at, interface, name)
        }
    }
}

/// A way to what is exported by a local name.
///
/// # Errors
/// The interfaces don't fit together, or there is no memory.
fn entrance(at: AtHome, interface: &'static Interface, name: Name<'_>) -> Result<Box<dyn Reach>, String> {
    let (entrance, door) = door(CAPACITY as usize);
    let slot = listen(at, interface, Box::new(door), &name.to_string()).ok_or("out of memory")?;
    let waiting = Waiting { slot, interface, location: u32::MAX };
    // SAFETY: a new listener's slot is linked, and of this interface.
    unsafe { connect_to_name(at.worker(), waiting, name.bytes()) }.map_err(said)?;
    Ok(Box::new(entrance))
}

/// What a name leads to that a context knows.
struct Resolver {
    at: AtHome,
    context: Box<dyn Reach>,
    question: Question,
    depth: usize,
    interface: &'static Interface,
}

/// What a context is asked.
#[derive(Clone)]
struct Question {
    letters: Letters,
    messages: &'static [Message],
    /// The rest of the name.
    name: Box<[u8]>,
}

/// The messages of a context, by their numbers.
const RESOLVE: usize = 0;
const NAME: usize = 1;

impl Resolver {
    /// Asks a context for a name, each time that a communication of the interface begins.
    ///
    /// # Errors
    /// There is no memory.
    ///
    /// # Safety
    /// The context is exported, by a component that is there.
    unsafe fn new(
        at: AtHome,
        context: Exported,
        name: Name<'_>,
        interface: &'static Interface,
        depth: usize,
    ) -> Result<Resolver, String> {
        let (entrance, door) = door(1);
        let slot =
            listen(at, context.interface, Box::new(door), "a naming context").ok_or("out of memory")?;
        // SAFETY: an exported target is linked, and so is a new listener's slot.
        unsafe { link(slot, context.target) };
        // SAFETY: at home, where the question stays.
        let letters = unsafe { Letters::new(at.worker()) };
        let messages = context.interface.messages.get();
        let question = Question { letters, messages, name: name.rest().as_bytes().into() };
        Ok(Resolver { at, context: Box::new(entrance), question, depth, interface })
    }
}

impl Reach for Resolver {
    fn begin(&mut self) -> Box<dyn Far> {
        let Resolver { at, context, question, depth, interface } = self;
        let stage = Stage::Begun(context.begin());
        let question = question.clone();
        Box::new(Search { at: *at, stage, question, depth: *depth, interface, pump: None })
    }
}

/// A communication that begins by asking for its name.
struct Search {
    at: AtHome,
    stage: Stage,
    question: Question,
    depth: usize,
    interface: &'static Interface,
    pump: Option<Waker>,
}

enum Stage {
    /// With the context, which was asked nothing yet.
    Begun(Box<dyn Far>),
    Asked(Box<dyn Far>),
    Found(Box<dyn Far>),
    Failed(String),
}

impl Search {
    /// Goes on as far as it can.
    fn go_on(&mut self) {
        if let Stage::Begun(context) = &mut self.stage
            && context.has_room()
        {
            let asked = self.question.ask(&mut **context);
            let stage = core::mem::replace(&mut self.stage, Stage::Failed(String::from("out of memory")));
            if let (Stage::Begun(context), true) = (stage, asked) {
                self.stage = Stage::Asked(context);
            }
        }
        let Stage::Asked(context) = &mut self.stage else { return };
        let found = match context.receive() {
            Arrival::Nothing => return,
            Arrival::Message(NAME) => self.question.answer(&mut **context),
            Arrival::Message(_) => {
                Err(alloc::format!("{}: no such name", String::from_utf8_lossy(&self.question.name)))
            }
            Arrival::Closed => Err("its naming context has ended".to_string()),
            Arrival::Lost(why) => Err("its naming context: ".to_string() + &why),
        };
        context.close();
        let reach = found.and_then(|name| reach(self.at, self.interface, &name, self.depth));
        self.stage = match reach {
            Err(why) => Stage::Failed(why),
            Ok(mut reach) => {
                let mut far = reach.begin();
                if let Some(pump) = &self.pump {
                    far.attach(pump.clone());
                }
                Stage::Found(far)
            }
        };
    }
}

impl Question {
    /// Whether there was memory for it.
    fn ask(&self, context: &mut dyn Far) -> bool {
        let letter = self.letters.of(&self.messages[RESOLVE], [Value::Text(&self.name)]);
        let Ok(mut letter) = letter else { return false };
        context.send(RESOLVE, letter.as_outgoing());
        true
    }

    /// The name that has come.
    ///
    /// # Errors
    /// It can't be understood.
    fn answer(&self, context: &mut dyn Far) -> Result<Vec<u8>, String> {
        let mut letter = self.letters.filled(&self.messages[NAME], |filling| context.take(filling))?;
        Ok(letter.as_outgoing().text(0).to_vec())
    }
}

impl Far for Search {
    fn attach(&mut self, pump: Waker) {
        self.pump = Some(pump.clone());
        if let Stage::Begun(far) | Stage::Asked(far) | Stage::Found(far) = &mut self.stage {
            far.attach(pump);
        }
    }

    fn has_room(&mut self) -> bool {
        self.go_on();
        match &mut self.stage {
            Stage::Begun(_) | Stage::Asked(_) => false,
            Stage::Found(far) => far.has_room(),
            Stage::Failed(_) => true,
        }
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        if let Stage::Found(far) = &mut self.stage {
            far.send(message, values);
        }
    }

    fn receive(&mut self) -> Arrival {
        self.go_on();
        match &mut self.stage {
            Stage::Begun(_) | Stage::Asked(_) => Arrival::Nothing,
            Stage::Found(far) => far.receive(),
            Stage::Failed(why) => Arrival::Lost(why.clone()),
        }
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        match &mut self.stage {
            Stage::Found(far) => far.take(values),
            _ => Err("there is no message".into()),
        }
    }

    fn slot(&self) -> usize {
        1
    }

    fn close(&mut self) {
        if let Stage::Begun(far) | Stage::Asked(far) | Stage::Found(far) = &mut self.stage {
            far.close();
        }
    }
}
