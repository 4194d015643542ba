//! A service that answers datagrams, as a handler (paper 003): the tree is what it does with one of them.
//!
//! What the service keeps lies in the first value of map 0, which its process has, too: a lock, whose datagrams these
//! are, counts, and variables. A run takes the lock, or leaves the datagram to the process; copies the variables into
//! its stack; and puts them back when all has gone well. So whatever fails before has changed nothing, and the process
//! does it again from the beginning: with its errors, if they are errors.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;

use super::*;
use crate::bytecode::{Atomic, Order, Sign, Slot};
use crate::composite::program::{Action, Argument, Pattern};

/// What datagrams look like that such a service answers: `docs/src/bindings-udp.md`.
#[derive(Clone, Debug)]
pub struct Responder<'a> {
    /// What requests and replies begin with.
    pub form: u32,
    /// How many of the program's variables the service keeps: the first ones. All others begin anew with each request.
    pub kept: u32,
    /// The parameters of each message of the interface.
    pub messages: &'a [Vec<Type>],
}

/// The words of the map's value, which a service and its handler share.
pub mod shared {
    /// 1 while somebody has the lock.
    pub const LOCK: usize = 0;
    /// The address (below) and the port (above it) whose datagrams are answered, as they stand in memory.
    pub const PLACE: usize = 1;
    /// How many requests were answered.
    pub const ANSWERED: usize = 2;
    /// How many were left to the process, because the lock was held, or something failed.
    pub const LEFT: usize = 3;
    /// The first variable.
    pub const VARIABLES: usize = 4;
}

/// Words of the stack, from its end. Parameters follow, then the program's variables.
mod own {
    pub const CONTEXT: u32 = 0;
    /// The number of the message that has arrived; -1 when the service has it.
    pub const ARRIVED: u32 = 1;
    /// 1 + the number of the message that it sent.
    pub const REPLY: u32 = 2;
    /// Bytes of the request's parameters.
    pub const LENGTH: u32 = 3;
    pub const PARAMETERS: u32 = 4;
}

const STACK: i32 = 512;
const ADJUST_TAIL: u32 = 65;
const DROP: i64 = 1;
const PASS: i64 = 2;
const TRANSMIT: i64 = 3;

/// Where things stand in a frame: Ethernet, IPv4 without options, UDP, and what the datagram begins with.
mod frame {
    pub const TYPE: i16 = 12;
    pub const IP: i16 = 14;
    pub const IP_LENGTH: i16 = 16;
    pub const FRAGMENT: i16 = 20;
    pub const HOPS: i16 = 22;
    pub const PROTOCOL: i16 = 23;
    pub const IP_CHECKSUM: i16 = 24;
    pub const FROM: i16 = 26;
    pub const TO: i16 = 30;
    pub const FROM_PORT: i16 = 34;
    pub const TO_PORT: i16 = 36;
    pub const UDP_LENGTH: i16 = 38;
    pub const CHECKSUM: i16 = 40;
    pub const FORM: i16 = 42;
    pub const MESSAGE: i16 = 50;
    pub const PARAMETERS: i16 = 54;
}

/// What the compiler knows while it makes a responder.
pub(super) struct Responding {
    /// The first word of the stack that is a variable.
    variables: u32,
    /// For each message that can arrive what it brings, for each that can be sent what it takes.
    messages: Vec<Vec<Type>>,
    /// Where a run ends that goes well, and where one that holds the lock leaves the rest to the process.
    pub(super) done: Label,
    pub(super) leave: Label,
    /// Something that handlers can't do.
    pub(super) refused: Option<&'static str>,
}

impl Program {
    /// The instructions of a handler that does for each request what the tree does; 0 is its only communication, with
    /// whoever sent it.
    ///
    /// # Errors
    /// The program does what handlers can't, or needs more room than they have.
    pub fn respond(&self, responder: &Responder<'_>, limits: &Limits) -> Result<Vec<Slot>, Refusal> {
        self.check(limits)?;
        let Code::Tree(tree) = &self.code else { return Err("a responder is made of a tree".into()) };
        if self.variables.iter().any(|it| it.length.is_some() || !is_plain(it.ty)) {
            return Err("handlers have variables of types INTEGER, BOOLEAN and CHARACTER only".into());
        }
        let mut compiler = Compiler::new(self)?;
        let most = responder.messages.iter().map(Vec::len).max().unwrap_or(0) as u32;
        let [done, leave] = [(); 2].map(|()| compiler.assembler.label());
        compiler.responding = Some(Responding {
            variables: own::PARAMETERS + most,
            messages: responder.messages.to_vec(),
            done,
            leave,
            refused: None,
        });
        compiler.responder(tree, responder);
        let used = (compiler.words + own::PARAMETERS + most) as usize + compiler.waited;
        let refused = compiler.responding.and_then(|it| it.refused);
        if let Some(what) = refused {
            return Err(format!("handlers have no {what}").into());
        }
        if used * WORD > STACK as usize {
            return Err(format!(
                "it needs {used} words at once, and a handler has {}",
                STACK as usize / WORD
            )
            .into());
        }
        Ok(compiler.assembler.finish())
    }
}

