//! The runtime's entry points as generated code calls them: `runtime/ENTRY_POINTS.md` says what they do.

use crate::mir::Machine::{F64, I32, I64};
use crate::mir::Passes::{self, Nothing, Worker, WorkerAndProcess as Both};
use crate::mir::{Entry, Failure};

macro_rules! entries {
    ($($constant:ident = $name:literal $passes:ident [$($argument:ident),*] $result:tt $failure:ident;)*) => {
        $(
            #[doc = concat!("`", $name, "`")]
            pub static $constant: Entry = Entry {
                name: $name,
                passes: $passes,
                arguments: &[$($argument),*],
                result: entries!(@result $result),
                failure: Failure::$failure,
            };
        )*

        /// All of them.
        pub static ALL: &[&Entry] = &[$(&$constant),*];
    };
    (@result (-)) => { None };
    (@result ($machine:ident)) => { Some($machine) };
}

/// Those that are called where something unusual has happened: calls that keep the caller's registers, so that the usual
/// way through a segment has little to save.
pub static UNUSUAL: &[&Entry] = &[
    &FAIL,
    &MISSING,
    &PREEMPT,
    &GO_HOME,
    &FIND_REQUIRED,
    &REACH,
    &REACH_HELD,
    &SEND,
    &ROOM,
    &SENT,
    &RECEIVE,
    &RECEIVED,
    &TEST,
    &LOCK,
    &UNLOCK,
    &WROTE,
];

