//! The helpers that bytecode can call: their numbers, what they do, and the verifier's contract for them.
//! `docs/src/composite.md` lists them for authors of bytecode.
//!
//! A TEXT is passed as the number of its slot, a REAL as its bits. A helper that may fail returns a *status*: 0, or 1 +
//! the number of a [`Fault`]. The program hands a status that isn't 0 to [`FAIL`].

use alloc::collections::BTreeMap;
use alloc::string::String;
use core::num::NonZeroU32;

use drystone_component::Type;

use super::fault::Fault;
use super::host::{Called, Failure, Host, cost};
use super::operate;
use super::services::Services;
use super::table::Layout;
use super::tree::{OnError, Operation};
use super::value::Text;
use crate::engine::{Answer, Context, Helper, Stop};
use crate::verifier::{self, Bytes, Contract, Given, Wanted};

/// `call(call)`: does one of the program's calls. Returns the answer of a test, and of other calls whether they failed.
pub const CALL: u32 = 0;
/// `failed()`: whether the last call failed.
pub const FAILED: u32 = 1;
/// `on_error(1 to go on, 0 to stop)`
pub const ON_ERROR: u32 = 2;
/// `fail(status, location)`: stops with an error. A program that is resumed continues behind this call: jump back from
/// there to the beginning of the failed command.
pub const FAIL: u32 = 3;
/// `multiplies(a, b)`: whether the product of two INTEGERs is one.
pub const MULTIPLIES: u32 = 4;
/// `is_integer(r)`: whether the floor of a REAL is an INTEGER.
pub const IS_INTEGER: u32 = 5;
/// `floor(r)`: that INTEGER, else 0.
pub const FLOOR: u32 = 6;
/// `to_real(n)`
pub const TO_REAL: u32 = 7;
/// `order_of_reals(a, b)`: 1 if a is less, 2 equal, 4 greater, 8 neither.
pub const ORDER_OF_REALS: u32 = 8;
/// `order_of_texts(a, b)`: 1, 2 or 4.
pub const ORDER_OF_TEXTS: u32 = 9;
/// `length(t)`
pub const LENGTH: u32 = 10;
/// `byte_of(t, i)`: -1 if there is none.
pub const BYTE_OF: u32 = 11;
/// `find(t, part, from)`: where it is, -1 if it isn't there, -2 if `from` isn't.
pub const FIND: u32 = 12;
/// `copy(to, from)`: a status, as all that follow.
pub const COPY: u32 = 13;
/// `take(to, from)`: the same, and `from` is empty then.
pub const TAKE: u32 = 14;
/// `join(to, a, b)`
pub const JOIN: u32 = 15;
/// `slice(to, t, from, n)`
pub const SLICE: u32 = 16;
/// `zeros(to, n)`
pub const ZEROS: u32 = 17;
/// `write(to, type, word)`: BOOLEAN 0, CHARACTER 1, INTEGER 2, REAL 3.
pub const WRITE: u32 = 18;
/// `set_byte(t, i, byte)`
pub const SET_BYTE: u32 = 19;
/// `number(t, 1 for a REAL, address of a word)`: 1 if it spells one, which is put there, else 0; no status.
pub const NUMBER: u32 = 20;
/// `move(from, to, address of the six numbers)`: the variables' numbers.
pub const MOVE: u32 = 21;
/// The first of the helpers that compute with REALs: `AddReal` to `Arctan`, in the order of their numbers.
pub const REALS: u32 = 32;

/// The helper of an operation with REALs.
pub(super) fn of_reals(operation: Operation) -> u32 {
    REALS + operation.number() - Operation::AddReal.number()
}

/// How many helpers compute with REALs.
const REALS_COUNT: u32 = 13;

/// See [`Contract::patience`]. A turn is measured in rounds of loops, so a round has to be short.
pub(super) const PATIENCE: u64 = 256;

/// A helper stops the program because a call has to wait.
pub(super) const WAITS: NonZeroU32 = NonZeroU32::new(1).unwrap();
/// A helper stops the program because of the error in [`Host::failure`].
pub(super) const FAILURE: NonZeroU32 = NonZeroU32::new(2).unwrap();

