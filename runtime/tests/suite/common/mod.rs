//! A platform that keeps what a program writes, and a way to write programs by hand: a body is a list of steps. Each
//! step does one thing that may wait, and says which step comes next.
//!
//! Steps call the entry points as generated code does. After each wait, the whole step is run again.
#![allow(dead_code, missing_docs)]

use std::any::Any;
use std::collections::BTreeMap;
use std::ptr::null_mut;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use drystone_component::*;
use drystone_runtime::entry_points::*;
use drystone_runtime::layout::*;
use drystone_runtime::near::AtHome;
use drystone_runtime::platform::{Platform, TICK_SLEEP, TICK_STOP, Threads, Tick};
use drystone_runtime::template_of;
use drystone_runtime::{Options, Outcome};

/// The steps of a body, and where those of its FINALLY begin.
type Steps = (Vec<Step>, usize);

/// What the bodies of templates do.
static STEPS: Mutex<BTreeMap<usize, &'static [Steps]>> = Mutex::new(BTreeMap::new());

/// Describes templates and interfaces once, for all who use them.
#[macro_export]
macro_rules! once {
    ($($name:ident: $type:ty = $value:expr;)*) => {
        $(static $name: std::sync::LazyLock<&'static $type> = std::sync::LazyLock::new(|| $value);)*
    };
}

/// What a step says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The next one.
    Go,
    /// That one.
    To(usize),
    /// The same again when the process is resumed.
    Leave,
    /// The body has ended.
    End,
}

pub use Next::*;

impl Next {
    /// Instead of the next step, that one.
    pub fn then(self, step: usize) -> Next {
        if self == Go { To(step) } else { self }
    }
}

pub type Step = unsafe fn(C) -> Next;

/// A running process.
#[derive(Clone, Copy)]
pub struct C {
    pub w: *mut Worker,
    pub p: *mut Process,
}

pub type Test = unsafe extern "C" fn(*mut Worker, *mut Process) -> u32;

/// A release of which it isn't known what was written.
const EVERYTHING: u64 = u64::MAX;

/// The one description of a condition.
fn described(test: Test, depends: u64, common: bool, watches: bool) -> &'static Condition {
    static KNOWN: Mutex<Vec<&Condition>> = Mutex::new(Vec::new());
    let test = test as *const u8;
    let mut known = KNOWN.lock().unwrap();
    let same =
        known.iter().find(|known| (known.test, known.depends, known.common) == (test, depends, common));
    same.copied().unwrap_or_else(|| {
        known.push(Box::leak(Box::new(Condition { test, depends, common, watches })));
        known[known.len() - 1]
    })
}

/// Words of a frame that steps may use.
pub const REGISTERS: usize = 6;
/// A process's words: the step, the condition, the innermost procedure's frame, the registers.
const FRAME: usize = 3 + REGISTERS;

pub fn status(status: Status) -> Next {
    if status == Status::Done { Go } else { Leave }
}

impl C {
    pub fn at_home(self) -> AtHome {
        // SAFETY: the process runs on this worker, and is not away.
        unsafe { AtHome::new(self.w) }
    }

