//! An interface as an RPC program. Each message of the client is a procedure.
//!
//! A procedure's arguments are the message's parameters, in order. Its results are the parameters of the answer; if
//! several answers are possible, a union of them, discriminated by the answer's place in the declaration, from 0.

use drystone_component::calls::{Call, Calls};
use drystone_component::{Interface, Parameter};

use super::message::{self, Accepted, Called, Head, read_call, write_accepted, write_call};
use super::options::{Options, Texts};
use drystone_net::datum::{Datum, no_components};
use drystone_net::xdr::{self, Integers, Reader, write_word};

/// The first program number of those for anyone's use (RFC 5531, section 13).
const FOR_ANYONE: u32 = 0x2000_0000;

/// An interface as an RPC program.
pub struct Service {
    pub(super) interface: &'static Interface,
    /// The program's number.
    pub program: u32,
    /// The program's version.
    pub version: u32,
    pub(super) integers: Integers,
    pub(super) texts: Texts,
    /// Most bytes of a record.
    pub(super) limit: usize,
    pub(super) calls: Calls,
    /// The procedures' numbers, in the order of `calls`.
    pub(super) procedures: Vec<u32>,
}

/// What a server has to do about bytes that have come.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked<'a> {
    /// Nothing: they are not a call.
    Nothing,
    /// To send this reply.
    Reply(Vec<u8>),
    /// To make the call of this index. Its arguments can be decoded.
    Call { xid: u32, call: usize, arguments: &'a [u8] },
}

impl Service {
    /// # Errors
    /// A sentence says why the interface can't be an RPC program with these options.
    pub fn new(interface: &'static Interface, options: &Options) -> Result<Service, String> {
        no_components(interface)?;
        let calls = Calls::of(interface).map_err(|none| none.to_string())?;
        let procedures = procedures(interface, &calls, options)?;
        let ours = FOR_ANYONE | interface.fingerprint.0[0] as u32 & (FOR_ANYONE - 1);
        Ok(Service {
            interface,
            program: options.program.unwrap_or(ours),
            version: options.version,
            integers: options.integers,
            texts: options.texts,
            limit: options.limit,
            calls,
            procedures,
        })
    }

