//! What generated code and the runtime both touch: the blocks in memory and the meaning of every bit.
//!
//! A process is a state machine (*structured concurrent programs*, section 3.2): its block holds the address of the
//! function that resumes it, and what that function needs. Generated code reads and writes the fields marked *inline*
//! itself; their offsets are checked at the end of this file. Only the home worker touches what is declared here,
//! except where a comment says otherwise, so nothing is atomic.

use core::ffi::c_void;
use core::sync::atomic::{AtomicIsize, AtomicU32, AtomicU64, AtomicUsize};

#[allow(unused_imports, reason = "named in documentation")]
use drystone_component::Template;

/// Address of a resume function: `fn(worker, process)` in Cranelift's `tail` calling convention. It runs the process
/// until that has to wait, and then dispatches the next ready process. If there is none, or if [`Worker::attention`] is
/// set, it returns.
pub type Resume = *const u8;

/// `Body::native`: runs a native process until it has to wait or has ended.
pub type NativeBody = unsafe extern "C" fn(worker: *mut Worker, process: *mut Process);

/// What generated code sees of a worker, a thread that runs processes on a processor of its own. It writes here all the
/// time, so no two workers share a line of the cache, nor a pair of lines that processors fetch together.
#[repr(C, align(128))]
pub struct Worker {
    /// *inline* First ready process, null if there is none.
    pub ready_head: *mut Process,
    /// *inline* Last ready process; meaningless while the queue is empty.
    pub ready_tail: *mut Process,
    /// *inline* Not zero: generated code shall return to the scheduler at the next dispatch or preemption check. The
    /// ticker and other threads set it; the scheduler clears it.
    pub attention: AtomicU32,
    /// *inline* Not zero: the process that runs here is away from home. It must go home before it touches anything that
    /// it shares with other processes.
    pub away: u32,
    /// *inline* A procedure's result on its way to the caller.
    pub result: u64,
    /// *inline* Processes dispatched so far.
    pub switches: u64,
    /// *inline* Messages sent so far.
    pub messages: u64,
    /// *inline* The answer of an entry point, where generated code calls it without giving up any register.
    pub answer: u64,
    /// The runtime's part: a `home::WorkerData`, which begins with a `worker::Ground`.
    pub own: *mut c_void,
}

/// [`Worker::attention`]: the time slice is over.
pub const TICK: u32 = 1;
/// [`Worker::attention`]: the runtime has something for the scheduler.
pub const OTHER: u32 = 2;
/// [`Worker::attention`]: the platform has something for the scheduler.
pub const LOOK: u32 = 4;

/// The head of every process block. Its frame follows; that of a service stands behind the communication's buffer.
#[repr(C)]
pub struct Process {
    /// *inline* The function that resumes it.
    pub resume: Resume,
    /// *inline* The next process in the queue in which it stands.
    pub next: *mut Process,
    /// *inline* The component it belongs to.
    pub instance: *mut Instance,
    /// Index into the template's bodies.
    pub body: u16,
    /// *inline* How it holds its component's lock: `LOCK_NONE`, `LOCK_SHARED`, `LOCK_EXCLUSIVE`.
    pub lock: u8,
    /// *inline* What it waits for, or what has become of it: [`READY`] and the constants that follow.
    pub status: u8,
    /// The scheduler's, for the choice of processes that run in parallel, and for waking times.
    pub score: u32,
}

/// [`Process::status`], as generated code writes and compares it: in the ready queue.
pub const READY: u8 = 0;
/// [`Process::status`]: waits for room in a communication's buffer.
pub const ROOM: u8 = 1;
/// [`Process::status`], as generated code writes it: waits for a message or a close.
pub const NEWS: u8 = 2;

