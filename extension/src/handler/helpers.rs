//! What handlers can call: some of Linux's helpers, by Linux's numbers, and some that Linux hasn't, which objects
//! declare as weak functions that say what is done there.
//!
//! `unsafe` here: memory is read and written at addresses that programs say. That is sound because the verifier proved,
//! of each helper, what [`terms`] says that it wants.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::slice;

use smallvec::SmallVec;

use super::arrival::{Arrival, CONTEXT, PACKET};
use super::checksum;
use super::frame::LONGEST;
use super::pipes;
use super::tables::{Put, Table, Trouble};
use crate::engine::{Answer, Context, Helper, Memory};
use crate::verifier::{self, Bytes, Given, Wanted};

const LOOKUP: u32 = 1;
const UPDATE: u32 = 2;
const DELETE: u32 = 3;
const TIME: u32 = 5;
const RANDOM: u32 = 7;
const PROCESSOR: u32 = 8;
const ADJUST_HEAD: u32 = 44;
const ADJUST_TAIL: u32 = 65;
const OUTPUT: u32 = 130;
const LOAD_BYTES: u32 = 189;
const STORE_BYTES: u32 = 190;
/// Numbers that Linux doesn't use.
const COPY: u32 = 240;
const SEND: u32 = 241;
const SUM: u32 = 242;
const COPY_SUM: u32 = 243;
/// From here on pipes are called, by their numbers.
const PIPES: u32 = 256;
const HIGHEST: u32 = PIPES + pipes::MOST as u32 - 1;

/// Bytes that a handler may send at one arrival.
const MOST_SENT: usize = 1 << 18;

/// Those that Linux hasn't, by what objects call them; a pipe is one of those that are called so far.
pub(super) fn number(name: &str, called: &RefCell<Vec<String>>) -> Option<u32> {
    match name {
        "drystone_copy" => Some(COPY),
        "drystone_send" => Some(SEND),
        "drystone_sum" => Some(SUM),
        "drystone_copy_sum" => Some(COPY_SUM),
        _ => pipes::number(name, called).map(|number| PIPES + number as u32),
    }
}

/// What each wants and gives, for a handler that has such pipes.
pub(super) fn terms(pipes: &[pipes::Definition]) -> BTreeMap<u32, verifier::Helper> {
    let mut helpers = BTreeMap::new();
    let mut put = |number, name, wants: &[Wanted], gives, moves| {
        helpers.insert(number, verifier::Helper { name, wants: wants.to_vec(), gives, moves });
    };
    let any = Wanted::Number(0, u64::MAX);
    let up_to = |most: u32| Wanted::Number(0, most.into());
    let (key, value) = (Wanted::Readable(Bytes::Key), Wanted::Readable(Bytes::Value));
    let (read, write) = (Wanted::Readable(Bytes::InNext), Wanted::Writable(Bytes::InNext));
    let context = Wanted::Pointer(CONTEXT);
    let (number, narrow) = (Given::Number(0, u64::MAX), Given::Number(0, u32::MAX as u64));
    put(LOOKUP, "map_lookup_elem", &[Wanted::Map, key], Given::ValueOrNull, None);
    put(UPDATE, "map_update_elem", &[Wanted::Map, key, value, any], number, None);
    put(DELETE, "map_delete_elem", &[Wanted::Map, key], number, None);
    put(TIME, "ktime_get_ns", &[], number, None);
    put(RANDOM, "get_prandom_u32", &[], narrow, None);
    put(PROCESSOR, "get_smp_processor_id", &[], narrow, None);
    put(ADJUST_HEAD, "xdp_adjust_head", &[context, any], number, Some(PACKET));
    put(ADJUST_TAIL, "xdp_adjust_tail", &[context, any], number, Some(PACKET));
    put(OUTPUT, "ringbuf_output", &[Wanted::Map, read, up_to(LONGEST), any], number, None);
    put(LOAD_BYTES, "xdp_load_bytes", &[context, any, write, up_to(LONGEST)], number, None);
    put(STORE_BYTES, "xdp_store_bytes", &[context, any, read, up_to(LONGEST)], number, None);
    // What it checks itself, once for all bytes.
    put(COPY, "drystone_copy", &[any, Wanted::Anything, any], number, None);
    put(SUM, "drystone_sum", &[Wanted::Anything, any], number, None);
    put(COPY_SUM, "drystone_copy_sum", &[any, Wanted::Anything, any], number, None);
    put(SEND, "drystone_send", &[Wanted::Map, read, up_to(LONGEST)], number, None);
    for (pipe, its) in pipes.iter().zip(PIPES..) {
        let kept = match pipe.registers {
            0 => Wanted::Anything,
            registers => Wanted::Changeable(Bytes::Exactly(8 * registers as u32)),
        };
        let anything = Wanted::Anything;
        match pipe.is_over {
            true => put(its, "pipe_over", &[anything, any, anything, kept], number, None),
            false => put(its, "pipe_into", &[any, anything, any, anything, kept], number, None),
        }
    }
    helpers
}

