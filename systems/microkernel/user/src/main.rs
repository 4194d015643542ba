//! The user program of the microkernel. A thread's first argument selects its role.

#![no_std]
#![no_main]

/// A thread's entry point.
#[unsafe(no_mangle)]
extern "C" fn user_main(role: u64) -> i64 {
    users::begin(role);
    0
}

/// The server's entry point.
#[unsafe(no_mangle)]
extern "C" fn user_serve(_this: u64, what: u64, number: u64) -> i64 {
    users::serve(what, number)
}