/// [`Process::status`]: waits to enter a monitor.
pub const ENTRY: u8 = 3;
/// [`Process::status`]: awaits a condition; it held the lock shared.
pub const AWAITS_SHARED: u8 = 4;
/// [`Process::status`]: awaits a condition; it held the lock exclusively.
pub const AWAITS_EXCLUSIVE: u8 = 5;
/// [`Process::status`]: sleeps.
pub const SLEEPS: u8 = 6;
/// [`Process::status`]: has slept, and its `ds_passivate` is about to be called again.
pub const WOKEN: u8 = 7;
/// [`Process::status`]: waits for a connection.
pub const CONNECTION: u8 = 8;
/// [`Process::status`]: a service that waits for its component's BEGIN.
pub const UNBEGUN: u8 = 9;
/// [`Process::status`]: waits for the end of a deletion.
pub const DELETION: u8 = 10;
/// [`Process::status`]: a native process that waits for the platform.
pub const PLATFORM: u8 = 11;
/// [`Process::status`]: has failed; the scheduler ends it.
pub const FAILED: u8 = 12;
/// [`Process::status`]: runs on another worker, or is about to.
pub const AWAY: u8 = 13;
/// [`Process::status`]: a native service that its client, which runs, calls directly: see the native module's calls.
pub const CALLED: u8 = 14;
/// [`Process::status`]: a native service that shall take back what it has lent, and go on waiting: see the native
/// module's `direct`.
pub const RECALLED: u8 = 15;
/// [`Process::status`]: was preempted and has not waited since; it is ready, or runs.
pub const PREEMPTED: u8 = 16;
/// [`Process::status`]: waits until less output is queued.
pub const WRITES: u8 = 17;
/// [`Process::status`]: waits for the first of several things, see the communication module's `select`.
pub const SELECTS: u8 = 18;

/// [`Process::status`]: waits until a component is at home that another worker has.
pub const VISITS: u8 = 19;

/// [`Process::lock`]: not at all.
pub const LOCK_NONE: u8 = 0;
/// [`Process::lock`]: together with other processes.
pub const LOCK_SHARED: u8 = 1;
/// [`Process::lock`]: alone.
pub const LOCK_EXCLUSIVE: u8 = 2;
/// Bit of [`Process::lock`], beside [`LOCK_EXCLUSIVE`]: away from home, it wrote elements that conditions watch.
pub const LOCK_WROTE: u8 = 4;
/// Bit of [`Process::lock`], beside [`LOCK_EXCLUSIVE`]: it awaits a condition, and holds the lock to test it.
pub const LOCK_TESTS: u8 = 8;

/// The most elements that a condition may declare that it reads.
pub const WATCHED: usize = 2;

/// A service process together with its communication with one client.
#[repr(C)]
pub struct Communication {
    /// The service process.
    pub process: Process,
    /// *inline* The process that waits for a change here, or null. At most one waits.
    pub waiter: *mut Process,
    /// *inline* State, seen, tag and flags, see [`CommunicationWord`].
    pub word: CommunicationWord,
    // The buffer follows, [`Interface::buffer`] words, then the frame.
}

/// The messages behind a buffer's first one, by numbers that wrap around: see the communication module's `more`. There
/// are none while [`MORE`] is clear.
#[repr(C)]
pub struct Ring {
    /// *inline* The second message's.
    pub first: u32,
    /// *inline* That of the next one to be sent.
    pub next: u32,
}

impl Ring {
    /// A place's word before its message's: the state in which that was sent, and its tag, where a
    /// [`CommunicationWord`] has `seen` and `tag`.
    pub const fn place(seen: u16, tag: u16) -> u64 {
        (seen as u64) << 16 | (tag as u64) << 32
    }

    /// The state and the tag of a place's word.
    pub const fn sent(place: u64) -> (u16, u16) {
        ((place >> 16) as u16, (place >> 32) as u16)
    }
}

/// Bytes before the payload.
pub const PAYLOAD: usize = 48;

/// The state of a communication in 8 bytes, so that generated code can compare and replace it as one word
/// (little-endian: `state` is the low half-word).
///
/// Only one side may send in any state, so one buffer serves both directions. While it is empty, both sides see the
/// same state.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommunicationWord {
    /// State of the protocol after the last message that was sent.
    pub state: u16,
    /// State as the receiver of the buffered message sees it; equal to `state` while the buffer is empty.
    pub seen: u16,
    /// 0: the buffer is empty; else 1 + index of the message in it.
    pub tag: u16,
    /// Bits below.
    pub flags: u16,
}

