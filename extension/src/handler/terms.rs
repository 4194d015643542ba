//! What handlers may do: the terms that the verifier holds them to.

use alloc::string::String;
use alloc::vec::Vec;
use alloc::{format, vec};

use super::helpers;
use super::tables::{Table, kind};
use crate::bytecode::{Map, Size};
use crate::verifier::{self, Contract, Extent, Field, Given, Memory, Region};

/// The longest message.
pub const LONGEST: u32 = 1 << 16;

/// Regions, by their numbers; from [`VALUES`] on, those of tables' values.
pub(super) const CONTEXT: Region = 0;
pub(super) const PACKET: Region = 1;
const VALUES: Region = 2;

/// For a program with such maps, and a region of so many bytes (0: none).
pub(super) fn contract(maps: &[Map], tables: &mut [Table], region_bytes: u64) -> Result<Contract, String> {
    let mut regions =
        vec![context(), Memory { extent: Extent::ToEnd(LONGEST), ..Memory::bytes("the message", 0) }];
    let mut terms = Vec::new();
    for (map, table) in maps.iter().zip(tables) {
        let bytes = u32::try_from(table.value_bytes())
            .map_err(|_| format!("map `{}` has too large values", map.name))?;
        let value = VALUES + terms.len() as Region;
        let writable = map.definition.is_some() || map.writable;
        regions.push(Memory { single: false, writable, ..Memory::bytes("a value of the table", bytes) });
        let key = map.definition.map_or(4, |definition| definition.key);
        let direct = map.definition.is_none_or(|definition| definition.kind == kind::ARRAY);
        terms.push(verifier::Map { key, value, direct: direct && bytes > 0 });
    }
    Ok(Contract {
        registers: [Given::Pointer(CONTEXT), Given::Nothing, Given::Nothing, Given::Nothing, Given::Nothing],
        regions,
        own: (region_bytes > 0).then(|| Memory { name: "its region", ..Memory::own(region_bytes as u32) }),
        maps: terms,
        helpers: helpers::terms(),
        ..Contract::default()
    })
}

/// `struct xdp_md`, as [`super::arrival::Seen`] is laid out.
fn context() -> Memory {
    let field =
        |offset, gives, stands_at| Field { offset, size: Size::Word, gives, writable: false, stands_at };
    let any = Given::Number(0, u32::MAX as u64);
    let fields = vec![
        field(0, Given::Pointer(PACKET), Some((24, Size::Double))),
        field(4, Given::End(PACKET), Some((32, Size::Double))),
        field(12, any, None),
        field(16, any, None),
        field(20, any, None),
    ];
    Memory { fields, ..Memory::bytes("the context", 40) }
}
