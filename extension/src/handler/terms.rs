//! What handlers may do: the terms that the verifier holds them to.

use alloc::string::String;
use alloc::vec::Vec;
use alloc::{format, vec};

use super::arrival::{CONTEXT, PACKET};
use super::frame::LONGEST;
use super::helpers;
use super::image::Image;
use super::tables::{Table, kind};
use crate::bytecode::Size;
use crate::verifier::{self, Contract, Extent, Field, Given, Memory, Region};

/// From here on regions are those of tables' values.
const VALUES: Region = PACKET + 1;

/// For a program with such tables, and a region of so many bytes (0: none).
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
