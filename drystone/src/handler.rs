//! `drystone handler`: checks code that runs where messages arrive, and attaches it.

mod attach;
mod attached;
mod object;

use std::fs;
use std::path::Path;

use drystone_extension::handler::{Handler, Settings};
use drystone_handlers::{HEADER, Xdp};

use crate::arguments::{HandlerAction, HandlerFile};
use crate::output::{Status, fail, tell};
use object::images;

const EXAMPLE: &str = include_str!("handler/counter.c");

/// Runs the subcommand.
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
