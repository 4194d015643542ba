//! The image of a program: templates, bodies and what they own, as the compiler lays them out for the runtime.

use crate::interface::Interface;
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
    /// Of the elements; never Collection.
    pub element: Kind,
    /// `{ARRAY}`: fixed bounds.
    pub array: bool,
    /// For the component path: a key of kind Byte is a BOOLEAN (else a CHARACTER).
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
    /// The implementation as a handler: its instructions. Empty: it is none.
    pub handler: Table<u8>,
    /// If it is one: offset, in the instance, of what handlers have of it.
    pub kept: u32,
    /// How many words that has, as the handlers know it.
    pub kept_words: u32,
}

impl Offered {
    /// One that a body implements, no handler, for as many clients as want to connect.
    pub const fn plain(interface: *const Interface, offset: u32, body: u32) -> Offered {
        let (inward, limit, connectable) = (0, u32::MAX, true);
        let (handler, kept, kept_words) = (Table::new(&[]), 0, 0);
        Offered { interface, offset, body, inward, limit, connectable, handler, kept, kept_words }
    }

    /// There is no implementation: the interface is connected inward.
    pub const INWARD: u32 = u32::MAX;

    /// [`Offered::limit`]: as many clients as want, and the component, which nobody holds, goes with the last of them.
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
    /// What may make it true: bits that the releases of a component's lock and its conditions agree on.
    pub depends: u64,
    /// The answer is the same for all processes of the component.
    pub common: bool,
    /// Testing it says which elements of collections it reads; when one of these is written, it has to be tested too.
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
    /// What the program says, or the native component.
    Own = 0,
    /// Serves near clients of what is elsewhere.
    Proxy,
    /// Is a client from elsewhere.
    Client,
    /// Waits for clients from elsewhere.
    Listener,
    /// Stands for a component of another domain.
    Remote,
}

impl Template {
    /// There is no such body.
    pub const NO_BODY: u32 = u32::MAX;

    /// What it requires by its declaration, with its number in [`Template::required`].
    ///
    /// # Safety
    /// Its interfaces are there.
    pub unsafe fn declared(&self) -> impl Iterator<Item = (usize, &Required)> {
        // SAFETY: as the caller promises.
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
    /// What stands there: index into [`Program::names`], 0 if there is nothing to tell.
    pub name: u32,
}

/// Where a process that waits at a suspension point stands, for messages about deadlocks.
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
    /// Every interface of the program, those of the system among them: native components find by its fingerprint what
    /// they offer.
    pub interfaces: Table<*const Interface>,
}

// SAFETY: never written after they are made; what they point to is read-only data or code.
unsafe impl Sync for Owned {}
unsafe impl Sync for Collection {}
unsafe impl Sync for Offered {}
unsafe impl Sync for Required {}
unsafe impl Sync for Body {}
unsafe impl Sync for Condition {}
unsafe impl Sync for Frame {}
unsafe impl Sync for Template {}
unsafe impl Sync for AnyType {}
unsafe impl Sync for SuspensionPoint {}
unsafe impl Sync for Program {}