/// Whether values of a type are numbers in words.
fn is_plain(ty: Type) -> bool {
    matches!(ty, Type::Integer | Type::Boolean | Type::Character)
}

/// Bytes of a value as XDR.
fn length_of(ty: Type) -> i16 {
    if ty == Type::Integer { 8 } else { 4 }
}

fn length_of_all(types: &[Type]) -> i16 {
    types.iter().map(|ty| length_of(*ty)).sum()
}

/// A number of 16 bits as the network has it, as it is when it is loaded.
fn network(number: i16) -> i32 {
    (number as u16).to_be().into()
}

fn at(word: usize) -> i16 {
    (word * WORD) as i16
}

impl Compiler {
    pub(super) fn responding(&self) -> &Responding {
        self.responding.as_ref().expect("a responder is being made")
    }

    /// Where a word of the stack is.
    pub(super) fn own(&self, word: u32) -> i16 {
        (word as i32 * WORD as i32 - STACK).max(-STACK) as i16
    }

    pub(super) fn variable_of_responder(&self, word: u32) -> i16 {
        self.own(self.responding().variables + word)
    }

    fn get_own(&mut self, to: Register, word: u32) {
        self.load_from(to, Register::FRAME, self.own(word));
    }

    fn set_own(&mut self, word: u32, from: Register) {
        self.store_at(Register::FRAME, self.own(word), from);
    }

    fn responder(&mut self, tree: &Command, responder: &Responder<'_>) {
        let [not_mine, left, lock] = [(); 3].map(|()| self.assembler.label());
        self.put(Instruction::Constant {
            destination: BASE,
            constant: Constant::ValueByIndex { map: 0, offset: 0 },
        });
        self.set_own(own::CONTEXT, R1);
        self.header(responder.form, not_mine);
        let heard = |action: &Action| match action {
            Action::Receive { message, .. } => Some(*message),
            _ => None,
        };
        for message in self.messages(heard) {
            self.arrival(message, lock, not_mine);
        }
        self.assembler.jump(not_mine);

        self.assembler.place(lock);
        self.number(R0, 0);
        self.number(R1, 1);
        self.atomic(Atomic::CompareExchange, shared::LOCK, R1);
        self.jump_if(Condition::NotEqual, R0, 0, left);
        self.number(R0, 0);
        self.set_own(own::REPLY, R0);
        self.initial_values(responder.kept);
        self.command(tree);
        let done = self.responding().done;
        self.assembler.place(done);
        self.end(responder.kept);

        self.put_cold();
        let leave = self.responding().leave;
        self.assembler.place(leave);
        self.unlock();
        self.assembler.place(left);
        self.count(shared::LEFT);
        self.assembler.place(not_mine);
        self.verdict(PASS);
    }

    /// The messages of those steps of the conversation that are so.
    fn messages(&self, which: impl Fn(&Action) -> Option<u32>) -> BTreeSet<u32> {
        self.calls.iter().filter_map(|call| which(&call.action)).collect()
    }

    /// Goes on with a datagram whose form and place are the service's; its message's number is in r0 then, and r2 and
    /// r3 are where it begins and ends.
    fn header(&mut self, form: u32, not_mine: Label) {
        self.bounds(0, not_mine);
        let fields = [
            (Size::Half, frame::TYPE, network(0x0800)),
            (Size::Byte, frame::IP, 0x45),
            (Size::Byte, frame::PROTOCOL, 17),
        ];
        for (size, offset, value) in fields {
            self.field(R0, size, offset);
            self.jump_if(Condition::NotEqual, R0, value, not_mine);
        }
        self.field(R0, Size::Half, frame::FRAGMENT);
        self.alu(Alu::And, R0, network(0x3fff));
        self.jump_if(Condition::NotEqual, R0, 0, not_mine);
        self.field(R0, Size::Half, frame::TO_PORT);
        self.alu(Alu::ShiftLeft, R0, 32);
        self.field(r(4), Size::Word, frame::TO);
        self.alu(Alu::Or, R0, r(4));
        self.load_from(r(4), BASE, at(shared::PLACE));
        self.jump_if(Condition::NotEqual, R0, r(4), not_mine);
        self.field(R0, Size::Word, frame::FORM);
        self.number(r(4), form.to_be().into());
        self.jump_if(Condition::NotEqual, R0, r(4), not_mine);
        self.field(R0, Size::Word, frame::MESSAGE);
        self.swap(R0, Size::Word);
    }

