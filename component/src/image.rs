//! The image of a program: its templates, bodies and what their frames own, as the compiler lays them out for the
//! runtime.

use core::fmt;
use core::sync::atomic::AtomicPtr;

use crate::interface::{Interface, Type};
use crate::table::{Str, Table};

/// What one word of a message, frame or collection holds, as far as copying and freeing are concerned.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// INTEGER or REAL, 8 bytes.
    Word = 0,
    /// CHARACTER or BOOLEAN, 1 byte in a collection, 8 elsewhere.
    Byte = 1,
    /// TEXT: a pointer to a counted text, null if empty.
    Text = 2,
    /// A component: a pointer to an instance, null if the container is empty.
    Component = 3,
    /// A collection: a pointer to its header, null if it has no element.
    Collection = 4,
}

/// Something a frame or an instance owns and frees when it ends.
#[repr(C)]
pub struct Owned {
    /// Bytes from the start of the frame, process or instance.
    pub offset: u32,
    /// Text, Component or Collection.
    pub kind: Kind,
    /// For a collection.
    pub collection: *const Collection,
    /// The variable's name for component paths; empty for temporaries.
    pub name: Str,
}

/// A collection variable.
#[repr(C)]
pub struct Collection {
    /// One for each index: Word, Byte or Text. INTEGER orders as signed, Byte as unsigned, TEXT by bytes.
    pub keys: Table<Kind>,
    /// The kind of its elements; never Collection.
    pub element: Kind,
    /// `{ARRAY}`: fixed bounds.
    pub array: bool,
    /// A key of kind Byte is a BOOLEAN, not a CHARACTER: for component paths.
    pub boolean_keys: bool,
}

/// One offered interface of a template.
#[repr(C)]
pub struct Offered {
    /// Which.
    pub interface: *const Interface,
    /// Offset of its `OfferedSlot` in the instance.
    pub offset: u32,
    /// Index into [`Template::bodies`] of the implementation, or [`Offered::INWARD`].
    pub body: u32,
    /// If inward: offset of the `RequiredSlot` that leads on.
    pub inward: u32,
    /// How many clients may be connected at once.
    pub limit: u32,
    /// Whether anything can be connected here: if not, only the holder can be a client, and the slot is shorter.
    pub connectable: bool,
    /// The instructions of the implementation if it is a handler; empty otherwise.
    pub handler: Table<u8>,
    /// If it is a handler: the offset in the instance of the variables that handlers use.
    pub kept: u32,
    /// How many words these variables take for the handlers.
    pub kept_words: u32,
}

impl Offered {
    /// An interface that a body implements, without a handler, for any number of clients.
    pub const fn plain(interface: *const Interface, offset: u32, body: u32) -> Offered {
        let (inward, limit, connectable) = (0, u32::MAX, true);
        let (handler, kept, kept_words) = (Table::new(&[]), 0, 0);
        Offered { interface, offset, body, inward, limit, connectable, handler, kept, kept_words }
    }

    /// There is no implementation: the interface is connected inward.
    pub const INWARD: u32 = u32::MAX;

    /// [`Offered::limit`]: any number of clients. The component has no holder, and ends with its last client.
    pub const BINDING: u32 = u32::MAX - 1;
}

/// One required interface of a template.
#[repr(C)]
pub struct Required {
    /// Which.
    pub interface: *const Interface,
    /// Offset of its `RequiredSlot`, or of a pointer to a growing table of them if it has a cardinality.
    pub offset: u32,
    /// 0: no cardinality; else how many slots at most (`u32::MAX` for `*`).
    pub slots: u32,
}

/// What a process runs.
#[repr(C)]
pub struct Body {
    /// Where it starts: a resume function of generated code, or the native shim.
    pub entry: *const u8,
    /// Bytes of the process block: header, for a service the communication and its buffer, then the frame.
    pub size: u32,
    /// Offset of the pointer to the [`Condition`] that the process awaits; 0 if it never awaits.
    pub condition: u32,
    /// Offset of the pointer to the innermost procedure frame; 0 if it never has one.
    pub frame: u32,
    /// What the frame owns, in order of declaration, temporaries last.
    pub owned: Table<Owned>,
    /// For a service with FINALLY: the resume function by which that begins; null otherwise.
    pub finally: *const u8,
    /// The interface that it serves; null for BEGIN/ACTIVITY and FINALLY.
    pub interface: *const Interface,
    /// For native services: called when the process runs; null otherwise.
    pub native: *const u8,
}

/// A condition of AWAIT.
#[repr(C)]
pub struct Condition {
    /// `extern "C" fn(worker, process) -> u32`: 0 false, 1 true, 2 failed. Null: testing it may take long, so each
    /// process does that itself when it is its turn.
    pub test: *const u8,
    /// It is tested by releases of the component's lock with which it shares a bit.
    pub depends: u64,
    /// The answer is the same for all processes of the component.
    pub common: bool,
    /// Testing it notes which elements of collections it reads. A write of one of these has it tested, too.
    pub watches: bool,
}

/// A procedure's frame, for procedures that may wait.
#[repr(C)]
pub struct Frame {
    /// Bytes of the whole, header included.
    pub size: u32,
    /// The procedure, for messages.
    pub name: Str,
    /// What it owns, in order of declaration, temporaries last.
    pub owned: Table<Owned>,
}