    pub unsafe fn body(self) -> &'static Body {
        unsafe { &(*template_of((*self.p).instance)).bodies.get()[(*self.p).body as usize] }
    }

    /// Its steps, and where those of its FINALLY begin.
    unsafe fn steps(self) -> &'static Steps {
        unsafe {
            let bodies = STEPS.lock().unwrap()[&template_of((*self.p).instance).addr()];
            &bodies[(*self.p).body as usize]
        }
    }

    unsafe fn word(self, index: usize) -> *mut u64 {
        unsafe {
            let body = self.body();
            self.p.cast::<u8>().add(body.size as usize - 8 * FRAME + 8 * index).cast()
        }
    }

    /// Where the process keeps its innermost procedure's frame.
    pub unsafe fn frames(self) -> *mut *mut FrameHead {
        unsafe { self.p.cast::<u8>().add(self.body().frame as usize).cast() }
    }

    /// A register of the process.
    pub unsafe fn r(self, index: usize) -> *mut u64 {
        unsafe { self.word(3 + index) }
    }

    /// A variable of the component.
    pub unsafe fn v(self, index: usize) -> *mut u64 {
        unsafe {
            let instance = (*self.p).instance;
            let template = &*template_of(instance);
            instance.cast::<u8>().add(template.size as usize - 8 * VARIABLES + 8 * index).cast()
        }
    }

    pub unsafe fn container(self, index: usize) -> *mut *mut Instance {
        unsafe { self.v(index).cast() }
    }

    pub unsafe fn me(self) -> *mut Instance {
        unsafe { (*self.p).instance }
    }

    pub unsafe fn write(self, text: &str) -> Next {
        for byte in text.bytes() {
            unsafe { ds_write_character(self.w, self.p, byte as u32) };
        }
        Go
    }

    pub unsafe fn number(self, x: u64) -> Next {
        unsafe { ds_write_integer(self.w, self.p, x as i64) };
        self.go()
    }

    fn go(self) -> Next {
        Go
    }

    pub unsafe fn create(self, container: *mut *mut Instance, template: &'static Template) -> Next {
        unsafe { status(ds_new(self.w, self.p, container, template, self.me().expose_provenance(), 1)) }
    }

    pub unsafe fn delete(self, container: *mut *mut Instance) -> Next {
        unsafe {
            let s = ds_delete(self.w, self.p, *container, 2);
            if s == Status::Done {
                *container = null_mut();
            }
            status(s)
        }
    }

    /// The k-th required slot of an instance.
    pub unsafe fn required(self, instance: *mut Instance, index: usize) -> *mut RequiredSlot {
        unsafe {
            let offset = (*template_of(instance)).required.get()[index].offset;
            instance.cast::<u8>().add(offset as usize).cast()
        }
    }

    pub unsafe fn offered(self, instance: *mut Instance, index: usize) -> *mut OfferedSlot {
        unsafe {
            let offset = (*template_of(instance)).offered.get()[index].offset;
            instance.cast::<u8>().add(offset as usize).cast()
        }
    }

    pub unsafe fn inward(self, instance: *mut Instance, index: usize) -> *mut RequiredSlot {
        unsafe {
            let offset = (*template_of(instance)).offered.get()[index].inward;
            instance.cast::<u8>().add(offset as usize).cast()
        }
    }

    /// `CONNECT(required of client, offered of server)`
    pub unsafe fn connect(self, client: *mut Instance, r: usize, server: *mut Instance, o: usize) -> Next {
        unsafe {
            let target = self.offered(server, o).expose_provenance();
            status(ds_connect(self.w, self.p, self.required(client, r), target, 3))
        }
    }

    /// Passes an own required interface on to a sub-component, or inward.
    pub unsafe fn pass_on(self, slot: *mut RequiredSlot, own: usize) -> Next {
        unsafe {
            let target = self.required(self.me(), own).expose_provenance() | 1;
            status(ds_connect(self.w, self.p, slot, target, 3))
        }
    }

    /// The communication of an own required interface.
    pub unsafe fn reach(self, r: usize) -> *mut Communication {
        unsafe {
            let slot = self.required(self.me(), r);
            let interface = &*(*template_of(self.me())).required.get()[r].interface;
            ds_reach(self.w, self.p, slot, interface, 4)
        }
    }

    pub unsafe fn reach_held(self, instance: *mut Instance, o: usize) -> *mut Communication {
        unsafe {
            let slot = self.offered(instance, o);
            let interface = &*(*template_of(instance)).offered.get()[o].interface;
            ds_reach_held(self.w, self.p, instance, slot, interface, 4)
        }
    }

    /// The service's own communication.
    pub fn client(self) -> *mut Communication {
        self.p.cast()
    }

    pub unsafe fn send(
        self,
        c: *mut Communication,
        i: &'static Interface,
        message: u32,
        words: &[u64],
    ) -> Next {
        unsafe {
            if c.is_null() {
                return Leave;
            }
            if send_behind(c, i, message, words) {
                return Go;
            }
            let payload = ds_send(self.w, self.p, c, i, message, 5);
            if payload.is_null() {
                return Leave;
            }
            words.iter().enumerate().for_each(|(k, &word)| payload.add(k).write(word));
            ds_sent(self.w, c, i, message);
            Go
        }
    }

    /// Receives into registers.
    pub unsafe fn receive(
        self,
        c: *mut Communication,
        i: &'static Interface,
        message: u32,
        to: &[usize],
    ) -> Next {
        unsafe {
            if c.is_null() {
                return Leave;
            }
            let payload = ds_receive(self.w, self.p, c, i, message, 6);
            if payload.is_null() {
                return Leave;
            }
            to.iter().enumerate().for_each(|(k, &r)| *self.r(r) = *payload.add(k));
            ds_received(self.w, c);
            Go
        }
    }

    /// `?pattern`: goes on if TRUE, else to a step.
    pub unsafe fn test(
        self,
        c: *mut Communication,
        i: &'static Interface,
        side: Side,
        pattern: i32,
        no: usize,
    ) -> Next {
        unsafe {
            if c.is_null() {
                return Leave;
            }
            match ds_test(self.w, self.p, c, i, side as u32, pattern, 7) {
                0 => To(no),
                1 => Go,
                _ => Leave,
            }
        }
    }

    pub unsafe fn lock(self, exclusive: bool) -> Next {
        unsafe { status(ds_lock(self.w, self.p, exclusive as u32)) }
    }

    pub unsafe fn unlock(self) -> Next {
        unsafe { self.unlock_having(EVERYTHING) }
    }

    /// The lock is given up by one who has written that only.
    pub unsafe fn unlock_having(self, written: u64) -> Next {
        unsafe { ds_unlock(self.w, self.p, written) };
        Go
    }

    /// `AWAIT`: the condition is evaluated first.
    pub unsafe fn await_own(self, test: Test) -> Next {
        unsafe { self.await_(described(test, EVERYTHING, false, false)) }
    }

    /// The same with a condition that is the same for all processes.
    pub unsafe fn await_common(self, test: Test) -> Next {
        unsafe { self.await_(described(test, EVERYTHING, true, false)) }
    }

    /// The same with one that depends on that only.
    pub unsafe fn await_depending(self, test: Test, depends: u64) -> Next {
        unsafe { self.await_(described(test, depends, false, false)) }
    }

    /// The same with one that depends on elements only, and says which.
    pub unsafe fn await_watching(self, test: Test) -> Next {
        unsafe { self.await_(described(test, 0, false, true)) }
    }

    unsafe fn await_(self, condition: &'static Condition) -> Next {
        unsafe {
            self.word(1).cast::<*const Condition>().write(condition);
            match self.test_condition(condition) {
                0 => status(ds_await(self.w, self.p, EVERYTHING)),
                1 => Go,
                _ => Leave,
            }
        }
    }

    /// `AWAIT` of a condition that the process tests itself, for two time slices each time.
    pub unsafe fn await_tested(self, condition: &'static Condition, test: fn(C) -> bool) -> Next {
        unsafe {
            let slices = self.r(REGISTERS - 1);
            if *slices < 2 {
                *slices += 1;
                return status(ds_preempt(self.w, self.p));
            }
            *slices = 0;
            if !test(self) {
                self.word(1).cast::<*const Condition>().write(condition);
                return status(ds_await(self.w, self.p, EVERYTHING));
            }
            if (*self.p).lock & LOCK_TESTS == 0 { Go } else { status(ds_holds(self.w, self.p)) }
        }
    }

    unsafe fn test_condition(self, condition: &Condition) -> u32 {
        unsafe { std::mem::transmute::<*const u8, Test>(condition.test)(self.w, self.p) }
    }

    /// `INPUT` at a required interface.
    pub unsafe fn input(self, r: usize, i: &'static Interface, pattern: i32, no: usize) -> Next {
        unsafe {
            match ds_input_slot(self.w, self.p, self.required(self.me(), r), i, pattern, 7) {
                0 => To(no),
                1 => Go,
                _ => Leave,
            }
        }
    }

    /// Something that comes over an own required interface, as one of several things.
    pub unsafe fn at_required(self, r: usize, pattern: i32) -> Source {
        unsafe {
            let interface = (*template_of(self.me())).required.get()[r].interface;
            let at = self.required(self.me(), r).expose_provenance();
            Source { at, instance: null_mut(), interface, way: SOURCE_REQUIRED, pattern }
        }
    }

    /// Something that comes from a component that is held.
    pub unsafe fn at_held(self, instance: *mut Instance, o: usize, pattern: i32) -> Source {
        unsafe {
            let interface = (*template_of(instance)).offered.get()[o].interface;
            let at = self.offered(instance, o).expose_provenance();
            Source { at, instance, interface, way: SOURCE_HELD, pattern }
        }
    }

    /// Something that comes from the service's client.
    pub unsafe fn at_client(self, pattern: i32) -> Source {
        let interface = unsafe { self.body().interface };
        Source { at: 0, instance: null_mut(), interface, way: SOURCE_SERVICE, pattern }
    }

    /// Waits for the first of several things, so long at most (0: for ever): goes to the step that is given for it, or
    /// that for the time.
    pub unsafe fn select<const N: usize>(
        self,
        mut sources: [Source; N],
        limit: u64,
        to: [usize; N],
        time: usize,
    ) -> Next {
        unsafe {
            let deadline = self.until(limit);
            match ds_select(self.w, self.p, sources.as_mut_ptr(), N as u32, deadline, 0, 7) {
                -1 => Leave,
                first => {
                    *self.r(REGISTERS - 1) = 0;
                    To(if first == N as i64 { time } else { to[first as usize] })
                }
            }
        }
    }

    /// The end of a wait of so many units at most, kept in the last register until that is set to 0.
    pub unsafe fn until(self, limit: u64) -> i64 {
        unsafe {
            let kept = self.r(REGISTERS - 1);
            if *kept == 0 {
                *kept = if limit == 0 { NEVER } else { ds_deadline(self.w, limit as i64) } as u64;
            }
            *kept as i64
        }
    }

    pub unsafe fn disconnect(self, instance: *mut Instance, r: usize) -> Next {
        unsafe { status(ds_disconnect(self.w, self.p, self.required(instance, r), 3)) }
    }

    pub unsafe fn passivate(self, n: i64) -> Next {
        unsafe { status(ds_passivate(self.w, self.p, n, 8)) }
    }

    pub unsafe fn fail(self, fault: Fault, location: u32) -> Next {
        unsafe { ds_fail(self.w, self.p, fault as u32, location) };
        Leave
    }

    pub unsafe fn halt(self, status: i64) -> Next {
        unsafe { ds_halt(self.w, self.p, status) };
        Leave
    }

    pub unsafe fn begun(self) -> Next {
        unsafe { ds_begun(self.w, self.p) };
        Go
    }

    /// Computes for that many rounds, counted in register 0, with checks as generated code has them.
    pub unsafe fn compute(self, rounds: u64) -> Next {
        unsafe {
            while *self.r(0) < rounds {
                *self.r(0) += 1;
                for _ in 0..1000 {
                    std::hint::black_box(());
                }
                let attention = (*self.w).attention.load(std::sync::atomic::Ordering::Relaxed);
                if attention != 0 && ds_preempt(self.w, self.p) == Status::Leave {
                    return Leave;
                }
            }
            Go
        }
    }

    /// Gives the others a turn, once.
    pub unsafe fn pause(self) -> Next {
        unsafe { self.passivate(0) }
    }

    /// Counts a register up to a limit: goes to a step while it is below.
    pub unsafe fn repeat(self, register: usize, times: u64, to: usize) -> Next {
        unsafe {
            *self.r(register) += 1;
            if *self.r(register) < times { To(to) } else { Go }
        }
    }
}

