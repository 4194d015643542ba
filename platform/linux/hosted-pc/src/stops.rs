//! What happens when Linux stops the guest: the kernel's code by a signal in this process, users' code in its own
//! process. Then the kernel goes on, until it lets a user run.

use crate::machine::Machine;
use crate::processor::{EFER, Exception, Fault, LSTAR, PAGE_FAULT, PROTECTION, SFMASK, STAR, Use};
use crate::registers::{R11, RCX};
use crate::tables::Page;
use crate::users::{self, Stop};
use crate::{instructions, stop};

impl Machine {
    /// An exception has stopped the kernel's code.
    pub fn kernel_stopped(&mut self, vector: u8, error: u64, address: u64) {
        let raised = match vector {
            PAGE_FAULT => {
                let what = match error {
                    _ if error & 1 << 4 != 0 => Use::Fetch,
                    _ if error & 1 << 1 != 0 => Use::Write,
                    _ => Use::Read,
                };
                self.touched(address, what)
            }
            // Linux turns privileged instructions into one of these.
            6 | PROTECTION => instructions::run(self).map_or_else(Err, |()| Ok(())),
            8 | 10..=12 | 17 => Err(Exception::with(vector, 0)),
            _ => Err(Exception::of(vector)),
        };
        if let Err(exception) = raised {
            self.raise(exception);
        }
    }

    /// The kernel has accessed an address without a mapped page, or without the right.
    fn touched(&mut self, address: u64, what: Use) -> Result<(), Exception> {
        let page = self.check(address, what)?;
        let physical = page.physical(address);
        if physical < self.memory.size() {
            if physical < 0x1_0000 && address < 0x1_0000 {
                stop("Linux lets no process have the first 64 KiB, which the kernel uses");
            }
            if !self.own.add(page, address) {
                let at = self.processor.registers.rip;
                stop(&format!("what is at {at:#x} can't be done with {address:#x} in a process"));
            }
            return Ok(());
        }
        instructions::touch_device(self, physical)
    }

    /// The page at an address, if it allows this access now.
    fn check(&mut self, address: u64, what: Use) -> Result<Page, Exception> {
        self.processor.check(&self.memory, address, what).map_err(|Fault(error)| {
            self.processor.control[2] = address;
            Exception::with(PAGE_FAULT, error)
        })
    }

    /// Runs the machine until the kernel's code is to be resumed.
    pub fn go_on(&mut self) {
        loop {
            if self.processor.takes_interrupts
                && let Some(vector) = self.apic.next(self.clock.now())
            {
                self.apic.take(vector);
                self.raise(Exception::of(vector));
            }
            if !self.processor.is_user() {
                let deadline = self.apic.deadline();
                self.alarm.set(deadline.filter(|_| self.processor.takes_interrupts), &self.clock);
                return;
            }
            self.run_user();
        }
    }

    fn run_user(&mut self) {
        self.own.leave_users();
        let deadline = self.apic.deadline().filter(|_| self.processor.takes_interrupts);
        let left = deadline.map(|deadline| deadline.saturating_sub(self.clock.now()));
        let root = self.processor.control[3];
        let mut registers = self.processor.registers;
        let (memory, processor) = (&self.memory, &self.processor);
        let now = |address| processor.page(memory, address);
        let (stopped, spent) = self.users.run(root, self.changed, now, &mut registers, left);
        self.clock.pass(spent);
        self.processor.user_stopped(registers);
        match stopped {
            Stop::Time => self.listen(),
            _ if users::is_stub(registers.rip) => {
                let fetched = self.user_touched(registers.rip, Use::Fetch);
                fetched.unwrap_or_else(|exception| self.raise(exception));
            }
            Stop::Call => self.call(),
            Stop::Signal { number, code, address } => {
                let raised = self.user_stopped(number, code, address);
                raised.unwrap_or_else(|exception| self.raise(exception));
            }
        }
    }

    /// A user has made a system call. Linux also reports `int 0x80` as one.
    fn call(&mut self) {
        const CALLS: u64 = 1;
        let code = self.processor.read(&self.memory, self.processor.registers.rip - 2);
        let specific = |number| self.processor.specific.get(&number).copied().unwrap_or(0);
        let is_call = code == Some([0x0f, 0x05]);
        if !is_call || specific(EFER) & CALLS == 0 {
            self.processor.registers.rip -= 2;
            let exception =
                if is_call { Exception::of(6) } else { Exception::with(PROTECTION, 0x80 * 8 + 2) };
            return self.raise(exception);
        }
        let (star, entry, mask) = (specific(STAR), specific(LSTAR), specific(SFMASK));
        let flags = self.processor.flags();
        let registers = &mut self.processor.registers;
        (registers.whole[RCX], registers.whole[R11]) = (registers.rip, flags);
        registers.rip = entry;
        self.processor.set_flags(flags & !mask);
        self.processor.code = star >> 32 & 0xfffc;
        self.processor.stack = (star >> 32 & 0xfffc) + 8;
    }

    /// An exception has stopped a user's code.
    fn user_stopped(&mut self, number: i32, code: i32, address: u64) -> Result<(), Exception> {
        /// The signal has no address: the exception's error code didn't allow one.
        const KERNEL: i32 = 0x80;
        match (number, code) {
            (libc::SIGSEGV, KERNEL) => instructions::protected(self),
            (libc::SIGSEGV, _) => self.user_touched(address, instructions::use_of(self, address)),
            (libc::SIGBUS, KERNEL) => Err(Exception::with(12, 0)),
            // The user's flags asked for alignment checks, which only Linux obeys. They are cleared now.
            (libc::SIGBUS, libc::BUS_ADRALN) => Ok(()),
            (libc::SIGBUS, _) => Err(Exception::with(17, 0)),
            (libc::SIGILL, _) => Err(Exception::of(6)),
            // A division by zero of integers, or an exception of floating-point numbers.
            (libc::SIGFPE, 1) => Err(Exception::of(0)),
            (libc::SIGFPE, _) => Err(Exception::of(19)),
            (libc::SIGTRAP, KERNEL) => {
                // An `int3`, which the guest may allow its users or not.
                if self.processor.may_raise(&self.memory, 3) {
                    return Err(Exception::of(3));
                }
                self.processor.registers.rip -= 1;
                Err(Exception::with(PROTECTION, 3 * 8 + 2))
            }
            (libc::SIGTRAP, _) => Err(Exception::of(1)),
            // A signal from another process isn't the guest's.
            _ => Ok(()),
        }
    }

    fn user_touched(&mut self, address: u64, what: Use) -> Result<(), Exception> {
        let page = self.check(address, what)?;
        let root = self.processor.control[3];
        let is_users = (users::USERS..(1 << 47) - crate::memory::PAGE).contains(&address);
        if page.physical(address) >= self.memory.size() || !is_users {
            stop(&format!("a user has {address:#x}, which can't be had in a process"));
        }
        if !self.users.add(root, page) {
            let at = self.processor.registers.rip;
            stop(&format!("what is at {at:#x} can't be done with {address:#x} in a user's process"));
        }
        Ok(())
    }
}