/// A component template.
#[repr(C)]
pub struct Template {
    /// Its name.
    pub name: Str,
    /// Where it is declared: index into [`Program::locations`].
    pub location: u32,
    /// Bytes of an instance.
    pub size: u32,
    /// `{ISOLATED}`
    pub isolated: bool,
    /// `{VIRTUAL}`
    pub virtual_time: bool,
    /// What its instances are for.
    pub role: Role,
    /// Offered interfaces.
    pub offered: Table<Offered>,
    /// Required interfaces.
    pub required: Table<Required>,
    /// All bodies.
    pub bodies: Table<Body>,
    /// Index of the body that runs BEGIN and then ACTIVITY, or [`Template::NO_BODY`].
    pub main: u32,
    /// Index of the body that runs FINALLY, or [`Template::NO_BODY`].
    pub finally: u32,
    /// Offset of the pointer to the live main process (present if `main` is).
    pub main_process: u32,
    /// What the instance owns, in order of declaration.
    pub owned: Table<Owned>,
}

/// What the instances of a template are for.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// A component of the program, or a native one.
    Own = 0,
    /// Serves local clients of a remote server.
    Proxy,
    /// Stands for a remote client.
    Client,
    /// Waits for remote clients.
    Listener,
    /// Stands for a component of another domain.
    Remote,
}

impl Template {
    /// The number of a body that the template has not got.
    pub const NO_BODY: u32 = u32::MAX;

    /// The interfaces that its declaration requires, with their numbers in [`Template::required`].
    ///
    /// # Safety
    /// The pointers `interface` in [`Template::required`] lead to interfaces that live as long as `self`.
    pub unsafe fn declared(&self) -> impl Iterator<Item = (usize, &Required)> {
        // SAFETY: `interface` leads to an interface that lives as long as `self`.
        let is_declared = |required: &Required| !unsafe { &*required.interface }.is_for_block();
        self.required.get().iter().enumerate().filter(move |(_, required)| is_declared(required))
    }
}

/// `ANY(offers | requires)`.
#[repr(C)]
pub struct AnyType {
    /// Must be offered.
    pub offers: Table<*const Interface>,
    /// May be required.
    pub requires: Table<*const Interface>,
    /// Anything may be required.
    pub requires_anything: bool,
}

/// A procedure that a crate carries (`PROCEDURE {NATIVE}`): the program has its heading only.
#[repr(C)]
pub struct Procedure {
    /// Its name, with that of its file before it: `Hash.Sha256`.
    pub name: Str,
    /// Its parameters, and then its result if it has one.
    pub signature: Table<Formal>,
    /// What carries it. Null until the program is bound to its platform, which never changes it again.
    pub carrier: AtomicPtr<()>,
}

/// A parameter of a procedure, or its result.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formal {
    /// Its type; Component stands for `ANY`, a value of any type but components.
    pub ty: Type,
    /// How it gets there.
    pub passing: Passing,
}

/// How a value gets into a procedure, or out of it.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// A parameter.
    Value = 0,
    /// A `VARIABLE` parameter.
    Variable = 1,
    /// The result.
    Result = 2,
}

/// A signature as a heading has it: `(TEXT; VARIABLE INTEGER): BOOLEAN`.
pub struct Signature<'a>(pub &'a [Formal]);

impl fmt::Display for Signature<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        let parameters = self.0.iter().filter(|formal| formal.passing != Passing::Result);
        for (index, formal) in parameters.enumerate() {
            let before = if index == 0 { "" } else { "; " };
            let variable = if formal.passing == Passing::Variable { "VARIABLE " } else { "" };
            match formal.ty {
                Type::Component => write!(f, "{before}{variable}ANY")?,
                ty => write!(f, "{before}{variable}{ty}")?,
            }
        }
        f.write_str(")")?;
        match self.0.iter().find(|formal| formal.passing == Passing::Result) {
            Some(result) => write!(f, ": {}", result.ty),
            None => Ok(()),
        }
    }
}

/// A position in the source text, for run-time errors.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Location {
    /// Index into [`Program::files`].
    pub file: u32,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// The name that stands there: index into [`Program::names`], 0 if there is none.
    pub name: u32,
}

/// The location of a suspension point, for messages about deadlocks.
#[repr(C)]
pub struct SuspensionPoint {
    /// The resume function.
    pub function: *const u8,
    /// Index into [`Program::locations`].
    pub location: u32,
}

/// A compiled program.
#[repr(C)]
pub struct Program {
    /// The component that starts.
    pub entry: *const Template,
    /// Paths of the source files.
    pub files: Table<Str>,
    /// Locations, by the numbers that generated code passes.
    pub locations: Table<Location>,
    /// Names of variables and interfaces that stand at locations; the first is empty.
    pub names: Table<Str>,
    /// Every point where a process may be found waiting.
    pub suspension_points: Table<SuspensionPoint>,
    /// `extern "C" fn(worker, process)`: runs ready processes, beginning with this one, until the worker's
    /// queue is empty or its attention is wanted.
    pub enter: *const u8,
    /// Resume function of native processes.
    pub native_shim: *const u8,
    /// Every interface of the program, including the system's: native components find those that they offer by
    /// fingerprint.
    pub interfaces: Table<*const Interface>,
    /// The procedures that crates carry for it, as far as it calls them.
    pub procedures: Table<*const Procedure>,
}

/// Parts of a program's image may be read by all threads.
macro_rules! shared {
    ($($part:ty)*) => {
        // SAFETY: an image is never written but atomically; its pointers lead to other parts of the image, or to code.
        $(unsafe impl Sync for $part {})*
    };
}

shared! { Owned Collection Offered Required Body Condition Frame Template AnyType SuspensionPoint Program }
