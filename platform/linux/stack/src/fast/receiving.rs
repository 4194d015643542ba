//! Segments of an open connection that weren't as predicted.

use std::io::ErrorKind;

use smoltcp::wire::{TcpControl, TcpRepr};

use super::block::Word;
use super::connection::{Connection, number};

impl Connection {
    pub(super) fn receive(&mut self, segment: &TcpRepr<'_>) {
        let block = self.block.clone();
        let _turn = block.turn();
        let next = block.number(Word::Next);
        match segment.control {
            // A reset with another sequence number is forged, or old.
            TcpControl::Rst if number(segment.seq_number) == next => {
                return self.over(Some(ErrorKind::ConnectionReset));
            }
            TcpControl::Rst => return,
            TcpControl::Syn => return self.acknowledge(),
            _ => {}
        }
        self.take_acknowledgement(segment);
        self.take_data(segment);
    }

    /// Processes an acknowledgement. One of data that was never sent is ignored.
    fn take_acknowledgement(&mut self, segment: &TcpRepr<'_>) {
        let block = &self.block;
        let (known, sent) = (block.number(Word::Acknowledged), block.number(Word::Sent));
        let Some(acknowledged) = segment.ack_number.map(number) else { return };
        if acknowledged.wrapping_sub(known) <= sent.wrapping_sub(known) {
            block.set(Word::Acknowledged, acknowledged.into());
            block.set(Word::Window, segment.window_len.into());
        }
    }

    /// Takes the data that comes next, as far as there is room. Later data is dropped, and will be retransmitted.
    fn take_data(&mut self, segment: &TcpRepr<'_>) {
        let block = self.block.clone();
        let next = block.number(Word::Next);
        let known = next.wrapping_sub(number(segment.seq_number)) as usize;
        let is_end = segment.control == TcpControl::Fin;
        if let Some(data) = segment.payload.get(known..).filter(|_| !self.their_end) {
            let taken = &data[..data.len().min(block.room())];
            block.put_come(taken);
            let mut next = next.wrapping_add(taken.len() as u32);
            if is_end && taken.len() == data.len() {
                self.their_end = true;
                block.set(Word::IsOpen, 0);
                next = next.wrapping_add(1);
            }
            block.set(Word::Next, next.into());
        }
        if !segment.payload.is_empty() || is_end {
            self.acknowledge();
        }
    }
}
