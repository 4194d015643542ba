//! The contract of handlers, which the verifier proves that they keep.

use alloc::string::String;
use alloc::vec::Vec;
use alloc::{format, vec};
use core::mem::offset_of;

use super::arrival::{CONTEXT, PACKET, Seen};
use super::frame::LONGEST;
use super::helpers;
use super::image::Image;
use super::tables::{Table, kind};
use crate::bytecode::Size;
use crate::verifier::{self, Contract, Extent, Field, Given, Memory, Region};
use crate::xdp;

/// The region of the first table's values; each table has one.
const VALUES: Region = PACKET + 1;

/// The contract of a program with these tables, and a region of so many bytes (0: none).
///
/// # Errors
/// A table's values are too large.
pub(super) fn contract(image: &Image, tables: &mut [Table], region_bytes: u64) -> Result<Contract, String> {
    let mut regions =
        vec![context(), Memory { extent: Extent::ToEnd(LONGEST), ..Memory::bytes("the message", 0) }];
    let mut terms = Vec::new();
    for (map, table) in image.maps.iter().zip(tables) {
        let bytes = u32::try_from(table.value_bytes())
            .map_err(|_| format!("map `{}` has too large values", map.name))?;
        let value = VALUES + terms.len() as Region;
        let writable = map.definition.is_some() || map.writable;
        regions.push(Memory { single: false, writable, ..Memory::bytes("a value of the table", bytes) });
        let definition = Image::definition(map);
        let direct = definition.kind == kind::ARRAY && bytes > 0;
        terms.push(verifier::Map { key: definition.key, value, direct });
    }
    Ok(Contract {
        registers: [Given::Pointer(CONTEXT), Given::Nothing, Given::Nothing, Given::Nothing, Given::Nothing],
        regions,
        own: (region_bytes > 0).then(|| Memory { name: "its region", ..Memory::own(region_bytes as u32) }),
        maps: terms,
        helpers: helpers::terms(&image.pipes),
        ..Contract::default()
    })
}

/// `struct xdp_md`, as [`Seen`] is laid out. Loads of a pointer are rewritten to load all its bits.
fn context() -> Memory {
    let field = |offset, gives, stands_at: Option<usize>| {
        let stands_at = stands_at.map(|at| (at as i16, Size::Double));
        Field { offset, size: Size::Word, gives, writable: false, stands_at }
    };
    let any = Given::Number(0, u32::MAX as u64);
    let fields = vec![
        field(xdp::context::DATA, Given::Pointer(PACKET), Some(offset_of!(Seen, begin))),
        field(xdp::context::DATA_END, Given::End(PACKET), Some(offset_of!(Seen, end))),
        field(xdp::context::INTERFACE, any, None),
        field(xdp::context::QUEUE, any, None),
        field(xdp::context::EGRESS, any, None),
    ];
    Memory { fields, ..Memory::bytes("the context", size_of::<Seen>() as u32) }
}