/// The body of every process: goes on with its steps.
unsafe extern "C" fn steps(w: *mut Worker, p: *mut Process) {
    unsafe {
        let c = C { w, p };
        let (steps, finally) = c.steps();
        // Where FINALLY begins it is resumed.
        let is_ending = !c.body().interface.is_null() && (*c.client()).word.flags & ENDING != 0;
        if is_ending && !c.body().finally.is_null() && (*c.word(0) as usize) < *finally {
            *c.word(0) = *finally as u64;
        }
        loop {
            let step = *c.word(0) as usize;
            // Only a first step may compute away from home.
            if (*w).away != 0 && step != 0 {
                return ds_go_home(w, p);
            }
            match steps.get(step).map_or(End, |step| step(c)) {
                Go => *c.word(0) += 1,
                To(step) => *c.word(0) = step as u64,
                Leave => return,
                End => {
                    // What the frame holds goes first.
                    let owned = &c.body().owned;
                    if ds_delete_held(w, p, p.cast(), owned, 9) == Status::Leave {
                        return;
                    }
                    return ds_finish(w, p, 9);
                }
            }
            if (*w).attention.load(std::sync::atomic::Ordering::Relaxed) & 4 != 0 {
                return;
            }
        }
    }
}

/// Runs ready processes, as generated code does.
unsafe extern "C" fn enter(w: *mut Worker, mut p: *mut Process) {
    unsafe {
        loop {
            let resume: unsafe extern "C" fn(*mut Worker, *mut Process) = std::mem::transmute((*p).resume);
            resume(w, p);
            if (*w).attention.load(std::sync::atomic::Ordering::Relaxed) != 0 || (*w).ready_head.is_null() {
                return;
            }
            p = (*w).ready_head;
            (*w).ready_head = (*p).next;
            (*w).switches += 1;
        }
    }
}