    /// A message's parameters.
    pub(super) fn parameters(&self, message: usize) -> &'static [Parameter] {
        self.interface.messages.get()[message].parameters.get()
    }

    /// The index of the call that a client's message is.
    pub(super) fn call_of(&self, message: usize) -> usize {
        let found = self.calls.calls.iter().position(|call| call.message == message);
        found.expect("every message of a client's is a call")
    }

    fn call(&self, index: usize) -> &Call {
        &self.calls.calls[index]
    }

    /// What a server has to do about bytes that have come.
    pub(super) fn asked<'a>(&self, bytes: &'a [u8]) -> Asked<'a> {
        let (head, arguments) = match read_call(bytes) {
            Called::Nothing => return Asked::Nothing,
            Called::Denied(reply) => return Asked::Reply(reply),
            Called::Call(head, arguments) => (head, arguments),
        };
        let mut reply = Vec::new();
        let mut refuse = |how| write_accepted(&mut reply, head.xid, how);
        if head.program != self.program {
            refuse(Accepted::ProgramUnavailable);
        } else if head.version != self.version {
            refuse(Accepted::ProgramMismatch);
            write_word(&mut reply, self.version);
            write_word(&mut reply, self.version);
        } else if head.procedure == 0 {
            refuse(Accepted::Success);
        } else {
            match self.procedures.iter().position(|&procedure| procedure == head.procedure) {
                None => refuse(Accepted::ProcedureUnavailable),
                Some(call) if self.arguments(call, arguments).is_none() => refuse(Accepted::GarbageArguments),
                Some(call) => return Asked::Call { xid: head.xid, call, arguments },
            }
        }
        Asked::Reply(reply)
    }

    /// The arguments of a call; `None`: the bytes are something else.
    pub(super) fn arguments<'a>(&self, call: usize, bytes: &'a [u8]) -> Option<Vec<Datum<'a>>> {
        xdr::read(bytes, self.parameters(self.call(call).message), self.integers)
    }

    /// Adds the reply to a call: this message, or an empty one.
    ///
    /// # Errors
    /// A value has no place in XDR.
    pub(super) fn reply<'v>(
        &self,
        out: &mut Vec<u8>,
        (xid, call): (u32, usize),
        message: Option<usize>,
        values: impl Iterator<Item = Datum<'v>>,
    ) -> Result<(), String> {
        write_accepted(out, xid, Accepted::Success);
        let Some(message) = message else { return Ok(()) };
        let answers = &self.call(call).answers;
        if answers.len() > 1 {
            let place = answers.iter().position(|&answer| answer == message);
            write_word(out, place.expect("the protocol is watched") as u32);
        }
        xdr::write(out, self.parameters(message), values, self.integers)
    }

    /// Adds the reply that says that a call has failed.
    pub(super) fn failed(out: &mut Vec<u8>, xid: u32) {
        write_accepted(out, xid, Accepted::SystemError);
    }

    /// Adds a call, by its index.
    ///
    /// # Errors
    /// A value has no place in XDR.
    pub(super) fn ask<'v>(
        &self,
        out: &mut Vec<u8>,
        (xid, call): (u32, usize),
        values: impl Iterator<Item = Datum<'v>>,
    ) -> Result<(), String> {
        let (procedure, message) = (self.procedures[call], self.call(call).message);
        write_call(out, Head { xid, program: self.program, version: self.version, procedure });
        xdr::write(out, self.parameters(message), values, self.integers)
    }

    /// The answer in a reply to a call, and the bytes of its values, which can be decoded. `None`: the interface has no
    /// answer to this call.
    ///
    /// # Errors
    /// A sentence says why there is no such answer.
    pub(super) fn answer<'a>(
        &self,
        call: usize,
        reply: &'a [u8],
    ) -> Result<Option<(usize, &'a [u8])>, String> {
        let results = message::read_reply(reply)?;
        let answers = &self.call(call).answers;
        let (answer, values) = match answers.as_slice() {
            [] => return Ok(None),
            [answer] => (*answer, results),
            _ => {
                let mut reader = Reader(results);
                let place = reader.word().ok_or("the reply has no results")?;
                let answer =
                    answers.get(place as usize).ok_or("the reply is none of the interface's answers")?;
                (*answer, reader.0)
            }
        };
        if self.results(answer, values).is_none() {
            let name = self.interface.messages.get()[answer].name.get();
            return Err(format!("the results are no {name}"));
        }
        Ok(Some((answer, values)))
    }

    /// The values of an answer; `None`: the bytes are something else.
    pub(super) fn results<'a>(&self, answer: usize, bytes: &'a [u8]) -> Option<Vec<Datum<'a>>> {
        xdr::read(bytes, self.parameters(answer), self.integers)
    }
}

/// The procedures' numbers: the calls' places, from 1, unless the option `procedures` has another.
fn procedures(interface: &'static Interface, calls: &Calls, options: &Options) -> Result<Vec<u32>, String> {
    let names: Vec<&str> =
        calls.calls.iter().map(|call| interface.messages.get()[call.message].name.get()).collect();
    if let Some((name, _)) = options.procedures.iter().find(|(name, _)| !names.contains(&name.as_str())) {
        return Err(format!("procedures: {} has no message IN {name}", interface.name.get()));
    }
    let number = |(index, name): (usize, &&str)| {
        let said = options.procedures.iter().find(|(said, _)| said == name);
        said.map_or(index as u32 + 1, |(_, number)| *number)
    };
    let numbers: Vec<u32> = names.iter().enumerate().map(number).collect();
    for (index, number) in numbers.iter().enumerate() {
        if let Some(other) = numbers[..index].iter().position(|other| other == number) {
            return Err(format!(
                "procedures: {} and {} both have number {number}",
                names[other], names[index]
            ));
        }
    }
    Ok(numbers)
}
