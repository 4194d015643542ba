//! Calls and replies (RFC 5531, section 9), without their arguments and results.

use drystone_net::xdr::{Reader, write_opaque, write_word};

const CALL: u32 = 0;
const REPLY: u32 = 1;
const RPC_VERSION: u32 = 2;

const ACCEPTED: u32 = 0;
const DENIED: u32 = 1;
const RPC_MISMATCH: u32 = 0;
const AUTH_ERROR: u32 = 1;

const AUTH_NONE: u32 = 0;
const AUTH_SYS: u32 = 1;
/// Most bytes of credentials.
const MOST_CREDENTIALS: usize = 400;

/// How an accepted call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Accepted {
    Success = 0,
    ProgramUnavailable = 1,
    ProgramMismatch = 2,
    ProcedureUnavailable = 3,
    GarbageArguments = 4,
    SystemError = 5,
}

/// Which procedure is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// The number that the reply has too.
    pub(super) xid: u32,
    pub(super) program: u32,
    pub(super) version: u32,
    pub(super) procedure: u32,
}

/// What bytes are to a server.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Called<'a> {
    /// Not a call, so there is nothing to answer.
    Nothing,
    /// A call that is refused, with this reply.
    Denied(Vec<u8>),
    /// A call with its arguments.
    Call(Head, &'a [u8]),
}

/// Reads a call. Credentials may be AUTH_NONE or AUTH_SYS, and are ignored.
pub(super) fn read_call(bytes: &[u8]) -> Called<'_> {
    let mut reader = Reader(bytes);
    let (Some(xid), Some(CALL)) = (reader.word(), reader.word()) else { return Called::Nothing };
    match reader.word() {
        Some(RPC_VERSION) => {}
        Some(_) => return Called::Denied(denied(xid, &[RPC_MISMATCH, RPC_VERSION, RPC_VERSION])),
        None => return Called::Nothing,
    }
    let numbers = (reader.word(), reader.word(), reader.word());
    let (Some(program), Some(version), Some(procedure)) = numbers else { return Called::Nothing };
    // The credentials, then their verifier. RFC 5531, section 9, numbers the reasons for a refusal.
    for (bad, rejected) in [(1, 2), (3, 4)] {
        let (Some(flavor), Some(body)) = (reader.word(), reader.opaque()) else { return Called::Nothing };
        if body.len() > MOST_CREDENTIALS {
            return Called::Denied(denied(xid, &[AUTH_ERROR, bad]));
        }
        if !matches!(flavor, AUTH_NONE | AUTH_SYS) {
            return Called::Denied(denied(xid, &[AUTH_ERROR, rejected]));
        }
    }
    Called::Call(Head { xid, program, version, procedure }, reader.0)
}

fn denied(xid: u32, why: &[u32]) -> Vec<u8> {
    let mut out = Vec::new();
    [xid, REPLY, DENIED].iter().chain(why).for_each(|&word| write_word(&mut out, word));
    out
}

/// Adds the head of a call without credentials.
pub(super) fn write_call(out: &mut Vec<u8>, head: Head) {
    let Head { xid, program, version, procedure } = head;
    for word in [xid, CALL, RPC_VERSION, program, version, procedure, AUTH_NONE, 0, AUTH_NONE, 0] {
        write_word(out, word);
    }
}

/// Adds the head of an accepted call's reply.
pub(super) fn write_accepted(out: &mut Vec<u8>, xid: u32, how: Accepted) {
    [xid, REPLY, ACCEPTED, AUTH_NONE].iter().for_each(|&word| write_word(out, word));
    write_opaque(out, &[]).expect("it is short");
    write_word(out, how as u32);
}

/// The number of the call to which bytes are the reply; `None`: they are something else.
pub(super) fn reply_to(bytes: &[u8]) -> Option<u32> {
    let mut reader = Reader(bytes);
    match (reader.word(), reader.word()) {
        (Some(xid), Some(REPLY)) => Some(xid),
        _ => None,
    }
}

/// The results in a reply.
///
/// # Errors
/// A sentence says why there are none.
pub(super) fn read_reply(bytes: &[u8]) -> Result<&[u8], String> {
    let mut reader = Reader(bytes);
    let words = (reader.word(), reader.word(), reader.word());
    let reply = match words.2 {
        Some(ACCEPTED) => accepted(&mut reader),
        Some(DENIED) => Some(Err(why_denied(&mut reader))),
        _ => None,
    };
    reply.unwrap_or_else(|| Err("the reply is no RPC message".into()))
}

fn accepted<'a>(reader: &mut Reader<'a>) -> Option<Result<&'a [u8], String>> {
    let (_, _) = (reader.word()?, reader.opaque()?);
    Some(match reader.word()? {
        0 => Ok(reader.0),
        1 => Err("the server has no such program".into()),
        2 => {
            let (low, high) = (reader.word()?, reader.word()?);
            Err(format!("the server has no such version of the program, only {low} to {high}"))
        }
        3 => Err("the program has no such procedure".into()),
        4 => Err("the server can't decode the arguments".into()),
        5 => Err("the server could not carry out the call".into()),
        other => Err(format!("the server answers with status {other}")),
    })
}

fn why_denied(reader: &mut Reader<'_>) -> String {
    match (reader.word(), reader.word()) {
        (Some(RPC_MISMATCH), _) => "the server knows another version of RPC".into(),
        (_, Some(why)) => format!("the server wants other credentials (reason {why})"),
        _ => "the server refuses the call".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: Head = Head { xid: 7, program: 0x2000_0001, version: 1, procedure: 2 };

    fn call() -> Vec<u8> {
        let mut out = Vec::new();
        write_call(&mut out, HEAD);
        out
    }

    #[test]
    fn a_call_is_read_as_it_was_written() {
        let mut bytes = call();
        bytes.extend_from_slice(b"args");
        assert_eq!(read_call(&bytes), Called::Call(HEAD, b"args"));
        for length in 0..40 {
            assert_eq!(read_call(&bytes[..length]), Called::Nothing, "{length} bytes");
        }
    }

    #[test]
    fn credentials_of_unix_are_taken_and_others_refused() {
        let mut bytes = call();
        bytes[27] = 1;
        bytes[31] = 4;
        bytes.splice(32..32, *b"unix");
        assert_eq!(read_call(&bytes), Called::Call(HEAD, b""));
        bytes[27] = 6;
        assert_eq!(read_call(&bytes), Called::Denied(denied(7, &[AUTH_ERROR, 2])));
        let mut bytes = call();
        bytes[11] = 3;
        assert_eq!(read_call(&bytes), Called::Denied(denied(7, &[RPC_MISMATCH, 2, 2])));
        assert_eq!(
            read_reply(&denied(7, &[RPC_MISMATCH, 2, 2])).unwrap_err(),
            "the server knows another version of RPC"
        );
    }

    #[test]
    fn replies_say_how_it_went() {
        let mut out = Vec::new();
        write_accepted(&mut out, 7, Accepted::Success);
        out.extend_from_slice(b"results!");
        assert_eq!((reply_to(&out), read_reply(&out)), (Some(7), Ok(&b"results!"[..])));
        for length in 0..24 {
            assert!(read_reply(&out[..length]).is_err(), "{length} bytes");
        }
        let mut out = Vec::new();
        write_accepted(&mut out, 8, Accepted::ProcedureUnavailable);
        assert_eq!(read_reply(&out).unwrap_err(), "the program has no such procedure");
        assert_eq!(reply_to(&call()), None);
    }
}