    /// r2 and r3 become where the frame begins and ends; it has parameters of so many bytes at least.
    fn bounds(&mut self, parameters: i16, otherwise: Label) {
        for (register, offset) in [(R2, 0), (R3, 4)] {
            self.put(Instruction::Load {
                sign: Sign::Zero,
                size: Size::Word,
                destination: register,
                base: R1,
                offset,
            });
        }
        self.reach(parameters, otherwise);
    }

    fn reach(&mut self, parameters: i16, otherwise: Label) {
        self.copy(r(4), R2);
        self.alu(Alu::Add, r(4), i32::from(frame::PARAMETERS + parameters));
        self.jump_if(Condition::Above, r(4), R3, otherwise);
    }

    /// If it is this message, its parameters are put into the stack.
    fn arrival(&mut self, message: u32, lock: Label, not_mine: Label) {
        let types = self.responding().messages[message as usize].clone();
        let (length, count, other) = (length_of_all(&types), types.len() as u32, self.assembler.label());
        self.jump_if(Condition::NotEqual, R0, message as i32, other);
        self.set_own(own::ARRIVED, R0);
        self.reach(length, not_mine);
        for (offset, before) in [(frame::UDP_LENGTH, 20), (frame::IP_LENGTH, 40)] {
            self.field(R0, Size::Half, offset);
            self.jump_if(Condition::NotEqual, R0, network(before + length), not_mine);
        }
        self.number(R0, length.into());
        self.set_own(own::LENGTH, R0);
        let mut offset = frame::PARAMETERS;
        for (number, ty) in types.into_iter().enumerate() {
            let size = if ty == Type::Integer { Size::Double } else { Size::Word };
            self.field(R0, size, offset);
            self.swap(R0, size);
            match ty {
                Type::Boolean => self.jump_if(Condition::Above, R0, 1, not_mine),
                Type::Character => self.jump_if(Condition::Above, R0, 255, not_mine),
                _ => {}
            }
            self.set_own(own::PARAMETERS + number as u32, R0);
            offset += length_of(ty);
        }
        // The verifier knows not which message has how many.
        self.number(R0, 0);
        for word in own::PARAMETERS + count..self.responding().variables {
            self.set_own(word, R0);
        }
        self.assembler.jump(lock);
        self.assembler.place(other);
    }

    fn initial_values(&mut self, kept: u32) {
        for number in 0..self.variables.len() as u32 {
            match (&self.variables[number as usize].travels, number < kept) {
                (_, true) => self.load_from(R0, BASE, at(shared::VARIABLES + number as usize)),
                (Travels::Not(value), false) => {
                    let value = value.word() as i64;
                    self.number(R0, value);
                }
                _ => self.number(R0, 0),
            }
            self.store(self.layout.place(number), R0);
        }
    }

    /// A step of the conversation with whoever sent the request.
    pub(super) fn converse(&mut self, call: u32) {
        match self.calls[call as usize].action.clone() {
            Action::Receive { message, results } => self.receive(message, &results),
            Action::Send { message, arguments } => {
                for (number, argument) in arguments.iter().enumerate() {
                    self.load(R0, self.layout.place(argument.variable));
                    self.set_own(own::PARAMETERS + number as u32, R0);
                }
                self.number(R0, i64::from(message) + 1);
                self.set_own(own::REPLY, R0);
            }
            Action::Test(pattern) | Action::Input(pattern) => self.is_next(pattern),
            Action::Close => {}
        }
    }

    fn receive(&mut self, message: u32, results: &[Argument]) {
        let (done, leave) = (self.responding().done, self.responding().leave);
        self.get_own(R0, own::ARRIVED);
        // Nobody sends anything behind a request: where the next one is awaited, the service ends.
        self.jump_if(Condition::Equal, R0, -1, done);
        self.jump_if(Condition::NotEqual, R0, message as i32, leave);
        self.number(R0, -1);
        self.set_own(own::ARRIVED, R0);
        for (number, result) in results.iter().enumerate() {
            self.get_own(R0, own::PARAMETERS + number as u32);
            self.store(self.layout.place(result.variable), R0);
        }
    }

    /// Whether the next message is so comes to r0.
    fn is_next(&mut self, pattern: Pattern) {
        let (condition, number) = match pattern {
            Pattern::Message(message) => (Condition::Equal, message as i32),
            Pattern::Any => (Condition::NotEqual, -1),
            Pattern::Finish => (Condition::Equal, -1),
        };
        let known = self.assembler.label();
        self.get_own(R1, own::ARRIVED);
        self.number(R0, 1);
        self.jump_if(condition, R1, number, known);
        self.number(R0, 0);
        self.assembler.place(known);
    }