/// The buffered message is for the client (else for the server). Clear while the buffer is empty.
pub const FOR_CLIENT: u16 = 1;
/// The client has closed the communication.
pub const CLIENT_CLOSED: u16 = 2;
/// The service has ended, where the protocol allows it. The next send begins a new communication.
pub const SERVICE_ENDED: u16 = 4;
/// One side is lost: the client if [`CLIENT_CLOSED`] is set, too, and the server if [`SERVICE_ENDED`] is. The other
/// side gets no more messages from it than those in the buffer; what it sends is dropped.
pub const GONE: u16 = 8;
/// A native service is parked: a client that has sent a request calls it directly.
pub const CALLS: u16 = 16;

/// The client is to be bound to another server as soon as it may begin a new communication: see
/// [`crate::binding::rebind`].
pub const LEAVES: u16 = 32;
/// Messages stream to or from a pump without a switch of processes for each: see the communication module's `moving`.
pub const STREAMS: u16 = 64;
/// The service is in its FINALLY: it neither sends nor receives any more, and its client waits until it has ended.
pub const ENDING: u16 = 128;
/// Processes that wait for the first of several things watch it, beside the one that may be its waiter. Generated code
/// leaves such a communication to the runtime, which tells them.
pub const SELECTED: u16 = 256;
/// *inline* There are more messages in the buffer than the first: see the communication module's `more`.
pub const MORE: u16 = 512;
/// Its two sides are at two workers: neither touches it until both are at home. Generated code leaves such a
/// communication to the runtime.
pub const APART: u16 = 1024;

/// A component at run time. Slots and variables follow, as its template says.
#[repr(C)]
pub struct Instance {
    /// Its [`Template`]; or, with [`KIND_RARE`] or [`KIND_DELETION`] set, a record that begins with the template's
    /// address. Most instances need no record.
    pub kind: *const u8,
    /// Its holder: an instance, or a process if bit 0 is set; null while it is in a message, and for the program's
    /// entry. With [`LEAVING`] set, the address of a communication instead. [`LENT`] may be set besides.
    pub holder: usize,
    /// *inline* The monitor's lock: [`EXCLUSIVE_BIT`], [`QUEUED_BIT`], and how many processes share it.
    pub lock: u32,
    /// How many of its processes are alive ([`COUNT`]), and the bits of its phase.
    pub live: u32,
}

/// [`Instance::kind`]: its record is a [`crate::instance::Rare`].
pub const KIND_RARE: usize = 1;
/// [`Instance::kind`]: its record only says how far its deletion is.
pub const KIND_DELETION: usize = 2;

/// [`Instance::lock`]: one process holds it alone.
pub const EXCLUSIVE_BIT: u32 = 1 << 31;
/// [`Instance::lock`]: a process is queued for entry or for a condition, so releasing the lock takes the long way.
pub const QUEUED_BIT: u32 = 1 << 30;

/// [`Instance::live`]: how many processes are alive.
pub const COUNT: u32 = (1 << 26) - 1;
/// [`Instance::live`]: it stays at home, because of something in it that other workers can't run: see
/// [`crate::instance::stays_at_home`].
pub const STAYS: u32 = 1 << 26;
/// [`Instance::live`]: it is dead, and the error that has ended it is known.
pub const FAULT_KNOWN: u32 = 1 << 27;
/// [`Instance::live`]: BEGIN has ended: services may answer.
pub const BEGUN: u32 = 1 << 28;
/// [`Instance::live`]: it is being deleted; [`crate::instance::deletion_in`] says how far that is.
pub const DELETING: u32 = 1 << 29;
/// [`Instance::live`]: no service starts any more.
pub const CLOSED: u32 = 1 << 30;
/// [`Instance::holder`]: it is being deleted without a record, by a process of its holder, or by its holder if that is
/// a process. The process waits at this communication, which was the holder's.
pub const LEAVING: usize = 2;
/// [`Instance::holder`]: it is lent to another worker, with all that is in it: see the home's `lending`. Only the home
/// touches this field meanwhile.
pub const LENT: usize = 4;
/// [`Instance::live`]: only its block is left; its container counts as empty.
pub const DEAD: u32 = 1 << 31;

/// Whether a container counts as empty.
///
/// # Safety
/// `instance` is what the container holds: null, or an instance whose block is still there.
#[inline]
pub unsafe fn is_empty(instance: *mut Instance) -> bool {
    // SAFETY: an address that isn't null is that of an instance.
    instance.is_null() || unsafe { (*instance).live & DEAD != 0 }
}

