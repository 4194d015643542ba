//! What users of the microkernel do. Which of it a domain does it is told when its thread begins.

#![no_std]
#![no_main]

/// What a thread begins with: what it is to do.
#[unsafe(no_mangle)]
extern "C" fn user_main(role: u64) -> i64 {
    users::begin(role);
    0
}

/// What the server's domain does when it is called.
#[unsafe(no_mangle)]
extern "C" fn user_serve(_this: u64, what: u64, number: u64) -> i64 {
    users::serve(what, number)
}