type C<'a, 'b> = &'a mut Context<'b, Arrival>;

macro_rules! helpers {
    ($($name:ident($context:ident $(, $argument:ident)*) $body:block)*) => {
        $(#[allow(unused_variables)]
        extern "C" fn $name($context: C<'_, '_>, a: u64, b: u64, c: u64, d: u64, e: u64) -> Answer {
            helpers!(@bind [$($argument)*] a b c d e);
            let answer: i64 = $body;
            Ok(answer as u64).into()
        })*
    };
    (@bind [] $($rest:ident)*) => {};
    (@bind [$first:ident $($more:ident)*] $value:ident $($rest:ident)*) => {
        let $first = $value;
        helpers!(@bind [$($more)*] $($rest)*);
    };
}

/// # Safety
/// The verifier has proved that so many bytes can be read there, and nobody changes them meanwhile.
unsafe fn read<'a>(memory: &Memory, address: u64, length: usize) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts(memory.place(address), length) }
}

fn said(result: Result<(), Trouble>) -> i64 {
    result.map_or_else(|trouble| trouble as i64, |()| 0)
}

/// A key or a value, which is copied because it may lie in a value of the table; most are short.
type Copied = SmallVec<[u8; 64]>;

/// The table, and a key of it as the program has it.
fn table_and_key<'a>(
    context: &'a mut Context<'_, Arrival>,
    map: u64,
    key: u64,
) -> Option<(&'a mut Table, Copied)> {
    let table = context.host.tables.get_mut(map as usize)?;
    // SAFETY: a key is what was wanted.
    let key = Copied::from_slice(unsafe { read(context.memory, key, table.key_bytes()?) });
    Some((table, key))
}

helpers! {
    look_up(context, map, key) {
        let found = table_and_key(context, map, key);
        let place = found.and_then(|(table, key)| table.get(&key)).map(<[u8]>::as_mut_ptr);
        place.map_or(0, |place| context.memory.address_of(place) as i64)
    }
    update(context, map, key, value, how) {
        match (table_and_key(context, map, key), Put::from_number(how)) {
            (Some((table, key)), Some(how)) => {
                let bytes = table.value_bytes();
                // SAFETY: a value is what was wanted.
                let value = Copied::from_slice(unsafe { read(context.memory, value, bytes) });
                said(context.host.tables[map as usize].put(&key, &value, how))
            }
            _ => Trouble::Invalid as i64,
        }
    }
    delete(context, map, key) {
        table_and_key(context, map, key).map_or(Trouble::Invalid as i64, |(table, key)| said(table.remove(&key)))
    }
    time(context) { context.host.now as i64 }
    random(context) { i64::from(context.host.random()) }
    processor(context) { 0 }
    adjust_head(context, _message, by) {
        let done = context.host.frame().is_some_and(|frame| frame.adjust_head(by as i32 as isize));
        context.host.show(context.memory);
        if done { 0 } else { Trouble::Invalid as i64 }
    }
    adjust_tail(context, _message, by) {
        let done = context.host.frame().is_some_and(|frame| frame.adjust_tail(by as i32 as isize));
        context.host.show(context.memory);
        if done { 0 } else { Trouble::Invalid as i64 }
    }
    output(context, map, message, length) {
        // SAFETY: that many bytes are what was wanted.
        let message = unsafe { read(context.memory, message, length as usize) };
        match context.host.tables.get_mut(map as usize) {
            Some(Table::Ring(ring)) => said(ring.say(message)),
            _ => Trouble::Invalid as i64,
        }
    }
    load_bytes(context, _message, offset, to, length) {
        let to = context.memory.place(to);
        match part(context, offset, length) {
            // SAFETY: that many bytes can be written there, as was wanted; perhaps into the message itself.
            Some(from) => unsafe { to.copy_from(from, length as usize); 0 },
            None => Trouble::Invalid as i64,
        }
    }
    store_bytes(context, _message, offset, from, length) {
        let from = context.memory.place(from);
        match part(context, offset, length) {
            // SAFETY: that many bytes can be read there, as was wanted; perhaps in the message itself.
            Some(to) => unsafe { to.copy_from(from, length as usize); 0 },
            None => Trouble::Invalid as i64,
        }
    }
    copy(context, to, from, length) {
        match both(context, to, from, length) {
            Some((to, from)) => {
                // SAFETY: both lie where they should with all their bytes, and don't overlap.
                unsafe { to.copy_from_nonoverlapping(from, length as usize) };
                pay(context, length);
                0
            }
            None => Trouble::Invalid as i64,
        }
    }
    sum(context, from, length) {
        match part(context, from.wrapping_sub(context.host.seen.begin), length) {
            // SAFETY: it lies in the message with all its bytes.
            Some(from) => {
                pay(context, length);
                unsafe { checksum::of(from, length as usize) }.into()
            }
            None => Trouble::Invalid as i64,
        }
    }
    copy_sum(context, to, from, length) {
        match both(context, to, from, length) {
            // SAFETY: both lie where they should with all their bytes, and don't overlap.
            Some((to, from)) => {
                pay(context, length);
                unsafe { checksum::copied(to, from, length as usize) }.into()
            }
            None => Trouble::Invalid as i64,
        }
    }
    send(context, _ring, message, length) {
        // SAFETY: that many bytes are what was wanted.
        let message = unsafe { read(context.memory, message, length as usize) };
        let so_far: usize = context.host.sent.iter().map(Vec::len).sum();
        if so_far + message.len() > MOST_SENT {
            Trouble::NoSpace as i64
        } else {
            context.host.sent.push(message.to_vec());
            0
        }
    }
}

