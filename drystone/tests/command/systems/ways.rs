//! A kernel that ends in the way that its command line says.

#![no_std]

use core::arch::asm;
use core::hint::black_box;
use core::ops::Deref;

use drystone_machine::Part::{Number, Text};
use drystone_machine::{Console, Main, Platform, end};
use kortex_hal::exception::{Context, Processor, Trap};
use kortex_hal::interrupt::{Apics, Controller};
use kortex_hal::serial::{Com1, Line};
use kortex_hal::x86_64::instructions::interrupts;

pub struct Own<M> {
    machine: M,
}

impl<M> Own<M> {
    pub const fn new(machine: M) -> Own<M> {
        Own { machine }
    }
}

impl<M: Deref<Target: Platform> + 'static> Main for Own<M> {
    fn main(&'static self) -> ! {
        let line = unsafe { Com1::new() };
        line.begin();
        line.send(b"it runs\n");
        let code = &raw const *b"own" as *mut u8;
        unsafe {
            match self.machine.command_line() {
                b"status" => end(7),
                b"negative" => end(-1),
                b"nothing" => _ = black_box(16 as *const u8).read_volatile(),
                b"nowhere" => _ = black_box(0x8000_0000_0000_0000_u64 as *const u8).read_volatile(),
                b"code" => black_box(Self::main as *const () as *mut u8).write_volatile(0),
                b"constant" => black_box(code).write_volatile(0),
                b"data" => {
                    let data = [0xc3_u8; 16];
                    asm!("call {}", in(reg) black_box(&data), clobber_abi("C"));
                }
                b"deep" => end(deep(1) as i64),
                b"no instruction" => asm!("ud2"),
                b"breakpoint" => asm!("int3"),
                b"divide" => asm!("xor edx, edx", "div {}", in(reg) 0_u64, inout("rax") 1_u64 => _, out("rdx") _),
                b"interrupt" => asm!("int 0x60"),
                b"echo" => echo(&line),
                b"hear" => {
                    Processor.register(Apics.vector(Com1::INTERRUPT), heard, core::ptr::null());
                    Apics.enable(Com1::INTERRUPT);
                    loop {
                        interrupts::enable_and_hlt();
                        interrupts::disable();
                    }
                }
                said => {
                    Console.write_bytes(said);
                    Console.say(&[Text(", which are "), Number(said.len() as i64)]);
                }
            }
        }
        line.send(b"it has gone on\n");
        end(1)
    }
}

fn echo(line: &impl Line) {
    loop {
        match line.receive() {
            Some(4) => break,
            Some(byte) => line.send(&[byte.to_ascii_uppercase()]),
            None => core::hint::spin_loop(),
        }
    }
}

extern "C" fn heard(_: &mut Context, _: *const ()) {
    let line = unsafe { Com1::new() };
    while let Some(byte) = line.receive() {
        if byte == 4 {
            end(3);
        }
        line.send(&[byte.to_ascii_uppercase()]);
    }
    Apics.end();
}

#[allow(unconditional_recursion)]
#[inline(never)]
fn deep(number: u64) -> u64 {
    let below = black_box([number; 64]);
    deep(number + 1) + below[number as usize % 64]
}