/// The status of a result.
pub(super) fn status(result: Result<(), Fault>) -> u64 {
    result.map_or_else(|fault| fault as u64 + 1, |()| 0)
}

type H<S> = Host<S>;
type C<'a, 'b, S> = &'a mut Context<'b, H<S>>;

/// Takes the cost of work from the budget. What the budget doesn't cover is added to the run's debt.
fn pay<S>(context: C<S>, cost: u64) {
    context.host.debt += context.pay(cost);
}

extern "C" fn call<S: Services>(context: C<S>, call: u64, _: u64, _: u64, _: u64, _: u64) -> Answer {
    if let Err(stop) = budget(context) {
        return Err(stop).into();
    }
    let mut spent = 1;
    match context.host.call(context.memory, call, &mut spent) {
        Called::Done(value) => {
            pay(context, spent);
            Ok(value).into()
        }
        Called::Waits => Err(Stop::Helper(WAITS)).into(),
        Called::Failed(failure) => {
            context.host.failure = Some(failure);
            Err(Stop::Helper(FAILURE)).into()
        }
    }
}

extern "C" fn failed<S>(context: C<S>, _: u64, _: u64, _: u64, _: u64, _: u64) -> Answer {
    Ok(context.host.failed.into()).into()
}

extern "C" fn on_error<S>(context: C<S>, mode: u64, _: u64, _: u64, _: u64, _: u64) -> Answer {
    context.host.on_error = if mode == 0 { OnError::Abort } else { OnError::Continue };
    Ok(0).into()
}

extern "C" fn fail<S>(context: C<S>, status: u64, location: u64, _: u64, _: u64, _: u64) -> Answer {
    let fault = Fault::from_number((status as u32).wrapping_sub(1)).unwrap_or(Fault::AssertionFailed);
    context.host.failure = Some(Failure { fault, location: location as u32, detail: String::new() });
    context.host.goes_on_behind = true;
    Err(Stop::Helper(FAILURE)).into()
}

macro_rules! define {
    ($before:ident: $($name:ident($context:ident, $($argument:ident),*) $body:block)*) => { $(
        extern "C" fn $name<S>($context: C<S>, a: u64, b: u64, c: u64, d: u64, _: u64) -> Answer {
            if let Err(stop) = $before($context) {
                return Err(stop).into();
            }
            let [$($argument,)* ..] = [a, b, c, d];
            Ok($body).into()
        }
    )* };
}

fn nothing<S>(_: C<S>) -> Result<(), Stop> {
    Ok(())
}

/// Stops unless something is left of the budget. Helpers that may take long ask this first: else many of them in a row
/// would never stop.
fn budget<S>(context: C<S>) -> Result<(), Stop> {
    if context.state().budget() == 0 { Err(Stop::Budget) } else { Ok(()) }
}

define! { nothing:
    multiplies(_context, a, b) { (a as i64).checked_mul(b as i64).is_some().into() }
    is_integer(_context, real) { operate::real_to_integer(f64::from_bits(real)).is_ok().into() }
    floor(_context, real) { operate::real_to_integer(f64::from_bits(real)).unwrap_or(0) as u64 }
    to_real(_context, number) { (number as i64 as f64).to_bits() }
    order_of_reals(_context, a, b) { operate::order_of_reals(f64::from_bits(a), f64::from_bits(b)) }
    length(context, text) { context.host.texts.get(text).len() as u64 }
    byte_of(context, text, index) {
        operate::byte_of(context.host.texts.get(text), index as i64).map_or(u64::MAX, u64::from)
    }
    copy(context, to, from) {
        let text = context.host.texts.get(from).clone();
        status(context.host.texts.set(to, text))
    }
    take(context, to, from) {
        let texts = &mut context.host.texts;
        let text = texts.get(from).clone();
        // An empty text always has room.
        let _ = texts.set(from, Text::default());
        let set = texts.set(to, text.clone());
        if set.is_err() {
            let _ = texts.set(from, text);
        }
        status(set)
    }
    missing(_context,) { 0 }
}

