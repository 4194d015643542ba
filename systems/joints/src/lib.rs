//! Measures a call between two components of a system, for each way in which they may be joined. `Joints.dry` puts it
//! together.

#![no_std]
#![cfg(target_arch = "x86_64")]

use core::arch::asm;
use core::hint::black_box;
use core::ops::Deref;

use counting::measure;
use drystone_machine::{Console, Main, Part, end};

/// An interface with empty methods, so that only the call itself is counted.
pub trait Idle {
    /// The compiler may inline it.
    fn rest(&self);

    /// The compiler may not inline it, as if it were long or called from many places.
    fn rest_apart(&self);
}

/// Implements [`Idle`].
pub struct Idler;

impl Idler {
    /// One of them.
    pub const fn new() -> Idler {
        Idler
    }
}

impl Idle for Idler {
    #[inline(always)]
    fn rest(&self) {
        // SAFETY: no instructions do no harm. But for them a call would be left out.
        unsafe { asm!("", options(nomem, nostack, preserves_flags)) }
    }

    #[inline(never)]
    fn rest_apart(&self) {
        self.rest();
    }
}

/// Calls the methods and counts the instructions.
pub struct Measures<I> {
    idler: I,
}

impl<I> Measures<I> {
    /// Measures calls of this component.
    pub const fn new(idler: I) -> Measures<I> {
        Measures { idler }
    }
}

impl<I: Deref<Target: Idle + Sized> + 'static> Main for Measures<I> {
    fn main(&'static self) -> ! {
        // A method table found at run time, as for any component with the interface.
        let by_table: &dyn Idle = black_box(&*self.idler);
        let rows = [
            ("local binding, compiled in ", measure(|| self.idler.rest())),
            ("local binding ", measure(|| self.idler.rest_apart())),
            ("local binding by a table ", measure(|| by_table.rest_apart())),
        ];
        for (name, count) in rows {
            Console.say(&[Part::Text(name), Part::Number(count as i64)]);
        }
        end(0)
    }
}
