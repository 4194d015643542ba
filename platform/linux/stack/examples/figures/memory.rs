//! Data manipulation by handlers (Tables II and III), on messages of Ethernet's largest size, without a device.

use std::hint::black_box;
use std::time::Instant;

use drystone_extension::handler::{Ended, Frame, Handler, Machine, Settings, Verdict};
use drystone_handlers::Xdp;

use crate::objects::datagram;
use crate::{image, row, writes};

const LENGTH: usize = 1472;
const TIMES: u32 = 20_000;

/// Throughput of `deed` in megabytes a second.
fn speed(bytes: usize, mut deed: impl FnMut()) -> f64 {
    let begin = Instant::now();
    (0..TIMES).for_each(|_| deed());
    bytes as f64 * f64::from(TIMES) / begin.elapsed().as_secs_f64() / 1e6
}

fn handled(name: &str, files: &[(&str, &str)], message: Vec<u8>, wanted: Verdict) {
    let Some(image) = image(files, Machine::Drystone) else { return };
    let mut handler = Handler::of(&image, Settings::default()).expect("it is accepted");
    measured(name, "drystone", &mut handler, message, wanted);
}

fn measured(name: &str, who: &str, handler: &mut Handler, mut message: Vec<u8>, wanted: Verdict) {
    row(name, who, "MB/s", || {
        speed(LENGTH, || {
            let end = message.len();
            let ended = handler.run(&mut Frame::new(&mut message, 0, end), (1, 0), 0);
            assert_eq!(ended, Ended::With(wanted));
        })
    });
}

/// A datagram for the counter, with a UDP checksum or without. IPv4's header always has one.
fn checked(is_summed: bool) -> Vec<u8> {
    let fold = |mut sum: u32| {
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    };
    let sum = |bytes: &[u8]| bytes.chunks(2).map(|it| u32::from(it[0]) << 8 | u32::from(it[1])).sum::<u32>();
    let mut packet = datagram(7000, &vec![0; LENGTH]);
    let head = fold(sum(&packet[14..34]));
    packet[24..26].copy_from_slice(&head.to_be_bytes());
    if is_summed {
        let all = fold(sum(&packet[26..]) + 17 + packet.len() as u32 - 34);
        packet[40..42].copy_from_slice(&all.to_be_bytes());
    }
    // No fragment has this port, so the datagram is passed on after all checks.
    packet
}

pub fn rows() {
    let udp = [("fragments", "ip"), ("fragments", "udp")];
    handled("udp in place", &udp, checked(false), Verdict::Pass);
    handled("udp checksum", &udp, checked(true), Verdict::Pass);
    if let Some((mut handler, _region, message)) = writes::prepared("write_specific", LENGTH - 12) {
        measured("udp one copy", "drystone", &mut handler, message, Verdict::Drop);
    }
    through_a_pipe();
    copies();
}

/// A cipher and a checksum on the way into the region: by a pipe, by two passes, and in Linux's kernel, whose clock
/// counts whole nanoseconds.
fn through_a_pipe() {
    let message = datagram(7001, &[7; LENGTH]);
    let run = |file: &str, who: &str| {
        let Some(image) = image(&[("fragments", file)], Machine::Drystone) else { return };
        let mut handler = Handler::of(&image, Settings::default()).expect("it is accepted");
        measured("udp pipe", who, &mut handler, message.clone(), Verdict::Drop);
    };
    run("whitened", "drystone");
    run("whitened_passes", "passes");
    let linux = image(&[("fragments", "whitened")], Machine::Linux).map(|image| Xdp::load(&image));
    match linux {
        Some(Ok(xdp)) => row("udp pipe", "linux", "MB/s", || {
            let (verdict, _, took) = xdp.run(&message, TIMES).expect("it runs");
            assert_eq!(verdict, Verdict::Drop);
            LENGTH as f64 * 1e3 / f64::from(took.max(1))
        }),
        Some(Err(why)) => eprintln!("Linux has no figure of a pipe: {why}"),
        None => {}
    }
}

/// Copies 4096 bytes, once and twice, as a message would be.
fn copies() {
    let from = vec![7u8; 4096];
    // At different offsets within a page: equal ones alias in the processor.
    let (mut first, mut second) = (vec![0u8; 4096 + 1000], vec![0u8; 4096 + 2000]);
    let (first, second) = (&mut first[1000..], &mut second[2000..]);
    row("copies", "drystone", "MB/s", || speed(4096, || first.copy_from_slice(black_box(&from[..]))));
    row("copies", "two", "MB/s", || {
        speed(4096, || {
            first.copy_from_slice(black_box(&from[..]));
            second.copy_from_slice(black_box(&*first));
            black_box(&*second);
        })
    });
}
