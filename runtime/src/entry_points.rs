//! All entry points for generated code by name: see ENTRY_POINTS.md.

macro_rules! entry_points {
    ($($module:path: $($name:ident)*;)*) => {
        $(pub use $module::{$($name),*};)*

        /// Names and addresses, for code that is made while the program runs.
        pub fn entry_points() -> &'static [(&'static str, *const u8)] {
            static ENTRIES: Entries = Entries(&[$($((stringify!($name), $name as *const u8),)*)*]);
            ENTRIES.0
        }
    };
}

struct Entries(&'static [(&'static str, *const u8)]);

// SAFETY: addresses of code, which is never written.
unsafe impl Sync for Entries {}

entry_points! {
    crate::collection::entries: ds_array_new ds_find ds_insert ds_missing ds_next ds_remove;
    crate::collection::named: ds_named_empty ds_named_find ds_named_make ds_named_present;
    crate::communication: ds_input ds_receive ds_received ds_room ds_send ds_sent ds_test;
    crate::communication::connection: ds_connect ds_count ds_disconnect ds_find_offered ds_find_required ds_input_held ds_input_slot
        ds_reach ds_reach_held;
    crate::failure: ds_fail ds_halt;
    crate::instance::awaiting: ds_watch ds_wrote;
    crate::instance::monitor: ds_await ds_lock ds_unlock;
    crate::life: ds_arrive ds_conforms ds_depart ds_exists ds_instance_size ds_is ds_move ds_new ds_requires;
    crate::life::delete: ds_delete ds_delete_collection ds_delete_held;
    crate::life::ending: ds_begun ds_finish;
    crate::math: ds_arccos ds_arcsin ds_arctan ds_cos ds_sin ds_tan;
    crate::native: ds_native;
    crate::output: ds_write_boolean ds_write_character ds_write_hex ds_write_integer ds_write_line ds_write_real
        ds_write_text;
    crate::parallel: ds_go_home;
    crate::process: ds_frame_end ds_frame_new;
    crate::scheduler: ds_preempt;
    crate::text::entries: ds_number_integer ds_number_real ds_text_append ds_text_append_character
        ds_text_compare ds_text_concat ds_text_copy ds_text_drop
        ds_text_equal ds_text_find ds_text_from_boolean ds_text_from_character ds_text_from_integer ds_text_from_real
        ds_text_new ds_text_set ds_text_slice;
    crate::time: ds_alarm ds_alarm_over ds_deadline ds_is_past ds_passivate ds_random ds_time;
}
