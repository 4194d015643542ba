//! An interface of requests and replies, as datagrams.

use drystone_component::calls::Calls;
use drystone_component::{Interface, Parameter};

use super::datagram::{Head, REFUSED};
use drystone_net::datagram::fits;
use drystone_net::datum::{Datum, no_components};
use drystone_net::xdr::{self, Integers};

/// See the head of this file.
pub(super) struct Service {
    pub(super) interface: &'static Interface,
    pub(super) calls: Calls,
    /// The interface's number in datagrams, made of its fingerprint.
    pub(super) form: u32,
}

/// What a server has to do about a datagram.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked<'a> {
    /// Nothing.
    Nothing,
    /// To refuse the request that has this number.
    Refused(u32),
    /// To give this message to the service. Its parameters can be decoded.
    Request { id: u32, message: usize, parameters: &'a [u8] },
}

impl Service {
    /// # Errors
    /// A sentence says why the interface has no datagrams.
    pub(super) fn new(interface: &'static Interface) -> Result<Service, String> {
        no_components(interface)?;
        let calls = Calls::of(interface).map_err(|none| none.to_string())?;
        Ok(Service { interface, calls, form: interface.fingerprint.head() })
    }

    pub(super) fn parameters(&self, message: usize) -> &'static [Parameter] {
        self.interface.messages.get()[message].parameters.get()
    }

    /// Whether a client's message has an answer.
    pub(super) fn is_answered(&self, message: usize) -> bool {
        self.calls.with(message).is_some_and(|call| !call.answers.is_empty())
    }

    /// What a server has to do about these bytes. A refusal is never refused: two servers could go on so for ever.
    pub(super) fn asked<'a>(&self, bytes: &'a [u8]) -> Asked<'a> {
        let Some((Head { form, id, message }, parameters)) = Head::read(bytes) else { return Asked::Nothing };
        if message == REFUSED {
            return Asked::Nothing;
        }
        let message = message as usize;
        let is_known = form == self.form && self.calls.with(message).is_some();
        match is_known && self.values(message, parameters).is_some() {
            true => Asked::Request { id, message, parameters },
            false => Asked::Refused(id),
        }
    }

    /// A request or a reply.
    ///
    /// # Errors
    /// It has no room in a datagram.
    pub(super) fn datagram<'v>(
        &self,
        what: &str,
        id: u32,
        message: usize,
        values: impl Iterator<Item = Datum<'v>>,
    ) -> Result<Vec<u8>, String> {
        let mut out = Head { form: self.form, id, message: message as u32 }.written();
        xdr::write(&mut out, self.parameters(message), values, Integers::Hyper)?;
        fits(what, &out)?;
        Ok(out)
    }

    /// The reply to a request that can't be carried out.
    pub(super) fn refusal(&self, id: u32) -> Vec<u8> {
        Head { form: self.form, id, message: REFUSED }.written()
    }

    /// The answer in a reply to a request, and its parameters, which can be decoded.
    ///
    /// # Errors
    /// A sentence says why there is none.
    pub(super) fn answer<'a>(&self, request: usize, reply: &'a [u8]) -> Result<(usize, &'a [u8]), String> {
        let (head, parameters) = Head::read(reply).ok_or("the reply is cut off")?;
        if head.form != self.form {
            let (theirs, ours) = (head.form, self.form);
            return Err(format!(
                "the server has another interface, of form {theirs:#010x} and not {ours:#010x}"
            ));
        }
        if head.message == REFUSED {
            return Err("the server could not carry out the request".into());
        }
        let answers = self.calls.with(request).map_or(&[][..], |call| &call.answers);
        let is_it = |answer: &&usize| u32::try_from(**answer) == Ok(head.message);
        let answer = *answers.iter().find(is_it).ok_or("the reply is none of the interface's answers")?;
        match self.values(answer, parameters) {
            Some(_) => Ok((answer, parameters)),
            None => Err(format!(
                "what the reply carries is no {}",
                self.interface.messages.get()[answer].name.get()
            )),
        }
    }

    /// The values of a message.
    pub(super) fn values<'a>(&self, message: usize, parameters: &'a [u8]) -> Option<Vec<Datum<'a>>> {
        xdr::read(parameters, self.parameters(message), Integers::Hyper)
    }
}
