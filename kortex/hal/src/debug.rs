//! An emulator's extra ports: one takes text (QEMU's `isa-debugcon`), one ends the emulator (`isa-debug-exit`).

use x86_64::instructions::port::Port;

const CONSOLE: u16 = 0xe9;
const EXIT: u16 = 0xf4;

/// Writes text; `false`: there is no such port.
pub fn write(text: &[u8]) -> bool {
    let mut port = Port::<u8>::new(CONSOLE);
    // SAFETY: the port takes text or doesn't exist; it says which when it is read.
    unsafe {
        if port.read() != CONSOLE as u8 {
            return false;
        }
        text.iter().for_each(|&byte| port.write(byte));
    }
    true
}

/// Ends the emulator with the status `2 * status + 1`. Returns if there is no such port.
pub fn exit(status: u32) {
    // SAFETY: the port ends the emulator or doesn't exist.
    unsafe { Port::new(EXIT).write(status) };
}
