//! The answers to `stats`.

use std::fmt::Display;

use drystone_handlers::time_now;

use super::{Cache, Counts, SECOND, write};
use crate::command::Part;
use crate::shadow::Shadow;
use crate::{LONGEST_ITEM, NAME};

impl Cache {
    pub(super) fn statistics(&mut self, part: Part, out: &mut Vec<u8>) {
        let (items, bytes, most) = self.store.extent();
        match part {
            Part::All => self.all(out),
            Part::Items if items > 0 => {
                let oldest = self.store.oldest().map_or(0, |(_, item)| item.used);
                let age = time_now().saturating_sub(oldest) / SECOND;
                // There is one class of items.
                row(out, "items:1:number", items);
                row(out, "items:1:age", age);
                row(out, "items:1:mem_requested", bytes);
                row(out, "items:1:evicted", self.counts.evictions);
            }
            Part::Slabs => {
                row(out, "active_slabs", 0);
                row(out, "total_malloced", bytes);
            }
            Part::Sizes => row(out, "sizes_status", "disabled"),
            Part::Settings => {
                row(out, "maxbytes", most);
                row(out, "evictions", "on");
                row(out, "cas_enabled", "yes");
                row(out, "flush_enabled", "yes");
                row(out, "item_size_max", LONGEST_ITEM);
                row(out, "binding_protocol", "ascii");
            }
            Part::Items => {}
            Part::Reset => {
                let before = self.in_handler();
                self.counts = Counts { before, ..Counts::default() };
                return out.extend_from_slice(b"RESET\r\n");
            }
        }
        out.extend_from_slice(b"END\r\n");
    }

    fn in_handler(&self) -> (u64, u64) {
        self.shadow.as_ref().map_or((0, 0), Shadow::counts)
    }

    fn all(&self, out: &mut Vec<u8>) {
        let (items, bytes, most) = self.store.extent();
        let in_handler = self.in_handler();
        let (hits, misses) = (in_handler.0 - self.counts.before.0, in_handler.1 - self.counts.before.1);
        let Counts { gets, hits: own, sets, touches, flushes, evictions, .. } = self.counts;
        row(out, "pid", std::process::id());
        row(out, "uptime", (time_now() - self.begin) / SECOND);
        row(out, "version", NAME);
        row(out, "pointer_size", usize::BITS);
        row(out, "curr_items", items);
        row(out, "bytes", bytes);
        row(out, "limit_maxbytes", most);
        row(out, "cmd_get", gets + hits + misses);
        row(out, "cmd_set", sets);
        row(out, "cmd_touch", touches);
        row(out, "cmd_flush", flushes);
        row(out, "get_hits", own + hits);
        row(out, "get_misses", gets - own + misses);
        row(out, "evictions", evictions);
        row(out, "handler_hits", hits);
        row(out, "handler_misses", misses);
    }
}

fn row(out: &mut Vec<u8>, name: &str, value: impl Display) {
    write(out, format_args!("STAT {name} {value}\r\n"));
}
