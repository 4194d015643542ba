//! Leaving a function for the next segment, for another process, or after a fault.

use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_module::Module;

use super::{Build, Form, TimeSlices};
use crate::dispatch::{attention, dispatch, trusted};
use crate::mir::{BlockId, RegType};
use crate::signatures::resume_signature;
use crate::{entries, offset};

impl<M: Module> Build<'_, '_, M> {
    /// Goes on with another segment of the same process.
    pub(super) fn go_to_segment(&mut self, to: BlockId) {
        self.save_for(to);
        let function = self.segment_function(self.cut, to);
        if self.code().block(to).suspension.is_some() && !self.at_home {
            let away = self.builder.ins().load(types::I32, trusted(), self.worker, offset::AWAY);
            let (go_home, here) = (self.builder.create_block(), self.builder.create_block());
            self.builder.set_cold_block(go_home);
            self.builder.ins().brif(away, go_home, &[], here, &[]);
            self.builder.switch_to_block(go_home);
            self.set_resume(to);
            self.call_unusual(&entries::GO_HOME, &[]);
            self.builder.ins().return_(&[]);
            self.builder.switch_to_block(here);
        }
        self.builder.ins().return_call(function, &[self.worker, self.process]);
    }

    /// Saves the registers that this segment has changed and segment `to` needs.
    pub(super) fn save_for(&mut self, to: BlockId) {
        let cut = self.the_cut();
        let Some(segment) = self.segment else { return };
        let loaded = &cut.live[&self.entry];
        for &reg in &cut.live[&to] {
            if loaded.binary_search(&reg).is_ok() && !segment.written.contains(&reg) {
                continue;
            }
            let value = self.get(reg);
            self.builder.ins().store(trusted(), value, self.frame, cut.slots[&reg] as i32);
        }
    }

    pub(super) fn set_resume(&mut self, at: BlockId) {
        let function = self.segment_function(self.cut, at);
        let address = self.builder.ins().func_addr(types::I64, function);
        self.builder.ins().store(trusted(), address, self.process, offset::RESUME);
    }

    /// In a loop: at the end of the time slice, goes to the segment of this loop, which gives way to other processes.
    pub(super) fn check_time_slice(&mut self, at: BlockId, go_on: Block) {
        let over = self.look_for_attention(go_on);
        if let Some(over) = over {
            self.builder.switch_to_block(over);
            // That segment tests again, so that no registers need be kept for a call here.
            self.go_to_segment(at);
        }
        self.builder.switch_to_block(go_on);
    }

    /// At the beginning of the segment of a loop or procedure: gives way to other processes if the time slice is over.
    pub(super) fn give_way(&mut self) {
        let go_on = self.builder.create_block();
        if let Some(over) = self.look_for_attention(go_on) {
            self.builder.switch_to_block(over);
            self.set_resume(self.entry);
            let status = self.call_unusual(&entries::PREEMPT, &[]).expect("a status");
            let leave = self.leave_block();
            self.builder.ins().brif(status, leave, &[], go_on, &[]);
        }
        self.builder.switch_to_block(go_on);
    }

    /// Goes to `go_on` unless the worker wants attention. The result is the block for that case; `None` if time slices
    /// are left out.
    fn look_for_attention(&mut self, go_on: Block) -> Option<Block> {
        if self.functions.time_slices == TimeSlices::LeftOut {
            self.builder.ins().jump(go_on, &[]);
            return None;
        }
        let attention = attention(&mut self.builder, self.worker);
        let over = self.builder.create_block();
        self.builder.set_cold_block(over);
        self.builder.ins().brif(attention, over, &[], go_on, &[]);
        Some(over)
    }

    pub(super) fn jump_to_address(&mut self, resume: Value, process: Value) {
        let signature = match self.signature {
            Some(signature) => signature,
            None => {
                let signature = self.builder.import_signature(resume_signature());
                self.signature = Some(signature);
                signature
            }
        };
        self.builder.ins().return_call_indirect(signature, resume, &[self.worker, process]);
    }

    /// The block that leaves the function after a fault has been recorded, or because the process waits.
    pub(super) fn leave_block(&mut self) -> Block {
        if let Some(block) = self.leave {
            return block;
        }
        let block = self.builder.create_block();
        self.leave = Some(block);
        block
    }

    /// The block that reports a fault; its parameters are the fault and its location.
    pub(super) fn fail_block(&mut self) -> Block {
        if let Some(block) = self.fail {
            return block;
        }
        let block = self.builder.create_block();
        self.builder.append_block_param(block, types::I32);
        self.builder.append_block_param(block, types::I32);
        self.builder.set_cold_block(block);
        self.fail = Some(block);
        block
    }

    pub(super) fn finish_shared_blocks(&mut self) {
        if let Some(fail) = self.fail {
            self.builder.switch_to_block(fail);
            let fault = self.builder.block_params(fail)[0];
            let location = self.builder.block_params(fail)[1];
            self.call_unusual(&entries::FAIL, &[fault, location]);
            let leave = self.leave_block();
            self.builder.ins().jump(leave, &[]);
        }
        if let Some(leave) = self.leave {
            self.builder.switch_to_block(leave);
            match self.form {
                Form::Resume => dispatch(&mut self.builder, self.worker),
                Form::Condition => {
                    let failed = self.builder.ins().iconst(types::I32, 2);
                    self.builder.ins().return_(&[failed]);
                }
                Form::Native => {
                    let mut results = Vec::new();
                    if let Some(ty) = self.code().result {
                        results.push(match ty {
                            RegType::Int => self.builder.ins().iconst(types::I64, 0),
                            RegType::Real => self.builder.ins().f64const(0.0),
                        });
                    }
                    results.push(self.builder.ins().iconst(types::I32, 1));
                    self.builder.ins().return_(&results);
                }
            }
        }
    }
}
