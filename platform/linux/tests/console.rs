//! Console, with a pipe as standard input: a test binary of its own, since there is only one standard input.
#![allow(clippy::undocumented_unsafe_blocks)]

mod harness;

use std::cell::Cell;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use drystone_linux::Options;
use harness::{V, run};

#[test]
fn lines_are_waited_for_without_stopping_the_others() {
    let (input, mut output) = std::io::pipe().unwrap();
    assert_eq!(unsafe { libc::dup2(input.as_raw_fd(), 0) }, 0);
    let typist = thread::spawn(move || {
        for part in ["first\nsec", "ond\r\n", "\n", "last"] {
            thread::sleep(Duration::from_millis(50));
            output.write_all(part.as_bytes()).unwrap();
        }
    });
    let status = run(&["Console"], Options::default(), |client| async move {
        let console = client.required("Console");
        console.send("ReadLine", []).await;
        let slept = Rc::new(Cell::new(0));
        while slept.get() < 3 {
            client.sleep(5).await;
            slept.set(slept.get() + 1);
        }
        assert_eq!(console.receive().await, Some(("Line", vec![V::text("first")])));
        for line in ["second", "", "last"] {
            assert_eq!(console.ask("ReadLine", []).await, ("Line", vec![V::text(line)]));
        }
        assert_eq!(console.ask("ReadLine", []).await, ("End", vec![]));
        assert_eq!(console.ask("ReadLine", []).await, ("End", vec![]));
    });
    assert_eq!(status, 0);
    typist.join().unwrap();
}
