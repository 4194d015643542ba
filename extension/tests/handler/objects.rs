//! Compiles the C files beside this with clang, and makes messages for them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// None, and says so, where there is no clang for it.
pub fn compiled(name: &str) -> Option<Vec<u8>> {
    compiled_in("tests/handler", name)
}

/// The same of a file in a folder of the extension's.
pub fn compiled_in(folder: &str, name: &str) -> Option<Vec<u8>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.ancestors().map(|folder| folder.join("extension")).find(|it| it.exists());
    let root = root.as_deref().unwrap_or(here);
    let out = option_env!("CARGO_TARGET_TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let object = out.join(format!("{name}-{}-{:?}.o", std::process::id(), std::thread::current().id()));
    let clang = ["clang-19", "clang-20", "clang-21"];
    for clang in clang {
        let mut command = Command::new(clang);
        command.args(["-O2", "-g", "-target", "bpf", "-mcpu=v3", "-Wall", "-Werror", "-c", "-I"]);
        command.arg(root.join("include")).arg(root.join(format!("{folder}/{name}.c"))).arg("-o").arg(&object);
        let Ok(status) = command.status() else { continue };
        assert!(status.success(), "{clang} refuses {name}.c");
        return Some(std::fs::read(object).expect("it was made"));
    }
    println!("skipped: {name}: there is no clang-19");
    None
}

/// A datagram to a port of 10.0.0.2.
pub fn datagram(port: u16, data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0];
    bytes.extend((28 + data.len() as u16).to_be_bytes());
    bytes.extend([0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x30, 0x39]);
    bytes.extend(port.to_be_bytes());
    bytes.extend((8 + data.len() as u16).to_be_bytes());
    bytes.extend([0, 0]);
    bytes.extend(data);
    bytes
}

/// What a datagram carries.
pub fn payload(datagram: &[u8]) -> Vec<u8> {
    datagram[42..].to_vec()
}