define! { budget:
    order_of_texts(context, a, b) {
        let texts = &context.host.texts;
        let (a, b) = (texts.get(a), texts.get(b));
        let (order, cost) = (operate::order_of_texts(a, b), cost(a.len().min(b.len())));
        pay(context, cost);
        order
    }
    find(context, text, part, from) {
        let (text, part) = (context.host.texts.get(text), context.host.texts.get(part));
        let cost = cost(text.len() + part.len());
        let found = operate::find(text, part, from as i64).unwrap_or(-2);
        pay(context, cost);
        found as u64
    }
    join(context, to, a, b) {
        let texts = &context.host.texts;
        let before = if to == a { texts.copied_by_change(a) } else { texts.get(a).len() };
        let copied = before + texts.get(b).len();
        let joined = context.host.texts.join(to, a, b);
        pay(context, cost(copied));
        status(joined)
    }
    slice(context, to, text, from, count) {
        let part = operate::slice(context.host.texts.get(text), from as i64, count as i64);
        made(context, to, part)
    }
    zeros(context, to, count) {
        let zeros = operate::zeros(count as i64, context.host.texts.most);
        made(context, to, zeros)
    }
    write(context, to, ty, word) {
        use Operation::*;
        let operation = [BooleanToText, CharacterToText, IntegerToText, RealToText][ty as usize % 4];
        made(context, to, Ok(operate::written(operation, word)))
    }
    set_byte(context, text, index, byte) {
        let cost = cost(context.host.texts.copied_by_change(text));
        pay(context, cost);
        status(context.host.texts.set_byte(text, index as i64, byte as u8))
    }
    number(context, text, real, address) {
        let text = context.host.texts.get(text);
        let (number, cost) = (operate::number(text, real != 0), cost(text.len()));
        pay(context, cost);
        if let Some(bytes) = context.memory.at_mut(address, 8) {
            bytes.copy_from_slice(&number.unwrap_or(0).to_ne_bytes());
        }
        number.is_some().into()
    }
    move_elements(context, from, to, address) {
        let numbers = context.memory.at(address, 48).map_or([0; 6], |bytes| {
            let (words, _) = bytes.as_chunks::<8>();
            core::array::from_fn(|index| i64::from_ne_bytes(words[index]))
        });
        match context.host.move_elements(context.memory, from as u32, to as u32, numbers) {
            Ok(cost) => {
                pay(context, cost);
                0
            }
            Err(fault) => status(Err(fault)),
        }
    }
}

/// Puts a text that was made into a slot, and pays for it.
fn made<S>(context: C<S>, to: u64, text: Result<Text, Fault>) -> u64 {
    let cost = text.as_ref().map_or(0, |text| cost(text.len()));
    let set = text.and_then(|text| context.host.texts.set(to, text));
    pay(context, cost);
    status(set)
}

/// An operation with REALs, by its number.
extern "C" fn real<S, const NUMBER: u32>(_: C<S>, a: u64, b: u64, _: u64, _: u64, _: u64) -> Answer {
    let operation = Operation::from_number(NUMBER);
    let value = operation.map_or(0.0, |it| operate::real(it, f64::from_bits(a), f64::from_bits(b)));
    Ok(value.to_bits()).into()
}

