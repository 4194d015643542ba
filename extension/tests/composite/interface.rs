//! Interfaces for tests, from a few words.

use drystone_component::wire::{Description, put_opaque, put_u32};
use drystone_component::{Fingerprint, Type};

/// A message: "IN" or "OUT", its name, and the types of its parameters.
pub type Message<'a> = (&'a str, &'a str, &'a [Type]);

/// Of a state that may end, and in which every message may come that the client sends, or in the other every answer.
pub fn requests_and_replies(name: &str, messages: &[Message]) -> Description {
    let by = |direction: &str| -> Vec<u32> {
        (0..messages.len() as u32).filter(|it| messages[*it as usize].0 == direction).collect()
    };
    interface(name, messages, &[(true, by("IN"), 1), (false, by("OUT"), 0)])
}

/// States: whether they may end, which messages may come, and the state that follows all of these.
fn interface(name: &str, messages: &[Message], states: &[(bool, Vec<u32>, u32)]) -> Description {
    let mut identity = name.to_string();
    for (direction, name, types) in messages {
        identity += &format!("\n{direction} {name}");
        types.iter().for_each(|ty| identity += &format!(" {ty}"));
    }
    for (may_end, transitions, next) in states {
        identity += if *may_end { "\n." } else { "\n" };
        transitions.iter().for_each(|message| identity += &format!(" {message}>{next}"));
    }
    identity += "\n\n";
    let mut out = Vec::new();
    put_opaque(&mut out, name.as_bytes());
    out.extend(Fingerprint::of(&identity).to_bytes());
    put_u32(&mut out, messages.len() as u32);
    for (direction, name, types) in messages {
        put_opaque(&mut out, name.as_bytes());
        put_u32(&mut out, (*direction == "OUT").into());
        put_u32(&mut out, types.len() as u32);
        for ty in *types {
            put_opaque(&mut out, b"x");
            put_u32(&mut out, *ty as u32);
        }
    }
    put_u32(&mut out, states.len() as u32);
    for (may_end, transitions, next) in states {
        put_u32(&mut out, (*may_end).into());
        put_u32(&mut out, transitions.len() as u32);
        transitions.iter().for_each(|message| [*message, *next].iter().for_each(|it| put_u32(&mut out, *it)));
    }
    Description::decode(&out).unwrap()
}
