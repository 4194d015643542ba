//! What users of the microkernel do, and those of kernels that have more services.

#![no_std]

pub mod attacks;
pub mod calls;
mod console;
pub mod measures;

use core::panic::PanicInfo;

pub use console::Console;

/// Does what a role is for.
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

/// A server is called only when it has said where: it begins beside who calls it.
pub fn wait_for_server() {
    if calls::ask(0, 0) == calls::REFUSED {
        say!("the server can't be called: it is dead, or has not said where it is");
    }
}

/// Does what everybody may, beside those that attack: counts, gives way, and calls another domain.
fn honest() {
    let mut sum = 0;
    for number in 0..200 {
        sum += calls::ask(1, number);
        calls::give_way();
    }
    say!("the honest domain has counted to {sum}");
}

/// What the server's domain does when it is called.
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
