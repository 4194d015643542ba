//! Helpers are called with the stack aligned as the calling convention demands, from any engine and at any depth.

mod engines;

use std::hint::black_box;

use drystone_extension::engine::{Answer, Context, Helper, Platform};
use engines::{Host, engines_on, program, run};

#[repr(align(16))]
struct Aligned([u8; 16]);

extern "C" fn place(_: &mut Context<Host>, _: u64, _: u64, _: u64, _: u64, _: u64) -> Answer {
    let place = Aligned([0; 16]);
    Ok((black_box(&place.0).as_ptr() as usize % 16) as u64).into()
}

#[test]
fn helpers_find_the_stack_aligned() {
    let helpers = [Helper { function: place, arguments: 0 }];
    let platform = Platform { helpers: &helpers, values: &[], memory: 8 };
    for text in ["call 0\nexit", "call local f\nexit\nf: call 0\nexit"] {
        for (name, engine) in engines_on(&program(text), platform) {
            assert_eq!(run(engine.as_ref(), &[], 20).result, Ok(0), "{name}: {text}");
        }
    }
}
