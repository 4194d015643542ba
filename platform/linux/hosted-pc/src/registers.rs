//! The guest's registers, as Linux saves them when it stops the guest.

use iced_x86::Register;

/// The general registers in the order of their encoding (rax, rcx, rdx, rbx, rsp, ..), and the instruction pointer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Registers {
    pub whole: [u64; 16],
    pub rip: u64,
    pub flags: u64,
}

pub const RAX: usize = 0;
pub const RCX: usize = 1;
pub const RDX: usize = 2;
pub const RBX: usize = 3;
pub const RSP: usize = 4;
pub const R11: usize = 11;

/// The registers' indices in `ucontext_t`.
const IN_SIGNALS: [i32; 16] = [
    libc::REG_RAX,
    libc::REG_RCX,
    libc::REG_RDX,
    libc::REG_RBX,
    libc::REG_RSP,
    libc::REG_RBP,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R11,
    libc::REG_R12,
    libc::REG_R13,
    libc::REG_R14,
    libc::REG_R15,
];

impl Registers {
    /// The registers that a signal has interrupted.
    pub fn of_signal(context: &libc::ucontext_t) -> Registers {
        let word = |at: i32| context.uc_mcontext.gregs[at as usize] as u64;
        Registers { whole: IN_SIGNALS.map(word), rip: word(libc::REG_RIP), flags: word(libc::REG_EFL) }
    }

    /// Writes the registers back, to be resumed when the signal's handler returns, in 64-bit or 32-bit code.
    pub fn into_signal(self, context: &mut libc::ucontext_t, is_long: bool) {
        let words = &mut context.uc_mcontext.gregs;
        for (at, word) in IN_SIGNALS.into_iter().zip(self.whole) {
            words[at as usize] = word as i64;
        }
        words[libc::REG_RIP as usize] = self.rip as i64;
        words[libc::REG_EFL as usize] = self.flags as i64;
        // The segments of Linux's own processes.
        let code = if is_long { 0x33 } else { 0x23 };
        let segments = &mut words[libc::REG_CSGSFS as usize];
        *segments = *segments & !0xffff | code;
    }

    /// The registers of a traced process.
    pub fn of_process(from: &libc::user_regs_struct) -> Registers {
        let whole = [
            from.rax, from.rcx, from.rdx, from.rbx, from.rsp, from.rbp, from.rsi, from.rdi, from.r8, from.r9,
            from.r10, from.r11, from.r12, from.r13, from.r14, from.r15,
        ];
        Registers { whole, rip: from.rip, flags: from.eflags }
    }

    /// Writes the registers to a traced process.
    pub fn into_process(self, to: &mut libc::user_regs_struct) {
        [
            to.rax, to.rcx, to.rdx, to.rbx, to.rsp, to.rbp, to.rsi, to.rdi, to.r8, to.r9, to.r10, to.r11,
            to.r12, to.r13, to.r14, to.r15,
        ] = self.whole;
        (to.rip, to.eflags) = (self.rip, self.flags);
        // No system call is restarted.
        to.orig_rax = u64::MAX;
    }

    /// Reads a register that an instruction names.
    pub fn get(&self, register: Register) -> u64 {
        let place = register.full_register();
        let is_high = register.is_gpr8() && (Register::AH..=Register::BH).contains(&register);
        let word = match place {
            Register::RIP => self.rip,
            _ if place.is_gpr64() => self.whole[place.number()],
            _ => 0,
        };
        match register.size() {
            _ if is_high => word >> 8 & 0xff,
            1 => word & 0xff,
            2 => word & 0xffff,
            4 => word & 0xffff_ffff,
            _ => word,
        }
    }

    /// Writes a register that an instruction names, with the processor's rules for short ones.
    pub fn set(&mut self, register: Register, value: u64) {
        let word = &mut self.whole[register.full_register().number()];
        *word = match register.size() {
            1 if (Register::AH..=Register::BH).contains(&register) => *word & !0xff00 | (value & 0xff) << 8,
            1 => *word & !0xff | value & 0xff,
            2 => *word & !0xffff | value & 0xffff,
            4 => value & 0xffff_ffff,
            _ => value,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_registers_are_written_as_the_processor_does() {
        let mut registers = Registers::default();
        registers.set(Register::RBX, 0x1122_3344_5566_7788);
        registers.set(Register::BH, 0xaa);
        registers.set(Register::BL, 0xbb);
        assert_eq!(registers.get(Register::RBX), 0x1122_3344_5566_aabb);
        assert_eq!((registers.get(Register::BH), registers.get(Register::BX)), (0xaa, 0xaabb));
        registers.set(Register::R9W, 0x1234);
        registers.set(Register::R9L, 0x56);
        assert_eq!(registers.get(Register::R9), 0x1256);
        registers.set(Register::EBX, 0xffff_fff0);
        assert_eq!(registers.get(Register::RBX), 0xffff_fff0, "the upper half is cleared");
    }
}
