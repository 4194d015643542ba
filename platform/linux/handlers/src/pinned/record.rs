//! Records of pinned handlers: what the kernel doesn't know of them. A record is text in a frozen map, which is removed
//! with the handler.

use std::io::{Error, Result};
use std::path::Path;

use drystone_extension::bytecode::Definition;
use drystone_extension::handler::tables::kind;

use crate::bpf::{self, Map};
use crate::wanted::Wanted;

/// The first line, which distinguishes versions.
const HEAD: &str = "drystone handler 1";
const RECORD: &str = "record";

/// The record of a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// The network namespace of its interface.
    pub namespace: u64,
    /// Its flow, if it is behind a dispatcher.
    pub flow: Option<Flow>,
    pub wanted: Wanted,
}

/// A flow of a pinned dispatcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flow {
    pub number: u16,
    /// Its age: earlier flows have smaller numbers.
    pub age: u64,
}

impl Record {
    /// Pins it in a handler's folder.
    pub fn pin(&self, folder: &Path) -> Result<()> {
        let text = self.written();
        let value = text.len() as u32;
        let map = Map::new(
            RECORD,
            Definition { kind: kind::ARRAY, key: 4, value, entries: 1, flags: 0, extra: 0 },
        )?;
        map.set(&[0; 4], text.as_bytes())?;
        bpf::freeze(map.fd())?;
        bpf::pin(map.fd(), &folder.join(RECORD))
    }

    /// Reads the record in a handler's folder.
    pub fn pinned(folder: &Path) -> Result<Record> {
        let map = Map::pinned(&folder.join(RECORD))?;
        let is_one = map.definition().key == 4;
        let bytes = if is_one { map.get(&[0; 4])? } else { None };
        let text = String::from_utf8(bytes.unwrap_or_default()).ok();
        text.and_then(|text| Record::read(&text)).ok_or_else(|| {
            Error::other(format!("it is of another version of Drystone; remove {}", folder.display()))
        })
    }

    fn written(&self) -> String {
        let Record { namespace, flow, wanted } = self;
        let flow = flow.map_or(String::new(), |Flow { number, age }| format!("{number} {age}"));
        format!("{HEAD}\n{namespace}\n{flow}\n{}", wanted.written())
    }

    fn read(text: &str) -> Option<Record> {
        let (head, rest) = text.split_once('\n')?;
        let (namespace, rest) = rest.split_once('\n')?;
        let (flow, wanted) = rest.split_once('\n')?;
        let flow = if flow.is_empty() { None } else { Some(Flow::read(flow)?) };
        let record = Record { namespace: namespace.parse().ok()?, flow, wanted: Wanted::read(wanted)? };
        (head == HEAD).then_some(record)
    }
}

impl Flow {
    fn read(text: &str) -> Option<Flow> {
        let (number, age) = text.split_once(' ')?;
        Some(Flow { number: number.parse().ok()?, age: age.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use drystone_extension::demux::Instruction;

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let program = vec![Instruction { code: 40, jt: 0, jf: 0, k: 12 }, Instruction::default()];
        let expression = Wanted::Expression { text: "udp and port 1".into(), program };
        for wanted in [Wanted::Everything, Wanted::Port(7000), expression] {
            for flow in [None, Some(Flow { number: 3, age: 1 << 40 })] {
                let record = Record { namespace: 4_026_531_840, flow, wanted: wanted.clone() };
                let text = record.written();
                assert_eq!(Record::read(&text), Some(record));
                for end in 0..text.len() {
                    // What is cut off is another record at most, and no panic.
                    Record::read(&text[..end]);
                }
            }
        }
        assert_eq!(Record::read("drystone handler 2\n1\n\neverything"), None);
        assert_eq!(Record::read("drystone handler 1\n1\n3\neverything"), None);
    }
}
