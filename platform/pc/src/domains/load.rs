//! Loads a user's program into an address space. Segments that aren't written are lent from the image; the domain gets
//! its own copy of the others.

use kortex_hal::mmu::{Access, PAGE, Refused};
use kortex_memory::paged::Paged;
use kortex_memory::{Pages, Space};
use object::LittleEndian;
use object::elf::{FileHeader64, PF_W, PF_X, PT_LOAD};
use object::read::elf::{FileHeader, ProgramHeader};

/// Maps the program, an ELF file, at its own addresses. Returns its entry.
///
/// # Errors
/// There is no memory.
pub(super) fn load(space: &Paged<'_, impl Pages>, program: &'static [u8]) -> Result<usize, Refused> {
    let header = FileHeader64::<LittleEndian>::parse(program).expect("a linker made it");
    let segments = header.program_headers(LittleEndian, program).expect("a linker made it");
    for segment in segments.iter().filter(|segment| segment.p_type(LittleEndian) == PT_LOAD) {
        let bytes = segment.data(LittleEndian, program).expect("a linker made it");
        let at = segment.p_vaddr(LittleEndian) as usize;
        let (start, end) = (at & !(PAGE - 1), at + segment.p_memsz(LittleEndian) as usize);
        let pages = (end - start).div_ceil(PAGE);
        let flags = segment.p_flags(LittleEndian);
        if flags & PF_W == 0 {
            let frames = bytes.as_ptr() as usize - (at - start);
            let access = Access { execute: flags & PF_X != 0, ..Access::READ };
            // SAFETY: the image stays and isn't written. Its first and last pages hold only the program's bytes, too.
            unsafe { space.lend(start, frames, pages, access)? };
        } else {
            space.map(start, pages, Access::WRITE)?;
            space.fill(at, bytes)?;
        }
    }
    Ok(header.e_entry(LittleEndian) as usize)
}
