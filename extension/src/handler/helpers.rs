//! The helpers of handlers: some of Linux's, by Linux's numbers, and some that Linux doesn't have. Objects define these
//! as weak functions, whose bodies do the work on Linux.
//!
//! `unsafe` here: memory is accessed at addresses that programs pass. The verifier has proved of each argument what the
//! helper's [`terms`] demand (*proved arguments*); what they accept unproved, the helper checks.

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
use crate::engine::{self, Answer, Context, Helper, Memory};
use crate::verifier::{self, Bytes, Given, Wanted};
use crate::xdp;

/// Helpers that Linux doesn't have, by numbers that it doesn't use.
const COPY: u32 = 240;
const SEND: u32 = 241;
const SUM: u32 = 242;
const COPY_SUM: u32 = 243;
/// The helper of pipe 0; the others follow.
const PIPES: u32 = 256;
const HIGHEST: u32 = PIPES + pipes::MOST as u32 - 1;

/// Bytes that a handler may send during one run.
const MOST_SENT: usize = 1 << 18;

/// The number of a helper that Linux doesn't have, by its name in objects. A pipe that isn't in `called` is added.
pub(super) fn number(name: &str, called: &RefCell<Vec<String>>) -> Option<u32> {
    match name {
        "drystone_copy" => Some(COPY),
        "drystone_send" => Some(SEND),
        "drystone_sum" => Some(SUM),
        "drystone_copy_sum" => Some(COPY_SUM),
        _ => pipes::number(name, called).map(|number| PIPES + number as u32),
    }
}

type C<'a, 'b> = &'a mut Context<'b, Arrival>;
type Function = engine::Function<Arrival>;

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

/// Bytes at an address of the program.
///
/// # Safety
/// Address and length are proved arguments. The bytes aren't changed while the result lives.
unsafe fn read<'a>(memory: &Memory, address: u64, length: usize) -> &'a [u8] {
    // SAFETY: the verifier has proved that so many bytes can be read there.
    unsafe { slice::from_raw_parts(memory.place(address), length) }
}

fn said(result: Result<(), Trouble>) -> i64 {
    result.map_or_else(|trouble| trouble as i64, |()| 0)
}

/// A copy of a key or a value, because the original may lie in a value of the table. Most are short.
type Copied = SmallVec<[u8; 64]>;

/// A table, and a key that the program passes.
fn table_and_key<'a>(
    context: &'a mut Context<'_, Arrival>,
    map: u64,
    key: u64,
) -> Option<(&'a mut Table, Copied)> {
    let table = context.host.tables.get_mut(map as usize)?;
    // SAFETY: a proved argument is a key of this table. It is copied at once.
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
                // SAFETY: a proved argument is a value of this table. It is copied at once.
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
        // SAFETY: proved arguments are so many bytes. Rings are not among the program's memory.
        let message = unsafe { read(context.memory, message, length as usize) };
        match context.host.tables.get_mut(map as usize) {
            Some(Table::Ring(ring)) => said(ring.say(message)),
            _ => Trouble::Invalid as i64,
        }
    }
    load_bytes(context, _message, offset, to, length) {
        let to = context.memory.place(to);
        match part(context, offset, length) {
            // SAFETY: so many bytes of the message are there, and proved arguments can be written; they may overlap.
            Some(from) => unsafe { to.copy_from(from, length as usize); 0 },
            None => Trouble::Invalid as i64,
        }
    }
    store_bytes(context, _message, offset, from, length) {
        let from = context.memory.place(from);
        match part(context, offset, length) {
            // SAFETY: so many bytes of the message are there, and proved arguments can be read; they may overlap.
            Some(to) => unsafe { to.copy_from(from, length as usize); 0 },
            None => Trouble::Invalid as i64,
        }
    }
    copy(context, to, from, length) {
        match both(context, to, from, length) {
            Some((to, from)) => {
                // SAFETY: `both` has checked them: so many bytes of the region and of the message, which are apart.
                unsafe { to.copy_from_nonoverlapping(from, length as usize) };
                pay(context, length);
                0
            }
            None => Trouble::Invalid as i64,
        }
    }
    sum(context, from, length) {
        match part(context, from.wrapping_sub(context.host.seen.begin), length) {
            Some(from) => {
                pay(context, length);
                // SAFETY: `part` has checked that so many bytes are in the message.
                unsafe { checksum::of(from, length as usize) }.into()
            }
            None => Trouble::Invalid as i64,
        }
    }
    copy_sum(context, to, from, length) {
        match both(context, to, from, length) {
            Some((to, from)) => {
                pay(context, length);
                // SAFETY: `both` has checked them: so many bytes of the region and of the message, which are apart.
                unsafe { checksum::copied(to, from, length as usize) }.into()
            }
            None => Trouble::Invalid as i64,
        }
    }
    send(context, _ring, message, length) {
        // SAFETY: proved arguments are so many bytes. They are only copied.
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

/// Takes data through a pipe of the handler.
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
    // SAFETY: `both` or `part` has checked that so many bytes are there; the two are apart, or the same. The registers
    // are a proved argument. They may lie in the data, because they are read before it is, and written afterwards.
    unsafe { context.host.pipes[N].run(from, to, length as usize, kept) };
    pay(context, length);
    Ok(0).into()
}

/// Takes the cost of processing data from the budget: `ROUND` bytes cost as much as a round of a loop.
#[inline]
fn pay(context: C<'_, '_>, bytes: u64) {
    const ROUND: u64 = 64;
    // A handler without budget stops at its next jump back.
    context.pay(bytes / ROUND);
}

