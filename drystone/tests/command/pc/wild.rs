//! A component that does what users must not, or what disturbs other programs: the name `wild:..` says what.

#![no_std]

extern crate alloc;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::arch::asm;
use core::hint::black_box;

use drystone_component::Name;
use drystone_kortex::{Addition, Context};
use drystone_runtime::binding::{Edge, Endpoint, NamingContext};
use drystone_runtime::far::Exported;

pub static DRYSTONE: Addition = Addition {
    contexts: &[Context { scheme: "wild", begin: |_| Box::new(Wild) }],
    ..Addition::NOTHING
};

struct Wild;

impl NamingContext for Wild {
    fn export(&mut self, Endpoint { name, .. }: Endpoint<'_>) -> Result<Box<dyn Exported>, String> {
        Err(name.rest().into())
    }

    fn resolve<'n>(&mut self, name: Name<'n>) -> Result<Edge<'_, 'n>, String> {
        // SAFETY: none of it is: that is what is tried.
        unsafe { run_wild(name.rest()) };
        Err(format!("{}: nothing has happened", name.rest()))
    }
}

const KERNEL: usize = 1 << 20;
const CHANNEL: *mut u64 = ((1_usize << 39) + (2 << 30)) as *mut u64;

unsafe fn run_wild(what: &str) {
    unsafe {
        match what {
            "null" => _ = (8 as *const u64).read_volatile(),
            "kernel" => _ = (KERNEL as *const u64).read_volatile(),
            "write" => (KERNEL as *mut u64).write_volatile(1),
            "code" => (run_wild as *const () as *mut u64).write_volatile(1),
            "data" => {
                let returns = Box::leak(Box::new([0xc3_u8; 64])).as_ptr();
                core::mem::transmute::<*const u8, extern "C" fn()>(returns)();
            }
            "stack" => _ = black_box(deep(1 << 40)),
            "cli" => asm!("cli"),
            "hlt" => asm!("hlt"),
            "out" => asm!("out 0xf4, al"),
            "cr3" => asm!("mov rax, cr3", out("rax") _),
            "breakpoint" => asm!("int3"),
            "undefined" => asm!("ud2"),
            "divide" => {
                asm!("xor edx, edx", "xor eax, eax", "div eax", out("rax") _, out("rdx") _);
            }
            // The vectors by which the kernel itself waits and gets its clock.
            "home" => asm!("int 0x2d"),
            "alarm" => asm!("int 0x20"),
            "trap" => asm!("pushfq", "or qword ptr [rsp], 0x100", "popfq", "nop"),
            // Returns to a caller that doesn't exist.
            "return" => asm!("syscall", inout("rax") 0_u64 => _, out("rcx") _, out("r11") _),
            "rest" => loop {
                ask(4, 1);
            },
            "ring" => loop {
                ask(5, 0);
            },
            "grow" => loop {
                ask(3, 256);
            },
            "say" => loop {
                // User addresses where this user has nothing, and the kernel's addresses.
                for from in [CHANNEL as u64 + (512 << 20), (1 << 47) - 8192, 1 << 20] {
                    say(from, 1024);
                    say(from, 1);
                }
            },
            "fill" => loop {
                black_box(Box::leak(Box::new([1_u8; 4096])));
            },
            "nonsense" => {
                for number in (1_u64..).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15)) {
                    for at in 0..512 {
                        CHANNEL.add(at).write_volatile(number.rotate_left(at as u32));
                    }
                    ask(5, 0);
                }
            }
            "loop" => loop {},
            _ => {}
        }
    }
}

unsafe fn say(from: u64, count: u64) {
    unsafe { asm!("int 0x2e", inout("rax") 2_u64 => _, in("rsi") 1, in("rdx") from, in("r10") count) };
}

/// A call of the kernel.
unsafe fn ask(what: u64, word: u64) {
    unsafe { asm!("int 0x2e", inout("rax") what => _, in("rsi") word, in("rdx") 0, in("r10") 0) };
}

#[inline(never)]
fn deep(left: u64) -> u64 {
    let kept = black_box([left; 64]);
    if left == 0 { 0 } else { deep(left - 1) + kept[1] }
}