/// Variables of every component.
pub const VARIABLES: usize = 8;

/// A template in the making.
pub struct Build {
    name: &'static str,
    offered: Vec<(&'static Interface, &'static [Step], u32)>,
    /// FINALLY of the services that have one.
    endings: BTreeMap<usize, &'static [Step]>,
    required: Vec<(&'static Interface, u32)>,
    main: Option<&'static [Step]>,
    finally: Option<&'static [Step]>,
    owned: Vec<(usize, Kind, *const Collection)>,
    registers: Vec<(usize, Kind)>,
    isolated: bool,
    virtual_time: bool,
}

pub fn template(name: &'static str) -> Build {
    Build {
        name,
        offered: Vec::new(),
        endings: BTreeMap::new(),
        required: Vec::new(),
        main: None,
        finally: None,
        owned: Vec::new(),
        registers: Vec::new(),
        isolated: false,
        virtual_time: false,
    }
}

fn leak<T>(all: Vec<T>) -> Table<T> {
    Table::new(Box::leak(all.into_boxed_slice()))
}

impl Build {
    pub fn offers(mut self, interface: &'static Interface, service: &'static [Step]) -> Build {
        self.offered.push((interface, service, u32::MAX));
        self
    }

    /// FINALLY of the service that was described last.
    pub fn ends(mut self, steps: &'static [Step]) -> Build {
        self.endings.insert(self.offered.len() - 1, steps);
        self
    }

