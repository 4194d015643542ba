//! `--platform pc`: the compiled program as an image that a machine boots: an ELF file with PVH's note, which QEMU's `-kernel` takes.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::LittleEndian;
use object::elf::{FileHeader64, ProgramHeader64};
use object::read::elf::{FileHeader, ProgramHeader};

use crate::library::Platform;
use crate::linker::{Parts, run};
use crate::{Status, fail};

/// How it lies in memory.
pub static LAYOUT: &str = include_str!("../../platform/pc/machine/image.ld");

/// Makes an image of a program, the crates that it is built with, and its initial files. Its symbols are in it yet.
pub fn link(object: &[u8], output: &Path, crates: &[PathBuf], files: &[PathBuf]) -> Result<(), Status> {
    let parts = Parts::new(object, crates, Platform::Pc)?;
    let folder = parts.folder.path();
    let archived = archive(files, &folder.join("files"));
    archived.map_err(|(path, error)| fail(format_args!("{}: {error}", path.display())))?;
    fs::write(folder.join("image.ld"), LAYOUT)
        .map_err(|error| fail(format_args!("{}: {error}", folder.display())))?;
    let output =
        std::path::absolute(output).map_err(|error| fail(format_args!("{}: {error}", output.display())))?;
    let mut linker = Command::new("cc");
    linker.current_dir(folder).arg("-o").arg(&output).args(["-nostdlib", "-static", "-no-pie"]);
    linker.args([
        "-Wl,-T,image.ld",
        "-Wl,-z,max-page-size=4096",
        "-Wl,-z,noexecstack",
        "-Wl,--build-id=none",
    ]);
    linker.args(["-Wl,--gc-sections", "-Wl,--strip-debug"]).args([&parts.program, &parts.library]);
    // Its symbols are called as the file is.
    linker.args(["-Wl,--format=binary", "files", "-Wl,--format=default"]);
    run(linker, &output)
}

/// Puts files, and those in folders, into an archive.
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

/// Takes from an image what no machine loads: all that comes behind the last segment, which is symbols and the table of sections.
pub fn strip(image: &mut Vec<u8>) -> Result<(), object::Error> {
    let header = FileHeader64::<LittleEndian>::parse(image.as_slice())?;
    let segments = header.program_headers(LittleEndian, image.as_slice())?;
    let end = |segment: &ProgramHeader64<LittleEndian>| {
        segment.p_offset(LittleEndian) + segment.p_filesz(LittleEndian)
    };
    let end = segments.iter().map(end).max().unwrap_or(0) as usize;
    image.truncate(end);
    // It was parsed: it is there.
    if let Ok((header, _)) = object::from_bytes_mut::<FileHeader64<LittleEndian>>(image) {
        header.e_shoff.set(LittleEndian, 0);
        header.e_shnum.set(LittleEndian, 0);
        header.e_shstrndx.set(LittleEndian, 0);
    }
    Ok(())
}
