//! `--platform pc`: links the compiled program into an image that a machine boots. It is an ELF file with a PVH note,
//! which QEMU's `-kernel` takes.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::elf::{FileHeader64, ProgramHeader64};
use object::read::elf::ElfFile64;
use object::read::elf::{FileHeader, ProgramHeader};
use object::{LittleEndian, Object, ObjectSection, ObjectSymbol, Relocation, RelocationTarget};

use crate::library::Platform;
use crate::linker::{Parts, run};
use crate::output::{Status, fail};
use crate::with::Found;

/// The image's memory layout.
pub static LAYOUT: &str = include_str!("../../platform/pc/machine/image.ld");

/// The memory layout of a user program in its address space.
static USER_LAYOUT: &str = include_str!("../../platform/pc/user/user.ld");

/// The function by which a program makes components elsewhere.
const NEW_AT: &str = "ds_new_at";

/// The name of the user program's file while an image is linked; its symbols are named after it.
const USERS: &str = "drystone-users";

/// Links a program, the crates that are built in, and its initial files into an image, with its symbols.
pub fn link(object: &[u8], output: &Path, crates: &[Found], files: &[PathBuf]) -> Result<(), Status> {
    let parts = Parts::new(object, crates, Platform::Pc)?;
    let folder = parts.folder.path();
    let archived = archive(files, &folder.join("files"));
    archived.map_err(|(path, error)| fail(format_args!("{}: {error}", path.display())))?;
    let cannot = |error| fail(format_args!("{}: {error}", folder.display()));
    let users = if makes_domains(object) { link_users(object, crates)? } else { Vec::new() };
    fs::write(folder.join("image.ld"), LAYOUT).map_err(cannot)?;
    fs::write(folder.join(USERS), users).map_err(cannot)?;
    let output =
        std::path::absolute(output).map_err(|error| fail(format_args!("{}: {error}", output.display())))?;
    let mut linker = Command::new("cc");
    set_up(&mut linker, folder, &output, "image.ld");
    linker.args([&parts.program, &parts.library]);
    // The symbols are named after the files.
    linker.args(["-Wl,--format=binary", "files", USERS, "-Wl,--format=default"]);
    run(linker, &output)
}

fn set_up(linker: &mut Command, folder: &Path, output: &Path, layout: &str) {
    linker.current_dir(folder).arg("-o").arg(output).args(["-nostdlib", "-static", "-no-pie"]);
    linker.arg(format!("-Wl,-T,{layout}"));
    linker.args(["-Wl,-z,max-page-size=4096", "-Wl,-z,noexecstack", "-Wl,--build-id=none"]);
    linker.args(["-Wl,--gc-sections", "-Wl,--strip-debug"]);
}

/// Whether a program makes components elsewhere: its object file names all entry points, but calls this one.
fn makes_domains(object: &[u8]) -> bool {
    let file = ElfFile64::<LittleEndian>::parse(object).expect("the compiler made it");
    let is_new_at = |relocation: Relocation| match relocation.target() {
        RelocationTarget::Symbol(index) => {
            file.symbol_by_index(index).is_ok_and(|symbol| symbol.name() == Ok(NEW_AT))
        }
        _ => false,
    };
    file.sections().any(|section| section.relocations().any(|(_, relocation)| is_new_at(relocation)))
}

/// The same program as it runs in domains, which the image carries along.
fn link_users(object: &[u8], crates: &[Found]) -> Result<Vec<u8>, Status> {
    let parts = Parts::new(object, crates, Platform::User)?;
    let folder = parts.folder.path();
    let output = folder.join(USERS);
    let cannot = |error: &dyn std::fmt::Display| fail(format_args!("{}: {error}", output.display()));
    fs::write(folder.join("user.ld"), USER_LAYOUT).map_err(|error| cannot(&error))?;
    let mut linker = Command::new("cc");
    set_up(&mut linker, folder, &output, "user.ld");
    linker.args([&parts.program, &parts.library]);
    run(linker, &output)?;
    let mut users = fs::read(&output).map_err(|error| cannot(&error))?;
    strip(&mut users).map_err(|error| cannot(&error))?;
    Ok(users)
}

/// Packs files, and the files in folders, into an archive.
fn archive(files: &[PathBuf], to: &Path) -> Result<(), (PathBuf, io::Error)> {
    if files.is_empty() {
        return fs::write(to, []).map_err(|error| (to.to_path_buf(), error));
    }
    let file = File::create(to).map_err(|error| (to.to_path_buf(), error))?;
    let mut archive = tar::Builder::new(file);
    for path in files {
        let added = match (path.is_dir(), path.file_name()) {
            (true, _) => archive.append_dir_all(".", path),
            (false, Some(name)) => archive.append_path_with_name(path, name),
            (false, None) => Err(io::Error::other("it is no file")),
        };
        added.map_err(|error| (path.clone(), error))?;
    }
    archive.finish().map_err(|error| (to.to_path_buf(), error))
}

/// Strips what no machine loads from an image: everything behind the last segment, that is, symbols and the section
/// table.
pub fn strip(image: &mut Vec<u8>) -> Result<(), object::Error> {
    let header = FileHeader64::<LittleEndian>::parse(image.as_slice())?;
    let segments = header.program_headers(LittleEndian, image.as_slice())?;
    let end = |segment: &ProgramHeader64<LittleEndian>| {
        segment.p_offset(LittleEndian) + segment.p_filesz(LittleEndian)
    };
    let end = segments.iter().map(end).max().unwrap_or(0) as usize;
    image.truncate(end);
    // The image was parsed before, so its header is there.
    if let Ok((header, _)) = object::from_bytes_mut::<FileHeader64<LittleEndian>>(image) {
        header.e_shoff.set(LittleEndian, 0);
        header.e_shnum.set(LittleEndian, 0);
        header.e_shstrndx.set(LittleEndian, 0);
    }
    Ok(())
}