    pub fn offers_to(mut self, limit: u32, interface: &'static Interface, service: &'static [Step]) -> Build {
        self.offered.push((interface, service, limit));
        self
    }

    /// Without an implementation: connected inward.
    pub fn relays(self, interface: &'static Interface) -> Build {
        self.offers(interface, &[])
    }

    pub fn requires(mut self, interface: &'static Interface) -> Build {
        self.required.push((interface, 0));
        self
    }

    pub fn requires_many(mut self, interface: &'static Interface) -> Build {
        self.required.push((interface, u32::MAX));
        self
    }

    pub fn main(mut self, steps: &'static [Step]) -> Build {
        self.main = Some(steps);
        self
    }

    pub fn finally(mut self, steps: &'static [Step]) -> Build {
        self.finally = Some(steps);
        self
    }

    /// A variable that is a container.
    pub fn holds(mut self, variable: usize) -> Build {
        self.owned.push((variable, Kind::Component, std::ptr::null()));
        self
    }

    /// A variable that is a collection with an INTEGER index.
    pub fn collects(mut self, variable: usize, element: Kind) -> Build {
        self.owned.push((variable, Kind::Collection, collection(element)));
        self
    }

    /// A register of its processes that owns something.
    pub fn register(mut self, register: usize, kind: Kind) -> Build {
        self.registers.push((register, kind));
        self
    }

    pub fn isolated(mut self) -> Build {
        self.isolated = true;
        self
    }

