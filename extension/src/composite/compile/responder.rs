//! Compiles a service that answers datagrams to a handler (*ASHs*). The tree is what the service does with one
//! datagram.
//!
//! The service's state is in the first value of map 0, which its process shares: a lock, the address that it answers
//! at, counts, and variables ([`shared`]). A run takes the lock, or leaves the datagram to the process. It copies the
//! variables into its stack, and writes them back at the end. A run that fails before that has changed nothing: the
//! process then does the whole datagram again, and reports the error if it is one.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;

use drystone_component::Type;

use super::assembler::Label;
use super::compiler::*;
use super::responding::{Responding, own, shared};
use crate::bytecode::{
    Alu, Atomic, Condition, Constant, Instruction, Operand, Order, Register, Sign, Size, Slot, Width,
};
use crate::composite::check::Limits;
use crate::composite::program::{Action, Code, Program, Refusal, Travels};
use crate::composite::table::WORD;
use crate::composite::tree::Command;
use crate::{FRAME, xdp};

/// The form of the datagrams that a service answers: `docs/src/bindings-udp.md`.
#[derive(Clone, Debug)]
pub struct Responder<'a> {
    /// The first word of requests and replies.
    pub form: u32,
    /// How many of the program's variables outlive a request: the first ones. All others are initialised for each
    /// request.
    pub kept: u32,
    /// The parameters of each message of the interface.
    pub messages: &'a [Vec<Type>],
}

/// Offsets in a frame: Ethernet, IPv4 without options, UDP, and the head of the datagram.
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

impl Program {
    /// Compiles the tree to a handler that runs it for each request. Its only communication, 0, is with the sender of
    /// the request.
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
        if used * WORD > FRAME {
            return Err(format!("it needs {used} words at once, and a handler has {}", FRAME / WORD).into());
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

/// A number of 16 bits in network byte order, as a load gives it.
fn network(number: i16) -> i32 {
    (number as u16).to_be().into()
}

fn at(word: usize) -> i16 {
    (word * WORD) as i16
}

impl Compiler {
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
        self.verdict(xdp::PASS);
    }

    /// The messages of the calls for which `which` gives one.
    fn messages(&self, which: impl Fn(&Action) -> Option<u32>) -> BTreeSet<u32> {
        self.calls.iter().filter_map(|call| which(&call.action)).collect()
    }

    /// Jumps to `not_mine` unless the datagram has the service's form and address. Then r0 is the number of its
    /// message, and r2 and r3 are where the frame begins and ends.
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

    /// Puts into r2 and r3 where the frame begins and ends. Jumps unless it has so many bytes of parameters.
    fn bounds(&mut self, parameters: i16, otherwise: Label) {
        for (register, offset) in [(R2, xdp::context::DATA), (R3, xdp::context::DATA_END)] {
            self.put(Instruction::Load {
                sign: Sign::Zero,
                size: Size::Word,
                destination: register,
                base: R1,
                offset: offset as i16,
            });
        }
        self.reach(parameters, otherwise);
    }

    fn reach(&mut self, parameters: i16, otherwise: Label) {
        self.copy(r(4), R2);
        self.alu(Alu::Add, r(4), i32::from(frame::PARAMETERS + parameters));
        self.jump_if(Condition::Above, r(4), R3, otherwise);
    }

    /// If it is this message, puts its parameters into the stack, and goes to the lock.
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
        // The verifier doesn't know how many parameters the message has.
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

    /// The end of a run: sends the reply, if there is one.
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
        self.verdict(xdp::DROP);
    }

    fn answer(&mut self, message: u32, kept: u32) {
        let types = self.responding().messages[message as usize].clone();
        let (length, leave, fits) = (length_of_all(&types), self.responding().leave, self.assembler.label());
        self.number(R2, length.into());
        self.get_own(R3, own::LENGTH);
        self.alu(Alu::Sub, R2, R3);
        self.jump_if(Condition::Equal, R2, 0, fits);
        self.get_own(R1, own::CONTEXT);
        self.put(Instruction::CallHelper { number: xdp::ADJUST_TAIL });
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
        self.verdict(xdp::TRANSMIT);
    }

    /// Writes the kept variables back, and gives the lock up. From here on nothing fails.
    fn commit(&mut self, kept: u32) {
        for number in 0..kept {
            self.load(R0, self.layout.place(number));
            self.store_at(BASE, at(shared::VARIABLES + number as usize), R0);
        }
        self.unlock();
        self.count(shared::ANSWERED);
    }

    /// Makes the frame at r2 one to its sender, with so many bytes of parameters.
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
            // Over IPv4 this means that there is none.
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

    fn verdict(&mut self, verdict: u32) {
        self.number(R0, verdict.into());
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