/// The target of bytes in the region and their source in the message, if both lie there with their whole length.
fn both(context: &mut Context<Arrival>, to: u64, from: u64, length: u64) -> Option<(*mut u8, *const u8)> {
    let size = context.memory.size() as u64;
    let begin = to & size.wrapping_sub(1);
    let from = part(context, from.wrapping_sub(context.host.seen.begin), length)?;
    (begin <= size && length <= size - begin)
        .then(|| (context.memory.place(Memory::BEGIN + begin), from.cast_const()))
}

/// A part of the message, if it lies there with its whole length.
fn part(context: &mut Context<Arrival>, offset: u64, length: u64) -> Option<*mut u8> {
    let end = offset.checked_add(length)?;
    let bytes = context.host.frame()?.bytes_mut().get_mut(offset as usize..end as usize)?;
    Some(bytes.as_mut_ptr())
}

extern "C" fn missing(_: C<'_, '_>, _: u64, _: u64, _: u64, _: u64, _: u64) -> Answer {
    Ok(0).into()
}

/// A helper: its implementation, and what the verifier is told of it.
struct Row {
    number: u32,
    function: Function,
    terms: verifier::Helper,
}

/// All helpers but pipes.
fn rows() -> [Row; 15] {
    let row = |number, function, name, wants: &[Wanted], gives, moves| {
        let terms = verifier::Helper { name, wants: wants.to_vec(), gives, moves };
        Row { number, function, terms }
    };
    let any = Wanted::Number(0, u64::MAX);
    let up_to = |most: u32| Wanted::Number(0, most.into());
    let (key, value) = (Wanted::Readable(Bytes::Key), Wanted::Readable(Bytes::Value));
    let (read, write) = (Wanted::Readable(Bytes::InNext), Wanted::Writable(Bytes::InNext));
    let context = Wanted::Pointer(CONTEXT);
    let (number, narrow) = (Given::Number(0, u64::MAX), Given::Number(0, u32::MAX as u64));
    let (map, anything) = (Wanted::Map, Wanted::Anything);
    let bytes = up_to(LONGEST);
    [
        row(xdp::LOOKUP, look_up, "map_lookup_elem", &[map, key], Given::ValueOrNull, None),
        row(xdp::UPDATE, update, "map_update_elem", &[map, key, value, any], number, None),
        row(xdp::DELETE, delete, "map_delete_elem", &[map, key], number, None),
        row(xdp::TIME, time, "ktime_get_ns", &[], number, None),
        row(xdp::RANDOM, random, "get_prandom_u32", &[], narrow, None),
        row(xdp::PROCESSOR, processor, "get_smp_processor_id", &[], narrow, None),
        row(xdp::ADJUST_HEAD, adjust_head, "xdp_adjust_head", &[context, any], number, Some(PACKET)),
        row(xdp::ADJUST_TAIL, adjust_tail, "xdp_adjust_tail", &[context, any], number, Some(PACKET)),
        row(xdp::OUTPUT, output, "ringbuf_output", &[map, read, bytes, any], number, None),
        row(xdp::LOAD_BYTES, load_bytes, "xdp_load_bytes", &[context, any, write, bytes], number, None),
        row(xdp::STORE_BYTES, store_bytes, "xdp_store_bytes", &[context, any, read, bytes], number, None),
        // These check their arguments themselves, once for all bytes.
        row(COPY, copy, "drystone_copy", &[any, anything, any], number, None),
        row(SUM, sum, "drystone_sum", &[anything, any], number, None),
        row(COPY_SUM, copy_sum, "drystone_copy_sum", &[any, anything, any], number, None),
        row(SEND, send, "drystone_send", &[map, read, bytes], number, None),
    ]
}

/// What the verifier is told of the helpers of a handler that has these pipes.
pub(super) fn terms(pipes: &[pipes::Definition]) -> BTreeMap<u32, verifier::Helper> {
    let its_own = pipes.iter().zip(PIPES..).map(|(pipe, number)| (number, terms_of_pipe(pipe)));
    rows().into_iter().map(|row| (row.number, row.terms)).chain(its_own).collect()
}

/// A pipe's arguments: where data goes, unless the pipe writes over it; where it comes from; how long it is; where it
/// ends; and the pipe's registers.
fn terms_of_pipe(pipe: &pipes::Definition) -> verifier::Helper {
    let (any, anything) = (Wanted::Number(0, u64::MAX), Wanted::Anything);
    let kept = match pipe.registers {
        0 => anything,
        registers => Wanted::Changeable(Bytes::Exactly(8 * registers as u32)),
    };
    let (name, wants) = match pipe.is_over {
        true => ("pipe_over", [anything, any, anything, kept].into()),
        false => ("pipe_into", [any, anything, any, anything, kept].into()),
    };
    verifier::Helper { name, wants, gives: Given::Number(0, u64::MAX), moves: None }
}

/// Helpers by number. The verifier lets no program call a number that has none.
pub(super) fn table() -> Vec<Helper<Arrival>> {
    let mut table = alloc::vec![Helper { function: missing as _, arguments: 0 }; HIGHEST as usize + 1];
    for Row { number, function, terms } in rows() {
        table[number as usize] = Helper { function, arguments: terms.wants.len() };
    }
    let pipes: [Function; pipes::MOST] =
        [pipe::<0>, pipe::<1>, pipe::<2>, pipe::<3>, pipe::<4>, pipe::<5>, pipe::<6>, pipe::<7>];
    for (place, function) in table[PIPES as usize..].iter_mut().zip(pipes) {
        *place = Helper { function, arguments: 5 };
    }
    table
}