    pub fn virtual_time(mut self) -> Build {
        self.virtual_time = true;
        self
    }

    pub fn done(self) -> &'static Template {
        let mut offset = size_of::<Instance>() as u32;
        let mut take = |bytes: usize| {
            offset += bytes as u32;
            offset - bytes as u32
        };
        let main_process = if self.main.is_some() { take(8) } else { 0 };
        let (mut bodies, mut all_steps) = (Vec::new(), Vec::new());
        let registers = self.registers.clone();
        let mut body = |steps: &[Step], ending: &[Step], interface: Option<&'static Interface>| {
            let head = match interface {
                Some(interface) => PAYLOAD + 8 * interface.buffer(),
                None => size_of::<Process>(),
            };
            let owned = |&(register, kind): &(usize, Kind)| Owned {
                offset: (head + 8 * (3 + register)) as u32,
                kind,
                collection: std::ptr::null(),
                name: Str::new("local"),
            };
            let end: &[Step] = if ending.is_empty() { &[] } else { &[ending_begins] };
            all_steps.push(([steps, end, ending].concat(), steps.len() + end.len()));
            bodies.push(Body {
                entry: steps_address(),
                size: (head + 8 * FRAME) as u32,
                condition: (head + 8) as u32,
                frame: (head + 16) as u32,
                owned: leak(registers.iter().map(owned).collect()),
                finally: if ending.is_empty() { std::ptr::null() } else { steps_address() },
                interface: interface.map_or(std::ptr::null(), |i| i),
                native: std::ptr::null(),
            });
            bodies.len() as u32 - 1
        };
        let offered = self.offered.iter().enumerate().map(|(index, &(interface, steps, limit))| {
            let offset = take(size_of::<OfferedSlot>());
            let ending = self.endings.get(&index).copied().unwrap_or_default();
            let body = if steps.is_empty() { Offered::INWARD } else { body(steps, ending, Some(interface)) };
            let inward = if steps.is_empty() { take(size_of::<RequiredSlot>()) } else { 0 };
            Offered { inward, limit, ..Offered::plain(interface, offset, body) }
        });
        let offered = leak(offered.collect());
        let required = self.required.iter().map(|&(interface, slots)| Required {
            interface,
            offset: take(if slots == 0 { size_of::<RequiredSlot>() } else { 8 }),
            slots,
        });
        let required = leak(required.collect());
        let variables = take(8 * VARIABLES);
        let main = self.main.map_or(Template::NO_BODY, |steps| body(steps, &[], None));
        let finally = self.finally.map_or(Template::NO_BODY, |steps| body(steps, &[], None));
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let owned = self.owned.iter().map(|&(variable, kind, collection)| Owned {
            offset: variables + 8 * variable as u32,
            kind,
            collection,
            name: Str::new(names[variable]),
        });
        let owned = leak(owned.collect());
        let template: &Template = Box::leak(Box::new(Template {
            name: Str::new(self.name),
            location: 90,
            size: offset,
            isolated: self.isolated,
            virtual_time: self.virtual_time,
            role: Role::Own,
            offered,
            required,
            bodies: leak(bodies),
            main,
            finally,
            main_process,
            owned,
        }));
        STEPS.lock().unwrap().insert((&raw const *template).addr(), Box::leak(all_steps.into()));
        template
    }
}

/// The step before FINALLY.
fn ending_begins(c: C) -> Next {
    unsafe { status(ds_ending(c.w, c.p, 9)) }
}

fn steps_address() -> *const u8 {
    steps as *const u8
}

/// A collection with an INTEGER index.
pub fn collection(element: Kind) -> &'static Collection {
    Box::leak(Box::new(Collection {
        keys: Table::new(&[Kind::Word]),
        element,
        array: false,
        boolean_keys: false,
    }))
}

