//! The protocol between programs: values and descriptions as bytes and back, connections over bytes that come in any
//! pieces, and what a peer that does not keep to the rules is told.

mod connections;
mod descriptions;
mod interfaces;
mod peers;
mod values;
