//! The helpers that conformance tests call, by ubpf's numbers.

use drystone_extension::engine::{Answer, Context, Helper, Stop};

pub const ALL: [Helper<()>; 5] = [
    Helper { function: gather_bytes, arguments: 5 },
    Helper { function: memfrob, arguments: 2 },
    Helper { function: trash_registers, arguments: 0 },
    Helper { function: square_root, arguments: 1 },
    Helper { function: compare_texts, arguments: 2 },
];

/// What memory outside the program's own is answered with.
fn outside() -> Answer {
    Err(Stop::Access).into()
}

extern "C" fn gather_bytes(_: &mut Context<()>, a: u64, b: u64, c: u64, d: u64, e: u64) -> Answer {
    let all = [a, b, c, d, e];
    Ok(all.into_iter().fold(0, |sum, byte| sum << 8 | byte & 0xff)).into()
}

extern "C" fn memfrob(
    context: &mut Context<()>,
    address: u64,
    length: u64,
    _: u64,
    _: u64,
    _: u64,
) -> Answer {
    let Some(bytes) = context.memory.at_mut(address, length) else { return outside() };
    bytes.iter_mut().for_each(|byte| *byte ^= 42);
    Ok(address).into()
}

extern "C" fn trash_registers(_: &mut Context<()>, _: u64, _: u64, _: u64, _: u64, _: u64) -> Answer {
    Ok(0).into()
}

extern "C" fn square_root(_: &mut Context<()>, number: u64, _: u64, _: u64, _: u64, _: u64) -> Answer {
    Ok(number.isqrt()).into()
}

extern "C" fn compare_texts(context: &mut Context<()>, a: u64, b: u64, _: u64, _: u64, _: u64) -> Answer {
    for at in 0.. {
        let byte = |address: u64| context.memory.at(address.wrapping_add(at), 1).map(|bytes| bytes[0]);
        let (Some(a), Some(b)) = (byte(a), byte(b)) else { break };
        if a != b || a == 0 {
            return Ok(u64::from(a).wrapping_sub(b.into())).into();
        }
    }
    outside()
}