/// An interface: messages (name, sender, parameters), and for each state whether it may end and its transitions.
pub fn interface(
    name: &'static str,
    messages: &[(&'static str, Side, &[Type])],
    states: &[(bool, &[(usize, u16)])],
) -> &'static Interface {
    let described = messages.iter().map(|&(name, sender, parameters)| Message {
        name: Str::new(name),
        sender,
        parameters: leak(parameters.iter().map(|&ty| Parameter::new("x", ty)).collect()),
        marshalling: None,
    });
    let mut next = vec![Interface::NONE; states.len() * messages.len()];
    let mut bits = Vec::new();
    for (state, (may_end, transitions)) in states.iter().enumerate() {
        let mut all = if *may_end { Interface::MAY_END } else { 0 };
        for &(message, to) in *transitions {
            next[state * messages.len() + message] = to;
            all |= match messages[message].1 {
                Side::Client => Interface::CLIENT_SENDS,
                Side::Server => Interface::SERVER_SENDS,
            };
        }
        bits.push(all);
    }
    Box::leak(Box::new(Interface {
        name: Str::new(name),
        fingerprint: Fingerprint::of(name),
        messages: leak(described.collect()),
        next: leak(next),
        states: leak(bits),
        payload_words: messages.iter().map(|m| m.2.len()).max().unwrap_or(0),
        queued: 0,
    }))
}

/// The same interface with room for more messages behind the first.
pub fn with_room(interface: &Interface, queued: usize) -> &'static Interface {
    Box::leak(Box::new(Interface { queued, ..*interface }))
}

/// Sends a message behind those that are in the buffer, as generated code does; `false`: they are none, or the other
/// side's, or there is no room.
unsafe fn send_behind(c: *mut Communication, i: &Interface, message: u32, words: &[u64]) -> bool {
    unsafe {
        let word = &mut (*c).word;
        let sender = i.messages.get()[message as usize].sender;
        let flags = if sender == Side::Server { FOR_CLIENT } else { 0 };
        let into = i.next.get()[usize::from(word.state) * i.messages.length + message as usize];
        let is_next = word.tag != 0 && word.flags & !MORE == flags && into != Interface::NONE;
        let ring = c.byte_add(PAYLOAD + 8 * i.payload_words).cast::<Ring>();
        if i.queued == 0 || !is_next || (*ring).next.wrapping_sub((*ring).first) as usize == i.queued {
            return false;
        }
        let place = ring.add(1).cast::<u64>().add((*ring).next as usize % i.queued * (1 + i.payload_words));
        place.write(Ring::place(word.state, message as u16 + 1));
        words.iter().enumerate().for_each(|(k, &word)| place.add(1 + k).write(word));
        (*ring).next = (*ring).next.wrapping_add(1);
        word.state = into;
        word.flags |= MORE;
        true
    }
}

