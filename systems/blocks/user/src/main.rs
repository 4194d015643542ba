//! The user program for blocks of calls. A thread's first argument selects its task.

#![no_std]
#![no_main]

mod arrays;
mod attacks;
mod checks;
mod endless;
mod frames;
mod general;
mod heap;
mod hostile;
mod programs;
mod remote;
mod server;
mod shipped;
mod shipping;

use shipping::{BLOCK, PROGRAMS, SLOWLY};

/// A thread's entry point. Tasks that aren't about blocks are the microkernel's own.
#[unsafe(no_mangle)]
extern "C" fn user_main(role: u64) -> i64 {
    match role {
        0 => server::begin(),
        100 => {
            arrays::measures();
            frames::measures();
            frames::faults();
            general::measures();
            remote::measures();
            shipped::measures();
        }
        101 => checks::arrays(),
        102 => checks::frames(),
        103 => endless::all(),
        104 => hostile::all(),
        105 => endless::abandoned(),
        106 => hostile::known(),
        107 => remote::checks(),
        108 => shipped::checks(),
        109 => endless::shipped(),
        110 => endless::abandoned_there(),
        111 => attacks::handlers(),
        112 => attacks::endless_fault(),
        113 => attacks::lied_to(),
        114 => attacks::changed(),
        115 => remote::passing(),
        role => users::begin(role),
    }
    0
}

/// The server's entry point, with the caller's channel and its request.
#[unsafe(no_mangle)]
extern "C" fn user_serve(this: u64, what: u64, number: u64) -> i64 {
    match what {
        BLOCK => remote::serve(this, number),
        SLOWLY..PROGRAMS => attacks::serve(this, what, number),
        PROGRAMS.. => server::serve(this, what, number),
        _ => users::serve(what, number),
    }
}
