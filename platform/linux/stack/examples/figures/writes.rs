//! Remote writes (section V-D): a generic handler, the application's own handler, and the latter without a sandbox.
//! Valgrind counts instructions in another process. The result is the difference between few runs and many, less that
//! of a handler that does nothing.

use std::process::{Command, Stdio};
use std::time::Instant;

use drystone_extension::handler::{Ended, Frame, Handler, Machine, Settings, Verdict};
use drystone_handlers::Region;

use crate::objects::datagram;
use crate::{image, row, tell};

const TIMES: u32 = 100_000;

/// A handler, its region, and a message of `bytes` bytes for it.
pub fn prepared(name: &str, bytes: usize) -> Option<(Handler, Region, Vec<u8>)> {
    let image = image(&[("fragments", name)], Machine::Drystone)?;
    let region = Region::new(None, (image.region_bytes() as usize).max(1 << 16)).expect("there is room");
    let handler = drystone_handlers::handler(&image, &region, Settings::default()).expect("it is accepted");
    // Segment 3 is the whole memory.
    let segment = [0u32, 16384, 1, 0].map(u32::to_ne_bytes).concat();
    region.write(48, &segment);
    let head = match name {
        "write_generic" => [3u32, 8, bytes as u32].map(u32::to_ne_bytes).concat(),
        _ => [&(region.address() + 2048).to_ne_bytes()[..], &(bytes as u32).to_ne_bytes()].concat(),
    };
    Some((handler, region, datagram(7001, &[&head[..], &vec![7; bytes]].concat())))
}

/// Runs a handler `times` times, for Valgrind.
pub fn run(name: &str, times: u32) {
    let Some((mut handler, _region, mut message)) = prepared(name, 40) else { return };
    let wanted = if name == "nothing" { Verdict::Pass } else { Verdict::Drop };
    for _ in 0..times {
        assert_eq!(run_once(&mut handler, &mut message), Ended::With(wanted));
    }
}

fn run_once(handler: &mut Handler, message: &mut [u8]) -> Ended {
    let end = message.len();
    handler.run(&mut Frame::new(message, 0, end), (1, 0), 0)
}

/// The instructions of one run.
fn instructions(name: &str) -> Option<f64> {
    let count = |times: u32| {
        let mut command = Command::new("valgrind");
        let out =
            format!("--callgrind-out-file={}", std::env::temp_dir().join("figures.callgrind").display());
        command.args(["--tool=callgrind", "--smc-check=all", &out]).arg(std::env::current_exe().ok()?);
        command.args(["run", name, &times.to_string()]).stdout(Stdio::null());
        let said = command.stderr(Stdio::piped()).output().ok()?;
        let text = String::from_utf8_lossy(&said.stderr).into_owned();
        let line = text.lines().find(|line| line.contains("Collected"))?;
        line.rsplit(' ').next()?.parse::<f64>().ok()
    };
    Some((count(11_000)? - count(1000)?) / 10_000.0)
}

/// The work of the application's own handler without any checks, in nanoseconds.
fn unsafe_write(message: &[u8], memory: &mut [u8]) -> f64 {
    let begin = Instant::now();
    for _ in 0..TIMES {
        let message = std::hint::black_box(message);
        let bytes = u32::from_ne_bytes(message[50..54].try_into().expect("4 bytes")) as usize;
        memory[2048..2048 + bytes].copy_from_slice(&message[54..54 + bytes]);
        std::hint::black_box(&mut *memory);
    }
    begin.elapsed().as_secs_f64() * 1e9 / f64::from(TIMES)
}

pub fn rows() {
    let Some(nothing) = instructions("nothing") else {
        return eprintln!("writes have no figures: Valgrind is missing, or clang 19");
    };
    for (name, file) in [("generic write", "write_generic"), ("specific write", "write_specific")] {
        if let Some(count) = instructions(file) {
            tell(name, "drystone", "instructions", &[count - nothing]);
        }
    }
    for bytes in [40, 4096] {
        let Some((mut handler, _region, mut message)) = prepared("write_specific", bytes) else { return };
        let Some((mut idle, _other, mut same)) = prepared("nothing", bytes) else { return };
        let time = |handler: &mut Handler, message: &mut [u8]| {
            let begin = Instant::now();
            (0..TIMES).for_each(|_| assert!(matches!(run_once(handler, message), Ended::With(_))));
            begin.elapsed().as_secs_f64() * 1e9 / f64::from(TIMES)
        };
        let mut memory = vec![0; 32768];
        // Both include the cost of calling a handler.
        row(&format!("sandbox {bytes}"), "drystone", "ratio", || {
            let same_without = time(&mut idle, &mut same) + unsafe_write(&message, &mut memory);
            time(&mut handler, &mut message) / same_without
        });
    }
}
