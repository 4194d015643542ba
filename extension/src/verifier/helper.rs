//! Calls of helpers.

use alloc::format;

use super::analysis::Analysis;
use super::contract::{Bytes, Given, Helper, Region, Wanted};
use super::memory::in_frame;
use super::rejection::{Holds, Range, Rejection};
use super::state::{State, tie_of};
use super::value::{Kind, Value};
use crate::FRAME;
use crate::bytecode::Register;

/// The register of an argument, counted from 0.
fn argument(index: usize) -> Register {
    Register::new(index as u8 + 1).expect("helpers take at most five arguments")
}

impl Analysis<'_> {
    pub(super) fn call_helper(&mut self, at: usize, number: u32, state: &mut State) -> Result<(), Rejection> {
        let contract = self.contract;
        let Some(helper) = contract.helpers.get(&number) else {
            let what = format!("there is no helper {number}; {}", Given::numbers(contract));
            return Err(self.refuse(at, what));
        };
        for (index, wanted) in helper.wants.iter().enumerate() {
            self.pass(at, (helper, argument(index)), *wanted, state)?;
        }
        let table = match helper.gives {
            Given::ValueOrNull => Some(self.table(at, state)?.value),
            _ => None,
        };
        if let Some(region) = helper.moves {
            let moved = super::state::bit(region);
            assert_ne!(moved, 0, "{} moves region {region}, and only the first 64 can be moved", helper.name);
            state.forget(moved);
        }
        let result = Register::new(0).expect("r0 is a register");
        state.come_back(Value::given(helper.gives, table));
        if let Kind::RegionOrNull(_) = state.get(result).kind {
            state.tie(result, tie_of(at));
        }
        Ok(())
    }

    fn pass(
        &mut self,
        at: usize,
        (helper, register): (&Helper, Register),
        wanted: Wanted,
        state: &mut State,
    ) -> Result<(), Rejection> {
        if wanted == Wanted::Anything {
            return Ok(());
        }
        let value = *self.readable(at, register, state)?;
        let passes = match wanted {
            Wanted::Anything => true,
            Wanted::Number(least, most) => {
                let number = self.number(at, register, state)?;
                number.least >= least && number.most <= most
            }
            Wanted::Pointer(region) => {
                value.kind == Kind::Region(region) && value.number.constant() == Some(0)
            }
            Wanted::Map => value.kind == Kind::Map && value.number.constant().is_some(),
            Wanted::Readable(bytes) => return self.pass_memory(at, (helper, register), bytes, false, state),
            Wanted::Writable(bytes) => return self.pass_memory(at, (helper, register), bytes, true, state),
            Wanted::Changeable(bytes) => {
                self.pass_memory(at, (helper, register), bytes, false, state)?;
                return self.pass_memory(at, (helper, register), bytes, true, state);
            }
        };
        if passes {
            return Ok(());
        }
        let wants = match wanted {
            Wanted::Number(least, most) => format!("a number from {least} to {most}; compare it first"),
            Wanted::Pointer(region) => format!("the start of {}", self.contract.memory(region).name),
            _ => "a table; load it there as a constant".into(),
        };
        let holds = Holds(register, &value, self.contract);
        Err(self.refuse(at, format!("{holds}, but {} takes {wants}", helper.name)))
    }

    /// Checks memory for a helper. It must be proved to exist, because helpers have no guards.
    fn pass_memory(
        &mut self,
        at: usize,
        (helper, register): (&Helper, Register),
        bytes: Bytes,
        write: bool,
        state: &mut State,
    ) -> Result<(), Rejection> {
        let (least, most) = self.how_many(at, (helper, register), bytes, state)?;
        let value = *state.get(register);
        match value.kind {
            Kind::Stack(depth) if in_frame(value.number, most) => {
                let (from, to) = (value.number.signed_least, value.number.signed_most + most);
                if write {
                    let sure = if value.number.constant().is_some() { least } else { 0 };
                    state.change_frame(depth, |frame| frame.smear(from, to, sure, false));
                    return Ok(());
                }
                let readable = state.frame_at(depth).readable(from, to, |value| self.is_secret(value));
                readable.map_err(|why| self.unreadable(at, why))
            }
            Kind::Region(region)
                if self.is_plain(region, write)
                    && self.within(region, (&value, 0, value.number), most, state) =>
            {
                Ok(())
            }
            _ => Err(self.no_memory(at, (helper, register), most, write, state)),
        }
    }

    fn is_plain(&self, region: Region, write: bool) -> bool {
        let memory = self.contract.memory(region);
        memory.fields.is_empty() && (memory.writable || !write)
    }

    /// The least and the most bytes that a helper may access.
    fn how_many(
        &self,
        at: usize,
        (helper, register): (&Helper, Register),
        bytes: Bytes,
        state: &State,
    ) -> Result<(i64, i64), Rejection> {
        let exactly = |bytes: u32| (i64::from(bytes), i64::from(bytes));
        Ok(match bytes {
            Bytes::Exactly(bytes) => exactly(bytes),
            Bytes::Key => exactly(self.table(at, state)?.key),
            Bytes::Value => match self.contract.memory(self.table(at, state)?.value).extent {
                super::Extent::Bytes(bytes) | super::Extent::ToEnd(bytes) => exactly(bytes),
            },
            Bytes::InNext => {
                let next = argument(register.index());
                let number = self.number(at, next, state)?;
                if number.most > u64::from(u32::MAX) {
                    let what = format!(
                        "{next} is {}, but {} takes so many bytes at {register}; compare it with a limit first",
                        Range(number),
                        helper.name
                    );
                    return Err(self.refuse(at, what));
                }
                (number.least as i64, number.most as i64)
            }
        })
    }

    /// The table in r1.
    fn table(&self, at: usize, state: &State) -> Result<super::Map, Rejection> {
        let value = state.get(argument(0));
        let index = value.number.constant().filter(|_| value.kind == Kind::Map);
        match index.and_then(|index| self.contract.maps.get(index as usize)) {
            Some(map) => Ok(*map),
            None => Err(self.refuse(at, "r1 must be a table here; load it there as a constant")),
        }
    }

    #[cold]
    fn no_memory(
        &self,
        at: usize,
        (helper, register): (&Helper, Register),
        bytes: i64,
        write: bool,
        state: &State,
    ) -> Rejection {
        let value = state.get(register);
        let holds = Holds(register, value, self.contract);
        let does = if write { "writes" } else { "reads" };
        let what = match value.kind {
            Kind::Region(region) if !self.is_plain(region, write) => {
                format!("{holds}, where {} can't access bytes in general; pass the stack", helper.name)
            }
            Kind::Region(region) => {
                let outside = self.outside(region, &holds, 0, bytes, state);
                format!("{} {does} memory, but {outside}", helper.name)
            }
            Kind::RegionOrNull(_) => {
                format!("{} {does} memory, but {holds}; compare it with 0 first", helper.name)
            }
            Kind::Stack(_) => format!(
                "{} {does} memory, but {holds}, so {bytes} bytes aren't all in its {FRAME}; start lower",
                helper.name
            ),
            _ => format!(
                "{} {does} {bytes} bytes of memory, but {holds}; pass a pointer to so much memory",
                helper.name
            ),
        };
        self.refuse(at, what)
    }
}

impl Given {
    fn numbers(contract: &super::Contract) -> alloc::string::String {
        match (contract.helpers.first_key_value(), contract.helpers.last_key_value()) {
            (Some((first, _)), Some((last, _))) => format!("those given have numbers from {first} to {last}"),
            _ => "none is given".into(),
        }
    }
}