/// A program that starts with this component.
pub fn program(entry: &'static Template) -> &'static Program {
    let location = |line| Location { file: 0, line, column: 1, name: 0 };
    Box::leak(Box::new(Program {
        entry,
        files: leak(vec![Str::new("test.dry")]),
        locations: leak((0..100).map(location).collect()),
        names: leak(vec![Str::new("")]),
        suspension_points: Table::new(&[]),
        enter: enter as *const u8,
        native_shim: ds_native as *const u8,
        interfaces: Table::new(&[]),
        procedures: Table::new(&[]),
    }))
}

#[derive(Default)]
struct Bed {
    wanted: Mutex<bool>,
    changed: Condvar,
}

impl Bed {
    fn sleep(&self, timeout: Option<Duration>) {
        let wanted = self.wanted.lock().unwrap();
        let mut wanted = match timeout {
            Some(timeout) => self.changed.wait_timeout_while(wanted, timeout, |wanted| !*wanted).unwrap().0,
            None => self.changed.wait_while(wanted, |wanted| !*wanted).unwrap(),
        };
        *wanted = false;
    }

    fn wake(&self) {
        *self.wanted.lock().unwrap() = true;
        self.changed.notify_all();
    }
}

/// Threads of the test's process.
pub struct TestThreads {
    start: Instant,
    home: Bed,
    workers: Vec<Bed>,
    ticker: &'static Bed,
}

impl Threads for TestThreads {
    fn clock(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    fn processors(&self) -> usize {
        2
    }

    fn start_worker(&self, _: usize, run: unsafe fn(usize), argument: usize) -> bool {
        std::thread::spawn(move || unsafe { run(argument) });
        true
    }

    fn park(&self, worker: usize) {
        self.workers[worker].sleep(None);
    }

    fn unpark(&self, worker: usize) {
        self.workers[worker].wake();
    }

    fn start_ticker(&self, tick: Tick) {
        let bed = self.ticker;
        std::thread::spawn(move || {
            loop {
                match tick() {
                    TICK_STOP => return,
                    TICK_SLEEP => bed.sleep(None),
                    nanoseconds => std::thread::sleep(Duration::from_nanos(nanoseconds)),
                }
            }
        });
    }

    fn wake_ticker(&self) {
        self.ticker.wake();
    }

    fn notify(&self) {
        self.home.wake();
    }

    fn allocate(&self, bytes: usize) -> *mut u8 {
        let layout = std::alloc::Layout::from_size_align(bytes, 4096).unwrap();
        unsafe { std::alloc::alloc_zeroed(layout) }
    }

    unsafe fn free(&self, memory: *mut u8, bytes: usize) {
        let layout = std::alloc::Layout::from_size_align(bytes, 4096).unwrap();
        unsafe { std::alloc::dealloc(memory, layout) };
    }
}

/// A platform that keeps what is written.
pub struct TestPlatform {
    pub output: Vec<u8>,
    pub errors: Vec<u8>,
    threads: &'static TestThreads,
    /// Processes that wait, and when their input comes.
    pub inputs: Vec<(Instant, usize)>,
}

impl Platform for TestPlatform {
    fn write(&mut self, bytes: &[u8]) -> usize {
        self.output.extend_from_slice(bytes);
        bytes.len()
    }

    fn report(&mut self, bytes: &[u8]) {
        self.errors.extend_from_slice(bytes);
    }

    fn wait(&mut self, timeout: Option<u64>, wake: &mut dyn FnMut(*mut Process)) {
        let now = Instant::now();
        let next = self.inputs.iter().map(|(time, _)| time.saturating_duration_since(now)).min();
        let timeout = timeout.map(Duration::from_nanos);
        let timeout = [next, timeout].into_iter().flatten().min();
        if timeout != Some(Duration::ZERO) {
            self.threads.home.sleep(timeout);
        }
        let now = Instant::now();
        self.inputs.retain(|&(time, p)| {
            let comes = time <= now;
            if comes {
                wake(std::ptr::with_exposed_provenance_mut(p));
            }
            !comes
        });
    }

    fn pending(&self) -> usize {
        self.inputs.len()
    }

    fn forget(&mut self, process: *mut Process) {
        self.inputs.retain(|&(_, p)| p != process.addr());
    }

    fn threads(&self) -> &'static dyn Threads {
        self.threads
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

/// What a program did.
pub struct Ran {
    pub output: String,
    pub errors: String,
    pub outcome: Outcome,
}

/// Runs a program.
pub fn run_with(entry: &'static Template, cores: usize, memory_limit: usize) -> Ran {
    let threads = Box::leak(Box::new(TestThreads {
        start: Instant::now(),
        home: Bed::default(),
        workers: (0..cores).map(|_| Bed::default()).collect(),
        ticker: Box::leak(Box::default()),
    }));
    let mut platform = TestPlatform { output: Vec::new(), errors: Vec::new(), threads, inputs: Vec::new() };
    let options = Options { cores, memory_limit, seed: 1, is_restless: false, system: &mut |_, _| None };
    let outcome = drystone_runtime::run(program(entry), &mut platform, options);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran { output: text(&platform.output), errors: text(&platform.errors), outcome }
}

pub fn run(entry: &'static Template) -> Ran {
    run_with(entry, 1, usize::MAX)
}

/// Runs a program that must end well, and leave nothing behind; what it wrote.
pub fn output_of(entry: &'static Template) -> String {
    let ran = run(entry);
    assert_eq!(ran.errors, "");
    assert_eq!(ran.outcome.status, 0);
    assert_eq!(ran.outcome.live_processes, 0);
    assert_eq!(ran.outcome.live_bytes, 0, "bytes left behind");
    ran.output
}

/// Something that test bodies of one test share, where statics will not do.
pub type Shared<T> = Arc<Mutex<T>>;