entries! {
    FAIL = "ds_fail" Both [I32, I32] (-) Never;
    MISSING = "ds_missing" Both [I64, I64, I64, I32] (-) Never;
    PREEMPT = "ds_preempt" Both [] (I32) NotZero;
    GO_HOME = "ds_go_home" Both [] (-) Never;
    FINISH = "ds_finish" Both [I32] (-) Never;
    BEGUN = "ds_begun" Both [] (-) Never;
    HALT = "ds_halt" Both [I64] (-) Never;

    EXISTS = "ds_exists" Nothing [I64] (I32) Never;
    INSTANCE_SIZE = "ds_instance_size" Nothing [I64] (I64) Never;
    NEW = "ds_new" Both [I64, I64, I64, I32] (I32) NotZero;
    DELETE = "ds_delete" Both [I64, I32] (I32) NotZero;
    DELETE_COLLECTION = "ds_delete_collection" Both [I64, I64, I32] (I32) NotZero;
    DELETE_HELD = "ds_delete_held" Both [I64, I64, I32] (I32) NotZero;
    MOVE = "ds_move" Both [I64, I64, I64, I32] (I32) NotZero;
    DEPART = "ds_depart" Both [I64, I32] (I64) Zero;
    ARRIVE = "ds_arrive" Both [I64, I64, I64, I32] (I32) NotZero;
    CONFORMS = "ds_conforms" Both [I64, I64, I32] (I32) Two;
    IS = "ds_is" Both [I64, I64, I32] (I32) Two;

    REQUIRES = "ds_requires" Both [I64, I64, I32] (I32) Two;

    FIND_OFFERED = "ds_find_offered" Both [I64, I64, I32] (I64) Zero;
    FIND_REQUIRED = "ds_find_required" Both [I64, I64, I64, I32] (I64) Zero;
    CONNECT = "ds_connect" Both [I64, I64, I32] (I32) NotZero;
    DISCONNECT = "ds_disconnect" Both [I64, I32] (I32) NotZero;
    COUNT = "ds_count" Worker [I64, I32] (I64) Never;

    REACH = "ds_reach" Both [I64, I64, I32] (I64) Zero;
    REACH_HELD = "ds_reach_held" Both [I64, I64, I64, I32] (I64) Zero;
    SEND = "ds_send" Both [I64, I64, I32, I32] (I64) Zero;
    ROOM = "ds_room" Both [I64, I64, I32, I32] (I64) Zero;
    SENT = "ds_sent" Worker [I64, I64, I32] (-) Never;
    RECEIVE = "ds_receive" Both [I64, I64, I32, I32] (I64) Zero;
    RECEIVED = "ds_received" Worker [I64] (-) Never;
    TEST = "ds_test" Both [I64, I64, I32, I32, I32] (I32) Two;
    INPUT = "ds_input" Both [I64, I64, I32, I32] (I32) Two;
    INPUT_SLOT = "ds_input_slot" Both [I64, I64, I32, I32] (I32) Two;
    INPUT_HELD = "ds_input_held" Both [I64, I64, I64, I32, I32] (I32) Two;

    LOCK = "ds_lock" Both [I32] (I32) NotZero;
    UNLOCK = "ds_unlock" Both [I64] (-) Never;
    AWAIT = "ds_await" Both [I64] (I32) NotZero;
    WATCH = "ds_watch" Both [I64, I64, I64] (-) Never;
    WROTE = "ds_wrote" Both [I64, I64, I64] (-) Never;

    FRAME_NEW = "ds_frame_new" Both [I64, I32] (I64) Zero;
    FRAME_END = "ds_frame_end" Both [] (-) Never;

    TIME = "ds_time" Worker [] (I64) Never;
    DEADLINE = "ds_deadline" Worker [I64] (I64) Never;
    IS_PAST = "ds_is_past" Worker [I64] (I32) Never;
    ALARM = "ds_alarm" Both [I64] (I64) Never;
    ALARM_OVER = "ds_alarm_over" Worker [I64, I64] (-) Never;
    PASSIVATE = "ds_passivate" Both [I64, I32] (I32) NotZero;
    RANDOM = "ds_random" Both [I64, I64, I32] (I64) Never;

    WRITE_INTEGER = "ds_write_integer" Worker [I64] (-) Never;
    WRITE_REAL = "ds_write_real" Worker [F64] (-) Never;
    WRITE_BOOLEAN = "ds_write_boolean" Worker [I32] (-) Never;
    WRITE_CHARACTER = "ds_write_character" Worker [I32] (-) Never;
    WRITE_TEXT = "ds_write_text" Worker [I64] (-) Never;
    WRITE_HEX = "ds_write_hex" Worker [I64] (-) Never;
    WRITE_LINE = "ds_write_line" Worker [] (-) Never;

    TEXT_COPY = "ds_text_copy" Worker [I64] (I64) Never;
    TEXT_DROP = "ds_text_drop" Worker [I64] (-) Never;
    TEXT_NEW = "ds_text_new" Both [I64, I32] (I64) MinusOne;
    TEXT_CONCAT = "ds_text_concat" Both [I64, I64, I32] (I64) MinusOne;
    TEXT_APPEND = "ds_text_append" Both [I64, I64, I32] (I32) NotZero;
    TEXT_APPEND_CHARACTER = "ds_text_append_character" Both [I64, I32, I32] (I32) NotZero;
    TEXT_COMPARE = "ds_text_compare" Nothing [I64, I64] (I32) Never;
    TEXT_EQUAL = "ds_text_equal" Nothing [I64, I64] (I32) Never;
    TEXT_SET = "ds_text_set" Both [I64, I64, I32, I32] (I32) NotZero;
    TEXT_SLICE = "ds_text_slice" Both [I64, I64, I64, I32] (I64) MinusOne;
    TEXT_FIND = "ds_text_find" Both [I64, I64, I64, I32] (I64) Smallest;
    TEXT_FROM_INTEGER = "ds_text_from_integer" Both [I64, I32] (I64) MinusOne;
    TEXT_FROM_REAL = "ds_text_from_real" Both [F64, I32] (I64) MinusOne;
    TEXT_FROM_BOOLEAN = "ds_text_from_boolean" Both [I32, I32] (I64) MinusOne;
    TEXT_FROM_CHARACTER = "ds_text_from_character" Both [I32, I32] (I64) MinusOne;
    NUMBER_INTEGER = "ds_number_integer" Nothing [I64, I64] (I32) Never;
    NUMBER_REAL = "ds_number_real" Nothing [I64, I64] (I32) Never;

    ARRAY_NEW = "ds_array_new" Both [I64, I64, I64, I32] (I32) NotZero;
    FIND = "ds_find" Worker [I64, I64, I64] (I64) Never;
    INSERT = "ds_insert" Both [I64, I64, I64, I32] (I64) Zero;
    REMOVE = "ds_remove" Worker [I64, I64, I64] (I32) Never;
    NAMED_FIND = "ds_named_find" Nothing [I64] (I64) Never;
    NAMED_PRESENT = "ds_named_present" Both [I64, I32] (I64) Zero;
    NAMED_MAKE = "ds_named_make" Both [I64, I32] (I64) Zero;
    NAMED_EMPTY = "ds_named_empty" Worker [I64] (-) Never;
    NEXT = "ds_next" Worker [I64, I64, I64, I32] (I32) Never;

    SIN = "ds_sin" Nothing [F64] (F64) Never;
    COS = "ds_cos" Nothing [F64] (F64) Never;
    TAN = "ds_tan" Nothing [F64] (F64) Never;
    ARCSIN = "ds_arcsin" Nothing [F64] (F64) Never;
    ARCCOS = "ds_arccos" Nothing [F64] (F64) Never;
    ARCTAN = "ds_arctan" Nothing [F64] (F64) Never;
}

/// How many leading arguments are passed by the emitter itself.
pub fn passed(passes: Passes) -> usize {
    match passes {
        Nothing => 0,
        Worker => 1,
        Both => 2,
    }
}