/// The instance's end of an offered interface.
#[repr(C)]
pub struct OfferedSlot {
    /// *inline* The holder's own communication, null before its first use.
    pub holder: *mut Communication,
    /// The first of the required slots that are connected here. If there is none, the instance, with bit 0 set; else
    /// [`RequiredSlot::previous`] of the first is that. Only there if [`drystone_component::Offered::connectable`].
    pub clients: *mut RequiredSlot,
}

impl OfferedSlot {
    /// Its size in bytes.
    pub const fn size(connectable: bool) -> usize {
        if connectable { size_of::<OfferedSlot>() } else { size_of::<*mut Communication>() }
    }
}

/// The instance's end of a required interface, or of an inward connection: which slot serves it (`target`), and the
/// communication with its service.
#[repr(C)]
pub struct RequiredSlot {
    /// An [`OfferedSlot`], or a [`RequiredSlot`] with bit 0 set (passed on); 0 if unconnected.
    pub target: usize,
    /// *inline* The communication, null before its first use.
    pub communication: *mut Communication,
    /// The next slot that is connected to the same target.
    pub next: *mut RequiredSlot,
    /// The previous one. In the first one of an offered slot: that slot's instance, with bit 0 set.
    pub previous: *mut RequiredSlot,
    /// The instance that this slot is part of.
    pub instance: *mut Instance,
    /// First of the required slots to which this one is passed on.
    pub clients: *mut RequiredSlot,
}

/// What handlers share with an instance whose services run where requests arrive: these words, as
/// `extension::composite::shared` defines them, and the handlers' variables behind them. When a handler runs elsewhere,
/// the words are moved there, so that handler and instance have the same.
#[repr(C)]
pub struct Kept {
    /// How far from here they are, in bytes: 0 until a handler runs elsewhere.
    pub displacement: AtomicIsize,
    /// How many processes of the instance hold the handlers' lock. The first one took it for all of them.
    pub holders: AtomicUsize,
    /// That lock: the first of the words.
    pub lock: AtomicU64,
}

impl Kept {
    /// Where the words begin.
    pub const WORDS: usize = core::mem::offset_of!(Kept, lock);
    /// How many of them stand before the variables.
    pub const HEAD: usize = 4;
}

/// The slots of a required interface with a cardinality. Pointers to them follow *inline*, null where there is no slot
/// yet.
#[repr(C)]
pub struct SlotTable {
    /// *inline* How many pointers follow.
    pub length: usize,
}

/// The head of a procedure's frame; parameters, variables and temporaries follow.
#[repr(C)]
pub struct FrameHead {
    /// *inline* The frame of the caller, null if that is the process's own.
    pub caller: *mut FrameHead,
    /// Its description.
    pub frame: *const drystone_component::Frame,
    /// *inline* The function that resumes the caller.
    pub return_to: Resume,
    /// *inline* The frame (or process) of the enclosing procedure (or implementation), if the procedure uses that.
    pub outer: *mut u8,
}

/// A text: its bytes follow. A null pointer is the empty text.
#[repr(C)]
pub struct TextHead {
    /// *inline* Holders, each counting 256; the lowest byte says how large the block is (see the text module's `room`).
    /// Negative: in read-only data, never freed. Changed atomically while any process is away.
    pub count: i64,
    /// *inline* Number of bytes; 0: this is a [`TextSlice`].
    pub length: u64,
}

/// A text that is a part of another one and shares its bytes.
#[repr(C)]
pub struct TextSlice {
    /// Of length 0.
    pub head: TextHead,
    /// *inline* The first byte.
    pub bytes: *const u8,
    /// *inline* Number of bytes, more than 0.
    pub length: u64,
    /// The text to which they belong. It is held, and no slice itself.
    pub whole: *mut TextHead,
}

/// Bytes before a text's first character, and a record's first word.
pub const TEXT_BYTES: usize = 16;

/// An `{ARRAY}` collection; its variable points here once made. The size of each dimension follows.
#[repr(C)]
pub struct ArrayHead {
    /// *inline* The elements, row by row: 1 byte each for kind Byte, else 8.
    pub elements: *mut u8,
    /// *inline* Number of elements in all.
    pub count: u64,
    // *inline* at offset 16: one u64 for each dimension.
}

