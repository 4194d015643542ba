//! The library's sending: new data, retransmissions, and the end.

use std::io::ErrorKind;
use std::time::Instant;

use smoltcp::wire::TcpControl;

use super::block::Word;
use super::connection::{Connection, LONGEST, PAUSE, State, TRIES, before};

impl Connection {
    /// Sends what is due now.
    pub fn work(&mut self, now: Instant) {
        let is_due = self.timer.is_some_and(|timer| timer <= now);
        if is_due {
            self.tries += 1;
            self.pause *= 2;
            if self.tries > TRIES {
                return self.over(Some(ErrorKind::TimedOut));
            }
        }
        match self.state {
            State::Asks | State::Agrees if is_due => self.greet(),
            State::Open if is_due || self.has_work() => {
                let block = self.block.clone();
                let _turn = block.turn();
                self.notice(now);
                self.repeat(is_due);
                self.say(is_due);
                self.end();
                self.set_timer(now, is_due);
            }
            _ => {}
        }
    }

    /// Whether there is anything to do. Only then the library locks the block, which makes the handler leave all
    /// segments to it.
    fn has_work(&self) -> bool {
        let word = |word| self.block.number(word);
        let (acknowledged, sent) = (word(Word::Acknowledged), word(Word::Sent));
        let is_unwatched = self.timer.is_none() && acknowledged != sent;
        acknowledged != self.seen || before(sent, word(Word::Said)) || self.wants_end || is_unwatched
    }

    /// Notices acknowledgements, also those that the handler has processed.
    fn notice(&mut self, now: Instant) {
        let acknowledged = self.block.number(Word::Acknowledged);
        if acknowledged != self.seen {
            (self.seen, self.tries, self.pause) = (acknowledged, 0, PAUSE);
            self.timer = Some(now + PAUSE);
        }
    }

    /// Retransmits all unacknowledged data: the other side keeps nothing that comes out of order.
    fn repeat(&mut self, is_due: bool) {
        let (acknowledged, sent) = (self.block.number(Word::Acknowledged), self.block.number(Word::Sent));
        if is_due && acknowledged != sent {
            self.again = Some(acknowledged);
        }
        let Some(mut at) = self.again.take() else { return };
        let data_end = if self.end_sent { sent.wrapping_sub(1) } else { sent };
        while before(at, data_end) {
            let count = LONGEST.min(data_end.wrapping_sub(at) as usize);
            self.send_from(at, TcpControl::Psh, &self.block.said(at, count));
            at = at.wrapping_add(count as u32);
        }
        if self.end_sent && before(data_end, sent) {
            self.send_from(data_end, TcpControl::Fin, &[]);
        }
    }

    /// Sends queued data, as far as the other side's window allows. If the window is zero, sends a byte now and then.
    fn say(&mut self, is_due: bool) {
        let word = |word| self.block.number(word);
        let (said, mut sent) = (word(Word::Said), word(Word::Sent));
        let mut edge = word(Word::Acknowledged).wrapping_add(word(Word::Window));
        if is_due && word(Word::Window) == 0 && word(Word::Acknowledged) == sent {
            edge = edge.wrapping_add(1);
        }
        while before(sent, said) && before(sent, edge) {
            let count = LONGEST.min(said.wrapping_sub(sent) as usize).min(edge.wrapping_sub(sent) as usize);
            self.send_from(sent, TcpControl::Psh, &self.block.said(sent, count));
            sent = sent.wrapping_add(count as u32);
            self.block.set(Word::Sent, sent.into());
        }
    }

    /// Sends FIN after all data, and closes the connection when both sides have ended it.
    fn end(&mut self) {
        let (said, sent) = (self.block.number(Word::Said), self.block.number(Word::Sent));
        if self.wants_end && !self.end_sent && said == sent {
            // From now on no segment is predicted.
            self.block.set(Word::IsOpen, 0);
            self.send_from(sent, TcpControl::Fin, &[]);
            self.block.set(Word::Sent, sent.wrapping_add(1).into());
            self.end_sent = true;
        }
        let all_is_had = self.block.number(Word::Acknowledged) == self.block.number(Word::Sent);
        if self.end_sent && self.their_end && all_is_had {
            self.over(None);
        }
    }

    fn set_timer(&mut self, now: Instant, is_due: bool) {
        let word = |word| self.block.number(word);
        let waits =
            word(Word::Acknowledged) != word(Word::Sent) || before(word(Word::Sent), word(Word::Said));
        self.timer = match self.timer {
            _ if !waits || self.state != State::Open => None,
            Some(timer) if !is_due => Some(timer),
            _ => Some(now + self.pause),
        };
    }
}