/// Takes data through a pipe of the handler's.
extern "C" fn pipe<const N: usize>(context: C<'_, '_>, a: u64, b: u64, c: u64, d: u64, e: u64) -> Answer {
    let is_over = context.host.pipes[N].is_over;
    let (length, kept) = if is_over { (b, d) } else { (c, e) };
    let places = if is_over {
        part(context, a.wrapping_sub(context.host.seen.begin), length).map(|at| (at, at.cast_const()))
    } else {
        both(context, a, b, length)
    };
    let Some((to, from)) = places else { return Ok(Trouble::Invalid as i64 as u64).into() };
    let kept = context.memory.place(kept).cast();
    // SAFETY: both lie where they should with all their bytes, and don't overlap, or are the same; registers are what
    // was wanted. They may lie among the data, as they are read before and written afterwards.
    unsafe { context.host.pipes[N].run(from, to, length as usize, kept) };
    pay(context, length);
    Ok(0).into()
}

/// Takes from the budget what data costs that is gone through, so that long runs count as several: so many bytes are a
/// round of a loop.
#[inline]
fn pay(context: C<'_, '_>, bytes: u64) {
    const ROUND: u64 = 64;
    // Who has nothing left is stopped at its next loop.
    context.pay(bytes / ROUND);
}

/// Where bytes go in the region, and where in the message they come from.
fn both(context: &mut Context<Arrival>, to: u64, from: u64, length: u64) -> Option<(*mut u8, *const u8)> {
    let size = context.memory.size() as u64;
    let begin = to & size.wrapping_sub(1);
    let from = part(context, from.wrapping_sub(context.host.seen.begin), length)?;
    (begin <= size && length <= size - begin)
        .then(|| (context.memory.place(Memory::BEGIN + begin), from.cast_const()))
}

/// Some bytes of the message.
fn part(context: &mut Context<Arrival>, offset: u64, length: u64) -> Option<*mut u8> {
    let end = offset.checked_add(length)?;
    let bytes = context.host.frame()?.bytes_mut().get_mut(offset as usize..end as usize)?;
    Some(bytes.as_mut_ptr())
}

extern "C" fn missing(_: C<'_, '_>, _: u64, _: u64, _: u64, _: u64, _: u64) -> Answer {
    Ok(0).into()
}

/// By number; no terms have those that there aren't.
pub(super) fn table() -> Vec<Helper<Arrival>> {
    let mut table = alloc::vec![Helper { function: missing as _, arguments: 0 }; HIGHEST as usize + 1];
    macro_rules! put {
        ($($number:ident: $function:ident, $arguments:literal;)*) => {
            $(table[$number as usize] = Helper { function: $function, arguments: $arguments };)*
        };
    }
    put! {
        LOOKUP: look_up, 2; UPDATE: update, 4; DELETE: delete, 2; TIME: time, 0; RANDOM: random, 0;
        PROCESSOR: processor, 0; ADJUST_HEAD: adjust_head, 2; ADJUST_TAIL: adjust_tail, 2; OUTPUT: output, 4;
        LOAD_BYTES: load_bytes, 4;
        STORE_BYTES: store_bytes, 4; COPY: copy, 3; SEND: send, 3; SUM: sum, 2; COPY_SUM: copy_sum, 3;
    }
    let pipes: [extern "C" fn(C<'_, '_>, u64, u64, u64, u64, u64) -> Answer; pipes::MOST] =
        [pipe::<0>, pipe::<1>, pipe::<2>, pipe::<3>, pipe::<4>, pipe::<5>, pipe::<6>, pipe::<7>];
    for (place, function) in table[PIPES as usize..].iter_mut().zip(pipes) {
        *place = Helper { function, arguments: 5 };
    }
    table
}
