//! Signals interrupt the loading of a handler, which is tried again.

use std::os::unix::thread::JoinHandleExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use drystone_extension::handler::{Image, Machine};
use drystone_handlers::Xdp;

use crate::objects::compiled;

/// Longer than it takes to load one.
const BETWEEN: Duration = Duration::from_millis(2);

extern "C" fn nothing(_: i32) {}

#[test]
fn a_handler_is_loaded_whatever_signals_come() {
    static LOADED: AtomicBool = AtomicBool::new(false);
    let Some(object) = compiled("increment") else { return };
    let image = Image::read(&object, None, Machine::Linux).expect("it is an object");
    if let Err(why) = Xdp::load(&image) {
        return println!("skipped: signals: {why}");
    }
    let handler: extern "C" fn(i32) = nothing;
    // SAFETY: the signal handler does nothing.
    unsafe { libc::signal(libc::SIGUSR2, handler as libc::sighandler_t) };
    let loads = thread::spawn(move || {
        let all = (0..1000).try_for_each(|_| Xdp::load(&image).map(drop));
        LOADED.store(true, Ordering::Relaxed);
        all
    });
    while !LOADED.load(Ordering::Relaxed) {
        // SAFETY: the thread isn't joined yet.
        unsafe { libc::pthread_kill(loads.as_pthread_t(), libc::SIGUSR2) };
        thread::sleep(BETWEEN);
    }
    assert_eq!(loads.join().expect("it passes"), Ok(()));
}
