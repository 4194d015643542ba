//! `drystone handler`: code that runs where messages arrive, checked and attached.

mod attach;
mod attached;

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::path::Path;

use drystone_extension::handler::{Handler, Image, Machine, Settings};
use drystone_handlers::{HEADER, Xdp, compile};

use crate::arguments::{HandlerAction, HandlerFile};
use crate::{Status, fail, tell};

const EXAMPLE: &str = include_str!("handler/counter.c");

/// Does what it is told.
pub fn handler(action: HandlerAction) -> Result<(), Status> {
    let done = match action {
        HandlerAction::New { folder } => new(&folder),
        HandlerAction::Check(file) => check(&file),
        HandlerAction::Attach(command) => attach::attach(&command),
        HandlerAction::List => attached::list(),
        HandlerAction::Stats { name, seconds } => attached::statistics(&name, seconds),
        HandlerAction::Detach { name } => attached::detach(&name),
    };
    done.map_err(fail)
}

fn new(folder: &Path) -> Result<(), String> {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        if path.exists() {
            return Err(format!("{} is there already", path.display()));
        }
        let written =
            fs::create_dir_all(path.parent().unwrap_or(folder)).and_then(|()| fs::write(&path, text));
        written.map_err(|error| format!("{}: {error}", path.display()))
    };
    write("counter.c", EXAMPLE)?;
    write("drystone/handler.h", HEADER)?;
    let counter = folder.join("counter.c");
    tell(format_args!("{0}: check it with `drystone handler check {0}`", counter.display()));
    Ok(())
}

/// An object file, or what clang makes of C.
fn object(file: &Path) -> Result<Vec<u8>, String> {
    match file.extension() {
        Some(extension) if extension == "c" => compile(file, &[]),
        _ => fs::read(file).map_err(|error| format!("{}: {error}", file.display())),
    }
}

fn images(file: &HandlerFile) -> Result<[Image; 2], String> {
    let bytes = object(&file.file)?;
    let read = |machine| Image::read(&bytes, file.entry.as_deref(), machine);
    let named = |why| format!("{}: {why}", file.file.display());
    Ok([read(Machine::Drystone).map_err(named)?, read(Machine::Linux).map_err(named)?])
}

fn check(file: &HandlerFile) -> Result<(), String> {
    let [own, linux] = images(file)?;
    let verified = Handler::of(&own, Settings::default());
    match &verified {
        Ok(handler) => tell(format_args!(
            "Drystone takes {}: {} instructions{}{}",
            own.name,
            own.slots.len(),
            if handler.may_be_stopped() {
                ", with loops that its budget bounds"
            } else {
                ", which end by themselves"
            },
            match own.region_bytes() {
                0 => String::new(),
                bytes => format!(", and a region of {bytes} bytes"),
            }
        )),
        Err(why) => tell(format_args!("Drystone refuses {}: {why}", own.name)),
    }
    let loaded = Xdp::load(&linux);
    match &loaded {
        Ok(_) => tell(format_args!("Linux takes {}: {} instructions", linux.name, linux.slots.len())),
        Err(why) => tell(format_args!("Linux doesn't take {}: {why}", linux.name)),
    }
    if verified.is_err() && loaded.is_err() { Err("nobody takes it".into()) } else { Ok(()) }
}

/// A number that nobody can guess.
fn seed() -> u64 {
    RandomState::new().build_hasher().finish()
}