/// Any other collection; its variable points here once it has had an element. What follows is the collection module's.
#[repr(C)]
pub struct CollectionHead {
    /// *inline* Elements of the dense part: that of key `low + i` is at `dense + i * (1 or 8)`. Only collections with
    /// one index, of kind Word or Byte, ever have a dense part.
    pub dense: *mut u8,
    /// *inline* First key of the dense part.
    pub low: i64,
    /// *inline* Number of elements in it, all of them present; 0 if there is no dense part. (The collection may have
    /// other elements.)
    pub length: u64,
}

/// An element of a collection as a `VARIABLE` parameter names it. One word for each key follows, texts held elsewhere.
#[repr(C)]
pub struct ElementName {
    /// *inline* The collection variable.
    pub cell: *mut *mut u8,
    /// *inline* Its description.
    pub collection: *const drystone_component::Collection,
}

/// Set in the word of a `VARIABLE` parameter if it is the address of an [`ElementName`]. No address in use has this
/// bit.
pub const IS_NAME: usize = 1 << 63;

/// What an operation that may wait or fail tells generated code.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Done: go on.
    Done = 0,
    /// Save what is needed, and dispatch. The process either waits, and shall try the same operation again when it is
    /// resumed; or it has failed, and the scheduler ends it.
    Leave = 1,
}

/// One of the things for which a process waits, as `ds_select` gets it.
#[repr(C)]
pub struct Source {
    /// *inline* The required slot, the offered slot of a component that is held, or the service's communication; for a
    /// condition, whether it holds.
    pub at: usize,
    /// *inline* The component that is held.
    pub instance: *mut Instance,
    /// *inline* The communication's interface.
    pub interface: *const drystone_component::Interface,
    /// *inline* [`SOURCE_SERVICE`] and the constants that follow.
    pub way: u32,
    /// *inline* A message, or as `ds_test` has it; or [`ANYTHING`].
    pub pattern: i32,
}

/// [`Source::way`]: the client of this service.
pub const SOURCE_SERVICE: u32 = 0;
/// [`Source::way`]: the server of a required interface.
pub const SOURCE_REQUIRED: u32 = 1;
/// [`Source::way`]: a component that is held.
pub const SOURCE_HELD: u32 = 2;
/// [`Source::way`]: a condition.
pub const SOURCE_CONDITION: u32 = 3;
/// [`Source::pattern`]: any message, or that the other side has closed.
pub const ANYTHING: i32 = -3;
/// A deadline that never comes.
pub const NEVER: i64 = i64::MAX;

/// Run-time errors, by the numbers that generated code passes.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Fault {
    Overflow = 0,
    DivisionByZero = 1,
    IndexOutOfBounds = 2,
    MissingElement = 3,
    EmptyContainer = 4,
    FullContainer = 5,
    AssertionFailed = 6,
    ProtocolViolation = 7,
    OutOfMemory = 8,
    StackLimit = 9,
    Deadlock = 10,
    InvalidConversion = 11,
    MissingReturn = 12,
    WrongType = 13,
    InvalidArgument = 14,
    ConnectionCycle = 15,
    BindingRefused = 16,
    NoBranch = 17,
}

const _: () = {
    use core::mem::{offset_of, size_of};
    assert!(offset_of!(Worker, attention) == 16 && offset_of!(Worker, away) == 20);
    assert!(offset_of!(Worker, result) == 24 && offset_of!(Worker, switches) == 32);
    assert!(offset_of!(Worker, messages) == 40 && offset_of!(Worker, answer) == 48);
    assert!(offset_of!(Process, status) == 27);
    assert!(size_of::<Process>() == 32 && offset_of!(Process, lock) == 26);
    assert!(offset_of!(Communication, waiter) == 32 && offset_of!(Communication, word) == 40);
    assert!(size_of::<Communication>() == PAYLOAD);
    assert!(
        size_of::<Source>() == 32 && offset_of!(Source, instance) == 8 && offset_of!(Source, interface) == 16
    );
    assert!(offset_of!(Source, way) == 24 && offset_of!(Source, pattern) == 28);
    assert!(size_of::<Instance>() == 24 && offset_of!(Instance, lock) == 16);
    assert!(size_of::<OfferedSlot>() == 16 && size_of::<RequiredSlot>() == 48);
    assert!(size_of::<FrameHead>() == 32 && size_of::<TextHead>() == TEXT_BYTES);
};
