//! User code of the microkernel, and of kernels with more services.

#![no_std]

pub mod attacks;
pub mod calls;
mod console;
pub mod measures;

use core::panic::PanicInfo;

pub use console::Console;

/// Runs a role.
pub fn begin(role: u64) {
    match role {
        0 => calls::offer(),
        1 => {
            wait_for_server();
            measures::all();
        }
        2 => {
            wait_for_server();
            honest();
        }
        3 => measures::give_way(),
        role @ 4..1000 => {
            wait_for_server();
            attacks::attack(role - 4);
        }
        seed => attacks::fuzz(seed),
    }
}

/// Waits until the server is callable: it starts at the same time as its clients.
pub fn wait_for_server() {
    if calls::ask(0, 0) == calls::REFUSED {
        say!("the server can't be called: it is dead, or has not said where it is");
    }
}

/// An honest domain beside attackers: counts, yields, and calls another domain.
fn honest() {
    let mut sum = 0;
    for number in 0..200 {
        sum += calls::ask(1, number);
        calls::give_way();
    }
    say!("the honest domain has counted to {sum}");
}

/// The server's entry point.
pub fn serve(what: u64, number: u64) -> i64 {
    match what {
        0 => 42,
        1 => number as i64 + 1,
        2 => loop {},
        3 => attacks::touch(8),
        4 => attacks::end_others_handler(),
        5 => attacks::fault_twice(),
        6 => attacks::answer_from_handler(),
        _ => -1,
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    say!("a user's program is wrong: {info}");
    calls::end(-1)
}