    /// Sends the answer, if there is one.
    fn end(&mut self, kept: u32) {
        let leave = self.responding().leave;
        let sent = |action: &Action| match action {
            Action::Send { message, .. } => Some(*message),
            _ => None,
        };
        self.get_own(R0, own::REPLY);
        for message in self.messages(sent) {
            let other = self.assembler.label();
            self.jump_if(Condition::NotEqual, R0, message as i32 + 1, other);
            self.answer(message, kept);
            self.assembler.place(other);
        }
        self.get_own(R0, own::ARRIVED);
        self.jump_if(Condition::NotEqual, R0, -1, leave);
        self.commit(kept);
        self.verdict(DROP);
    }

    fn answer(&mut self, message: u32, kept: u32) {
        let types = self.responding().messages[message as usize].clone();
        let (length, leave, fits) = (length_of_all(&types), self.responding().leave, self.assembler.label());
        self.number(R2, length.into());
        self.get_own(R3, own::LENGTH);
        self.alu(Alu::Sub, R2, R3);
        self.jump_if(Condition::Equal, R2, 0, fits);
        self.get_own(R1, own::CONTEXT);
        self.put(Instruction::CallHelper { number: ADJUST_TAIL });
        self.jump_if(Condition::NotEqual, R0, 0, leave);
        self.assembler.place(fits);
        self.get_own(R1, own::CONTEXT);
        self.bounds(length, leave);
        self.commit(kept);
        self.turn_round(length);
        self.number(R0, message.into());
        self.swap(R0, Size::Word);
        self.set_field(Size::Word, frame::MESSAGE, R0);
        let mut offset = frame::PARAMETERS;
        for (number, ty) in types.into_iter().enumerate() {
            let size = if ty == Type::Integer { Size::Double } else { Size::Word };
            self.get_own(R0, own::PARAMETERS + number as u32);
            self.swap(R0, size);
            self.set_field(size, offset, R0);
            offset += length_of(ty);
        }
        self.verdict(TRANSMIT);
    }

    /// From here on nothing fails.
    fn commit(&mut self, kept: u32) {
        for number in 0..kept {
            self.load(R0, self.layout.place(number));
            self.store_at(BASE, at(shared::VARIABLES + number as usize), R0);
        }
        self.unlock();
        self.count(shared::ANSWERED);
    }

    /// The frame at r2 goes back to who sent it, with so many bytes of parameters.
    fn turn_round(&mut self, parameters: i16) {
        let both = [
            (Size::Word, 0, 6),
            (Size::Half, 4, 10),
            (Size::Word, frame::FROM, frame::TO),
            (Size::Half, frame::FROM_PORT, frame::TO_PORT),
        ];
        for (size, one, other) in both {
            self.field(R0, size, one);
            self.field(R1, size, other);
            self.set_field(size, other, R0);
            self.set_field(size, one, R1);
        }
        let fields = [
            (Size::Half, frame::UDP_LENGTH, network(20 + parameters)),
            // Over IPv4 that says that there is none.
            (Size::Half, frame::CHECKSUM, 0),
            (Size::Half, frame::IP_LENGTH, network(40 + parameters)),
            (Size::Byte, frame::HOPS, 64),
            (Size::Half, frame::IP_CHECKSUM, 0),
        ];
        for (size, offset, value) in fields {
            self.set_field(size, offset, value);
        }
        self.number(R0, 0);
        for part in 0..10 {
            self.field(R1, Size::Half, frame::IP + 2 * part);
            self.alu(Alu::Add, R0, R1);
        }
        for _ in 0..2 {
            self.copy(R1, R0);
            self.alu(Alu::ShiftRight, R1, 16);
            self.alu(Alu::And, R0, 0xffff);
            self.alu(Alu::Add, R0, R1);
        }
        self.alu(Alu::Xor, R0, 0xffff);
        self.set_field(Size::Half, frame::IP_CHECKSUM, R0);
    }

    fn unlock(&mut self) {
        self.number(R1, 0);
        self.atomic(Atomic::Exchange, shared::LOCK, R1);
    }

    fn count(&mut self, what: usize) {
        self.number(R1, 1);
        self.atomic(Atomic::Add, what, R1);
    }

    fn verdict(&mut self, verdict: i64) {
        self.number(R0, verdict);
        self.put(Instruction::Exit);
    }

    fn atomic(&mut self, operation: Atomic, word: usize, source: Register) {
        let (width, base, offset) = (Width::W64, BASE, at(word));
        self.put(Instruction::Atomic { width, operation, base, offset, source });
    }

    fn field(&mut self, destination: Register, size: Size, offset: i16) {
        self.put(Instruction::Load { sign: Sign::Zero, size, destination, base: R2, offset });
    }

    fn set_field(&mut self, size: Size, offset: i16, source: impl Into<Operand>) {
        self.put(Instruction::Store { size, base: R2, offset, source: source.into() });
    }

    fn swap(&mut self, destination: Register, size: Size) {
        self.put(Instruction::Swap { order: Order::Big, size, destination });
    }
}