/// Helpers by number. Numbers without a helper do nothing; no contract has them.
pub(super) fn table<S: Services>() -> [Helper<H<S>>; (REALS + REALS_COUNT) as usize] {
    let mut table = [Helper { function: missing::<S> as _, arguments: 0 }; (REALS + REALS_COUNT) as usize];
    macro_rules! put {
        ($($number:ident: $function:ident, $arguments:literal;)*) => {
            $(table[$number as usize] = Helper { function: $function::<S>, arguments: $arguments };)*
        };
    }
    put! {
        CALL: call, 1; FAILED: failed, 0; ON_ERROR: on_error, 1; FAIL: fail, 2;
        MULTIPLIES: multiplies, 2; IS_INTEGER: is_integer, 1; FLOOR: floor, 1; TO_REAL: to_real, 1;
        ORDER_OF_REALS: order_of_reals, 2; ORDER_OF_TEXTS: order_of_texts, 2; LENGTH: length, 1; BYTE_OF: byte_of, 2;
        FIND: find, 3; COPY: copy, 2; TAKE: take, 2; JOIN: join, 3; SLICE: slice, 4; ZEROS: zeros, 2; WRITE: write, 3;
        SET_BYTE: set_byte, 3; NUMBER: number, 3; MOVE: move_elements, 3;
    }
    macro_rules! reals {
        ($($number:literal)*) => {
            $(table[(REALS + $number - 12) as usize] = Helper { function: real::<S, $number>, arguments: 2 };)*
        };
    }
    reals!(12 13 14 15 16 17 18 19 20 21 22 23 24);
    table
}

/// The verifier's contract for a program with this layout and so many calls.
pub(super) fn contract(layout: &Layout, calls: usize) -> Contract {
    let mut helpers = BTreeMap::new();
    let mut put = |number: u32, name, wants: &[Wanted], gives| {
        helpers.insert(number, verifier::Helper { name, wants: wants.to_vec(), gives, moves: None });
    };
    let any = Wanted::Number(0, u64::MAX);
    let up_to = |most: u64| Wanted::Number(0, most);
    let (number, yes_or_no) = (Given::Number(0, u64::MAX), Given::Number(0, 1));
    let result = Given::Number(0, Fault::ALL.len() as u64);
    if let Some(last) = (calls as u64).checked_sub(1) {
        put(CALL, "call", &[up_to(last)], yes_or_no);
    }
    put(FAILED, "failed", &[], yes_or_no);
    put(ON_ERROR, "on_error", &[up_to(1)], number);
    put(FAIL, "fail", &[Wanted::Number(1, Fault::ALL.len() as u64), up_to(u32::MAX.into())], number);
    put(MULTIPLIES, "multiplies", &[any, any], yes_or_no);
    put(IS_INTEGER, "is_integer", &[any], yes_or_no);
    put(FLOOR, "floor", &[any], number);
    put(TO_REAL, "to_real", &[any], number);
    put(ORDER_OF_REALS, "order_of_reals", &[any, any], Given::Number(1, 8));
    for real in 0..REALS_COUNT {
        put(REALS + real, "an operation with REALs", &[any, any], number);
    }
    if let Some(last) = u64::from(layout.texts()).checked_sub(1) {
        let text = up_to(last);
        put(ORDER_OF_TEXTS, "order_of_texts", &[text, text], Given::Number(1, 4));
        put(LENGTH, "length", &[text], Given::Number(0, i64::MAX as u64));
        put(BYTE_OF, "byte_of", &[text, any], number);
        put(FIND, "find", &[text, text, any], number);
        put(COPY, "copy", &[text, text], result);
        put(TAKE, "take", &[text, text], result);
        put(JOIN, "join", &[text, text, text], result);
        put(SLICE, "slice", &[text, text, any, any], result);
        put(ZEROS, "zeros", &[text, any], result);
        put(WRITE, "write", &[text, up_to(3), any], result);
        put(SET_BYTE, "set_byte", &[text, any, any], result);
        put(NUMBER, "number", &[text, up_to(1), Wanted::Writable(Bytes::Exactly(8))], yes_or_no);
    }
    if let Some(last) = (layout.variables().len() as u64).checked_sub(1) {
        let numbers = Wanted::Readable(Bytes::Exactly(48));
        put(MOVE, "move", &[up_to(last), up_to(last), numbers], result);
    }
    Contract { helpers, patience: PATIENCE, ..Contract::of_own_memory(layout.memory() as u32) }
}

/// The type that [`WRITE`] is given for an operation.
pub(super) fn written_type(operation: Operation) -> Option<Type> {
    Some(match operation {
        Operation::BooleanToText => Type::Boolean,
        Operation::CharacterToText => Type::Character,
        Operation::IntegerToText => Type::Integer,
        Operation::RealToText => Type::Real,
        _ => return None,
    })
}
