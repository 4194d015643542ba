//! The entry points for generated code, as one table; ENTRY_POINTS.md says what they do.
//!
//! The table gives names and addresses for code that is made while the program runs, and the signatures from which the
//! compiler makes calls. A row whose types differ from its function's does not compile.

mod signature;

pub use signature::{EntryPoint, Failure, Machine};

macro_rules! entry_points {
    ($($module:path { $(
        $(#[$others:ident])? $constant:ident = $name:ident($($given:ident),*; $($argument:ty),*)
            $(-> $result:ty $(where $failure:ident leaves)?)?;
    )* })*) => {
        $(pub use $module::{$($name),*};)*

        /// What generated code has to know of each entry point.
        pub mod table {
            use super::signature::{EntryPoint, Failure, Machine, Word};
            use crate::component::*;
            use crate::layout::*;

            $($(
                #[doc = concat!("`", stringify!($name), "`")]
                pub static $constant: EntryPoint = EntryPoint {
                    name: stringify!($name),
                    address: {
                        let function: unsafe extern "C" fn(
                            $(entry_points!(@type $given),)* $($argument),*
                        ) $(-> $result)? = super::$name;
                        function as *const u8
                    },
                    given: entry_points!(@given $($given)*),
                    arguments: &[$(<$argument as Word>::MACHINE),*],
                    result: entry_points!(@result $($result)?),
                    failure: entry_points!(@failure $($($failure)?)?),
                    suspends: entry_points!(@suspends $($others)?),
                    lets_others_run: entry_points!(@lets_run $($others)?),
                };
            )*)*

            /// All of them.
            pub static ALL: &[&EntryPoint] = &[$($(&$constant),*),*];
        }
    };
    (@type w) => { *mut Worker };
    (@type p) => { *mut Process };
    (@given) => { 0 };
    (@given w) => { 1 };
    (@given w p) => { 2 };
    (@result) => { None::<Machine> };
    (@result $result:ty) => { Some(<$result as Word>::MACHINE) };
    (@failure) => { Failure::Never };
    (@failure $failure:ident) => { Failure::$failure };
    (@suspends) => { false };
    (@suspends suspends) => { true };
    (@suspends lets_others_run) => { false };
    (@lets_run) => { false };
    (@lets_run suspends) => { false };
    (@lets_run lets_others_run) => { true };
}

// A row says what a function takes (`w` and `p` are always the worker and the process that runs), what it gives, and
// which result means that generated code must leave. An entry point that `suspends` may wait or must run at home, so it
// is called at suspension points only. Within one that `lets_others_run` other processes may run when it takes long
// (see the `long` module).
entry_points! {
    crate::binding {
        #[suspends] BIND = ds_bind(w, p; *mut RequiredSlot, &'static Interface, *const TextHead, *const TextHead, u32)
            -> Status where NotZero leaves;
        #[suspends] CONNECT_BY = ds_connect_by(w, p; *mut RequiredSlot, usize, &'static Interface, *const TextHead, u32)
            -> Status where NotZero leaves;
        #[suspends] EXPORT = ds_export(w, p; usize, &'static Interface, *const TextHead, *const TextHead, u32)
            -> Status where NotZero leaves;
        #[suspends] NEW_AT = ds_new_at(
            w, p; *mut *mut Instance, &'static Template, usize, *const TextHead, *const TextHead, u32
        ) -> Status where NotZero leaves;
    }
    crate::binding::shipment {
        #[suspends] LEAVE = ds_leave(w, p; *mut RequiredSlot, u32) -> Status where NotZero leaves;
        #[suspends] SHIPPED_FAILED = ds_shipped_failed(w, p; i64, i64, *const TextHead, u32)
            -> Status where NotZero leaves;
        #[suspends] SHIPPED_LOST = ds_shipped_lost(w, p; *mut RequiredSlot, u32) -> Status where NotZero leaves;
        SHIPS = ds_ships(w, p; *mut RequiredSlot, &'static Interface, *const *mut RequiredSlot, u32, *const TextHead)
            -> u32;
    }
    crate::collection::entries {
        ARRAY_NEW = ds_array_new(w, p; *mut *mut u8, *const Collection, *const i64, u32)
            -> Status where NotZero leaves;
        #[lets_others_run] FIND = ds_find(w, p; *mut *mut u8, *const Collection, *const u64) -> *mut u8;
        #[lets_others_run] INSERT = ds_insert(w, p; *mut *mut u8, *const Collection, *const u64, u32)
            -> *mut u8 where Zero leaves;
        MISSING = ds_missing(w, p; &Collection, u64, u64, u32);
        #[lets_others_run] NEXT = ds_next(w, p; *mut *mut u8, *const Collection, *mut u64, u32) -> *mut u8;
        #[lets_others_run] REMOVE = ds_remove(w, p; *mut *mut u8, *const Collection, *const u64) -> u32;
    }
    crate::collection::named {
        #[lets_others_run] NAMED_EMPTY = ds_named_empty(w, p; *mut u8);
        #[lets_others_run] NAMED_FIND = ds_named_find(w, p; *mut u8) -> *mut u8;
        #[lets_others_run] NAMED_MAKE = ds_named_make(w, p; *mut u8, u32) -> *mut u8 where Zero leaves;
        #[lets_others_run] NAMED_PRESENT = ds_named_present(w, p; *mut u8, u32) -> *mut u8 where Zero leaves;
    }
    crate::communication {
        #[suspends] ENDING = ds_ending(w, p; u32) -> Status where NotZero leaves;
        #[suspends] INPUT = ds_input(w, p; *mut Communication, &Interface, u32, i32) -> u32 where Two leaves;
        #[suspends] RECEIVE = ds_receive(w, p; *mut Communication, &Interface, u32, u32)
            -> *mut u64 where Zero leaves;
        RECEIVED = ds_received(w; *mut Communication);
        ROOM = ds_room(w, p; *mut Communication, &Interface, u32, u32) -> *mut u64 where Zero leaves;
        #[suspends] SEND = ds_send(w, p; *mut Communication, &Interface, u32, u32) -> *mut u64 where Zero leaves;
        SENT = ds_sent(w; *mut Communication, &Interface, u32);
        #[suspends] TEST = ds_test(w, p; *mut Communication, &Interface, u32, i32, u32) -> u32 where Two leaves;
    }
    crate::communication::select {
        NEWS = ds_news(w, p;) -> u32;
        #[suspends] SELECT = ds_select(w, p; *mut Source, u32, i64, u32, u32) -> i64 where MinusOne leaves;
    }
    crate::communication::connection {
        #[suspends] CONNECT = ds_connect(w, p; *mut RequiredSlot, usize, u32) -> Status where NotZero leaves;
        #[suspends] DISCONNECT = ds_disconnect(w, p; *mut RequiredSlot, u32) -> Status where NotZero leaves;
        #[suspends] INPUT_HELD = ds_input_held(w, p; *mut Instance, *mut OfferedSlot, &Interface, i32, u32)
            -> u32 where Two leaves;
        #[suspends] INPUT_SLOT = ds_input_slot(w, p; *mut RequiredSlot, &Interface, i32, u32) -> u32 where Two leaves;
        #[suspends] REACH = ds_reach(w, p; *mut RequiredSlot, &Interface, u32)
            -> *mut Communication where Zero leaves;
        #[suspends] REACH_HELD = ds_reach_held(w, p; *mut Instance, *mut OfferedSlot, &Interface, u32)
            -> *mut Communication where Zero leaves;
    }
    crate::instance::slots {
        COUNT = ds_count(w; *mut Instance, u32) -> i64;
        FIND_OFFERED = ds_find_offered(w, p; *mut Instance, *const Interface, u32)
            -> *mut OfferedSlot where Zero leaves;
        FIND_REQUIRED = ds_find_required(w, p; *mut Instance, *const Interface, i64, u32)
            -> *mut RequiredSlot where Zero leaves;
    }
    crate::far::marshal {
        TEXT_MARSHAL = ds_text_marshal(; *const TextHead, *mut u8) -> *mut u8;
        TEXT_MARSHALLED = ds_text_marshalled(; *const TextHead) -> u64;
        TEXT_UNMARSHAL = ds_text_unmarshal(w; *const u8, *const u8, *mut u64) -> *const u8 where Zero leaves;
    }
    crate::failure {
        FAIL = ds_fail(w, p; u32, u32);
        HALT = ds_halt(w, p; i64);
    }
    crate::instance::elements {
        WATCH = ds_watch(w, p; *mut *mut u8, *const Collection, *const u64);
        WROTE = ds_wrote(w, p; *mut *mut u8, *const Collection, *const u64);
    }
    crate::instance::kept {
        GIVE_BACK = ds_give_back(; *mut Kept);
        KEEP = ds_keep(; *mut Kept);
    }
    crate::instance::monitor {
        #[suspends] AWAIT = ds_await(w, p; u64) -> Status where NotZero leaves;
        HOLDS = ds_holds(w, p;) -> Status where NotZero leaves;
        #[suspends] LOCK = ds_lock(w, p; u32) -> Status where NotZero leaves;
        #[suspends] UNLOCK = ds_unlock(w, p; u64);
    }
    crate::life {
        ARRIVE = ds_arrive(w, p; *mut Instance, *mut *mut Instance, usize, u32) -> Status where NotZero leaves;
        CONFORMS = ds_conforms(w, p; *mut Instance, &AnyType, u32) -> u32 where Two leaves;
        #[suspends] DEPART = ds_depart(w, p; *mut *mut Instance, u32) -> *mut Instance where Zero leaves;
        EXISTS = ds_exists(; *mut Instance) -> u32;
        INSTANCE_SIZE = ds_instance_size(; *mut Instance) -> i64;
        IS = ds_is(w, p; *mut Instance, *const Template, u32) -> u32 where Two leaves;
        #[suspends] MOVE = ds_move(w, p; *mut *mut Instance, *mut *mut Instance, usize, u32)
            -> Status where NotZero leaves;
        #[suspends] NEW = ds_new(w, p; *mut *mut Instance, &Template, usize, u32) -> Status where NotZero leaves;
        REQUIRES = ds_requires(w, p; *mut Instance, &AnyType, u32) -> u32 where Two leaves;
    }
    crate::life::delete {
        #[suspends] DELETE = ds_delete(w, p; *mut Instance, u32) -> Status where NotZero leaves;
        #[suspends] DELETE_COLLECTION = ds_delete_collection(w, p; *mut *mut u8, &'static Collection, u32)
            -> Status where NotZero leaves;
        #[suspends] DELETE_HELD = ds_delete_held(w, p; *mut u8, &'static Table<Owned>, u32)
            -> Status where NotZero leaves;
    }
    crate::life::faults {
        FAULT = ds_fault(w; *mut Instance) -> *mut TextHead;
    }
    crate::life::ending {
        BEGUN = ds_begun(w, p;);
        FINISH = ds_finish(w, p; u32);
    }
    crate::math {
        ARCCOS = ds_arccos(; f64) -> f64;
        ARCSIN = ds_arcsin(; f64) -> f64;
        ARCTAN = ds_arctan(; f64) -> f64;
        COS = ds_cos(; f64) -> f64;
        SIN = ds_sin(; f64) -> f64;
        TAN = ds_tan(; f64) -> f64;
    }
    crate::native {
        #[suspends] NATIVE = ds_native(w, p;);
        PROCEDURE = ds_procedure(w, p; &'static Procedure, *mut u64, u32) -> Status where NotZero leaves;
    }
    crate::output {
        WRITE_BOOLEAN = ds_write_boolean(w, p; u32);
        WRITE_CHARACTER = ds_write_character(w, p; u32);
        WRITE_HEX = ds_write_hex(w, p; i64);
        WRITE_INTEGER = ds_write_integer(w, p; i64);
        WRITE_LINE = ds_write_line(w, p;);
        WRITE_REAL = ds_write_real(w, p; f64);
        WRITE_TEXT = ds_write_text(w, p; *const TextHead);
    }
    crate::parallel {
        GO_HOME = ds_go_home(w, p;);
    }
    crate::process {
        FRAME_END = ds_frame_end(w, p; *mut *mut FrameHead);
        FRAME_NEW = ds_frame_new(w, p; *mut *mut FrameHead, *const Frame, u32) -> *mut FrameHead where Zero leaves;
    }
    crate::scheduler {
        PREEMPT = ds_preempt(w, p;) -> Status where NotZero leaves;
    }
    crate::text::entries {
        #[lets_others_run] NUMBER_INTEGER = ds_number_integer(w, p; *const TextHead, *mut i64) -> u32;
        #[lets_others_run] NUMBER_REAL = ds_number_real(w, p; *const TextHead, *mut f64) -> u32;
        #[lets_others_run] TEXT_APPEND = ds_text_append(w, p; *mut *mut TextHead, *mut TextHead, u32)
            -> Status where NotZero leaves;
        #[lets_others_run] TEXT_APPEND_CHARACTER = ds_text_append_character(w, p; *mut *mut TextHead, u32, u32)
            -> Status where NotZero leaves;
        #[lets_others_run] TEXT_COMPARE = ds_text_compare(w, p; *const TextHead, *const TextHead) -> i32;
        #[lets_others_run] TEXT_CONCAT = ds_text_concat(w, p; *mut TextHead, *mut TextHead, u32)
            -> *mut TextHead where MinusOne leaves;
        #[lets_others_run] TEXT_CONCAT_ALL = ds_text_concat_all(
            w, p; *mut TextHead, *mut TextHead, *mut TextHead, *mut TextHead, u32
        ) -> *mut TextHead where MinusOne leaves;
        TEXT_COPY = ds_text_copy(w; *mut TextHead) -> *mut TextHead;
        TEXT_DROP = ds_text_drop(w; *mut TextHead);
        #[lets_others_run] TEXT_EQUAL = ds_text_equal(w, p; *const TextHead, *const TextHead) -> u32;
        #[lets_others_run] TEXT_FIND = ds_text_find(w, p; *mut TextHead, *mut TextHead, i64, u32)
            -> i64 where Smallest leaves;
        TEXT_FROM_BOOLEAN = ds_text_from_boolean(w, p; u32, u32) -> *mut TextHead where MinusOne leaves;
        TEXT_FROM_CHARACTER = ds_text_from_character(w, p; u32, u32) -> *mut TextHead where MinusOne leaves;
        TEXT_FROM_INTEGER = ds_text_from_integer(w, p; i64, u32) -> *mut TextHead where MinusOne leaves;
        TEXT_FROM_REAL = ds_text_from_real(w, p; f64, u32) -> *mut TextHead where MinusOne leaves;
        #[lets_others_run] TEXT_NEW = ds_text_new(w, p; i64, u32) -> *mut TextHead where MinusOne leaves;
        RECORD_NEW = ds_record_new(w, p; u32, u32, u32) -> *mut TextHead where MinusOne leaves;
        RECORD_OWN = ds_record_own(w, p; *mut *mut TextHead, u32, u32, u32) -> *mut TextHead where MinusOne leaves;
        #[lets_others_run] SEQUENCE_INSERT = ds_sequence_insert(w, p; *mut *mut TextHead, i64, u32, u32)
            -> *mut u64 where MinusOne leaves;
        #[lets_others_run] SEQUENCE_JOIN = ds_sequence_join(w, p; *mut TextHead, *mut TextHead, u32)
            -> *mut TextHead where MinusOne leaves;
        #[lets_others_run] SEQUENCE_NEW = ds_sequence_new(w, p; i64, u32, u32)
            -> *mut TextHead where MinusOne leaves;
        #[lets_others_run] SEQUENCE_PLACE = ds_sequence_place(w, p; *mut *mut TextHead, i64, u32)
            -> *mut u64 where MinusOne leaves;
        #[lets_others_run] SEQUENCE_REMOVE = ds_sequence_remove(w, p; *mut *mut TextHead, i64, u32)
            -> Status where NotZero leaves;
        #[lets_others_run] SEQUENCE_SLICE = ds_sequence_slice(w, p; *mut TextHead, i64, i64, u32)
            -> *mut TextHead where MinusOne leaves;
        #[lets_others_run] SEQUENCE_SORTED = ds_sequence_sorted(w, p; *mut TextHead, *mut TextHead, u32, u32)
            -> *mut TextHead where MinusOne leaves;
        #[lets_others_run] VALUE_EQUAL = ds_value_equal(w, p; *const TextHead, *const TextHead, *const TextHead)
            -> u32;
        #[lets_others_run] TEXT_SET = ds_text_set(w, p; *mut *mut TextHead, i64, u32, u32)
            -> Status where NotZero leaves;
        #[lets_others_run] TEXT_SLICE = ds_text_slice(w, p; *mut TextHead, i64, i64, u32)
            -> *mut TextHead where MinusOne leaves;
    }
    crate::time {
        ALARM = ds_alarm(w, p; i64) -> i64;
        ALARM_OVER = ds_alarm_over(w; i64, i64);
        DEADLINE = ds_deadline(w; i64) -> i64;
        IS_PAST = ds_is_past(w; i64) -> u32;
        LIMIT = ds_limit(w; i64) -> i64;
        #[suspends] PASSIVATE = ds_passivate(w, p; i64, u32) -> Status where NotZero leaves;
        RANDOM = ds_random(w, p; i64, i64, u32) -> i64;
        TIME = ds_time(w;) -> i64;
    }
}
