//! The pages of a region are allocated before they are touched, and accesses outside it do no harm.

use drystone_extension::handler::Verdict;

use crate::objects::{compiled, datagram, payload};
use crate::{Engine, engines};

const PAGE: u32 = 4096;
const REGION: u32 = 16 * PAGE;

/// The word that is so far from the region's beginning, before it is written, if it is.
fn touch(engine: &mut dyn Engine, at: u32, writes: Option<u64>) -> u64 {
    let (writes, value) = (u32::from(writes.is_some()), writes.unwrap_or(0));
    let data = [&at.to_be_bytes()[..], &writes.to_ne_bytes(), &value.to_ne_bytes()].concat();
    let (verdict, answer) = engine.arrives(&datagram(7003, &data));
    assert_eq!(verdict, Verdict::Transmit);
    u64::from_ne_bytes(payload(&answer)[8..16].try_into().expect("8 bytes"))
}

/// A handler can't wait for a page.
#[test]
fn the_first_who_touches_a_page_may_be_the_handler() {
    let Some(object) = compiled("touch") else { return };
    for (which, engine) in &mut engines("touch", &[object]) {
        let place = |page: u32| page * PAGE + 8 * page;
        for page in (0..16).rev() {
            let before = touch(&mut **engine, place(page), Some(u64::from(page) + 1));
            assert_eq!(before, 0, "{which}: page {page}");
        }
        for page in 0..16 {
            assert_eq!(touch(&mut **engine, place(page), None), u64::from(page) + 1, "{which}: page {page}");
        }
        let region = engine.region();
        let mut wanted = vec![0; REGION as usize];
        for page in 0..16 {
            wanted[place(page) as usize] = page as u8 + 1;
        }
        assert!(region == wanted, "{which}");
    }
}

/// Linux has no pages there: what is read is 0, and what is written is gone. The other engines confine it to the
/// region.
#[test]
fn what_is_beyond_the_region_does_no_harm() {
    let Some(object) = compiled("touch") else { return };
    for (which, engine) in &mut engines("touch", &[object]) {
        let wraps = *which != "Linux";
        let mut wanted: Vec<u8> = (0..REGION).map(|at| (at % 251) as u8).collect();
        engine.write(&wanted);
        let far = [0, 1, 5, 100, 4000, 65_000].map(|pages| REGION + pages * PAGE);
        let before = [1, 2, 16, 17].map(|pages| 0u32.wrapping_sub(pages * PAGE));
        for (number, at) in far.into_iter().chain(before).enumerate() {
            let (at, value) = (at + 16 * number as u32, 0x0101_0101_0101_0101 * (number as u64 + 1));
            let place = (at % REGION) as usize;
            let there = u64::from_ne_bytes(wanted[place..place + 8].try_into().expect("8 bytes"));
            let after = if wraps {
                wanted[place..place + 8].copy_from_slice(&value.to_ne_bytes());
                [there, value]
            } else {
                [0, 0]
            };
            let read = [touch(&mut **engine, at, Some(value)), touch(&mut **engine, at, None)];
            assert_eq!(read, after, "{which}: {at:#x}");
            assert!(engine.region() == wanted, "{which}: {at:#x}");
        }
    }
}
