//! The sources of the command's own libraries, for the build script and the command. A library belongs to a command if
//! both are made of the same sources, because generated code knows the runtime's memory layout.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

/// Files and folders, relative to the workspace's root.
pub const SOURCES: &[&str] = &[
    "Cargo.toml",
    "Cargo.lock",
    "component/Cargo.toml",
    "component/src",
    "library",
    "language/Cargo.toml",
    "language/src",
    "runtime/Cargo.toml",
    "runtime/src",
    "kortex/Cargo.toml",
    "kortex/build.rs",
    "kortex/src",
    "kortex/hal/Cargo.toml",
    "kortex/hal/src",
    "kortex/memory/Cargo.toml",
    "kortex/memory/src",
    "kortex/resource/Cargo.toml",
    "kortex/resource/src",
    "kortex/thread/Cargo.toml",
    "kortex/thread/src",
    "kortex/binding/Cargo.toml",
    "kortex/binding/src",
    "kortex/composites/Cargo.toml",
    "kortex/composites/src",
    "extension/Cargo.toml",
    "extension/src",
    "stubs/Cargo.toml",
    "stubs/src",
    "platform/linux/Cargo.toml",
    "platform/linux/src",
    "platform/linux/reactor/Cargo.toml",
    "platform/linux/reactor/src",
    "platform/linux/net/Cargo.toml",
    "platform/linux/net/src",
    "platform/linux/http/Cargo.toml",
    "platform/linux/http/src",
    "platform/linux/nats/Cargo.toml",
    "platform/linux/nats/src",
    "platform/linux/onc/Cargo.toml",
    "platform/linux/onc/src",
    "platform/linux/tcp/Cargo.toml",
    "platform/linux/tcp/src",
    "platform/linux/udp/Cargo.toml",
    "platform/linux/udp/src",
    "platform/linux/handlers/Cargo.toml",
    "platform/linux/handlers/src",
    "platform/linux/hosted-pc/Cargo.toml",
    "platform/linux/hosted-pc/src",
    "platform/pc/Cargo.toml",
    "platform/pc/src",
    "platform/pc/machine/Cargo.toml",
    "platform/pc/machine/src",
    "platform/pc/calls/Cargo.toml",
    "platform/pc/calls/src",
    "platform/pc/user/Cargo.toml",
    "platform/pc/user/src",
];

/// A hash of the sources in a workspace.
pub fn fingerprint(workspace: &Path) -> io::Result<u64> {
    let mut hasher = DefaultHasher::new();
    let mut left: Vec<PathBuf> = SOURCES.iter().rev().map(|source| workspace.join(source)).collect();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path)?.map(|entry| Ok(entry?.path()));
            let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
            entries.sort();
            left.extend(entries);
        } else {
            path.strip_prefix(workspace).unwrap_or(&path).hash(&mut hasher);
            fs::read(&path)?.hash(&mut hasher);
        }
    }
    Ok(hasher.finish())
}
