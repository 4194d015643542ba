//! `drystone handler`: code that runs where messages arrive, checked and attached.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use drystone_extension::demux::Filter;
use drystone_extension::handler::{Flows, Handler, Image, Machine, Settings, Share};
use drystone_handlers::{AfXdp, Device, Engine, HEADER, Line, Mode, Pinned, Station, Xdp, bpf, compile};

use crate::arguments::{Attach, HandlerAction, HandlerFile};
use crate::{Status, fail, say, tell};

const EXAMPLE: &str = include_str!("handler/counter.c");

/// Does what it is told.
pub fn handler(action: HandlerAction) -> Result<(), Status> {
    let done = match action {
        HandlerAction::New { folder } => new(&folder),
        HandlerAction::Check(file) => check(&file),
        HandlerAction::Attach(command) => attach(&command),
        HandlerAction::List => list(),
        HandlerAction::Stats { name, seconds } => statistics(&name, seconds),
        HandlerAction::Detach { name } => detach(&name),
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

fn attach(command: &Attach) -> Result<(), String> {
    let [own, linux] = images(&command.file)?;
    let name = command.name.as_deref().unwrap_or(&linux.name);
    let mode = command.mode;
    let sees_all = command.port.is_none();
    if matches!(command.engine, Engine::Xdp) && !sees_all {
        return Err("--port is for the other engines: on Linux the handler sees all that arrives".into());
    }
    if matches!(command.engine, Engine::Xdp) || matches!(command.engine, Engine::Auto) && sees_all {
        match attach_to_linux(name, &linux, &command.on, mode) {
            Ok(()) => return Ok(()),
            Err(why) if matches!(command.engine, Engine::Xdp) => return Err(why),
            Err(why) => say(format_args!("XDP: {why}\nAF_XDP is tried instead\n")),
        }
    }
    let handler = Handler::of(&own, Settings { key: seed(), ..Settings::default() })?;
    match command.engine {
        Engine::Tap => {
            let tap = Line::tap(&command.on).map_err(|error| format!("TAP `{}`: {error}", command.on))?;
            serve(tap, handler, command)
        }
        _ => {
            let (on, queue) = (&command.on, command.queue);
            let device = match command.port {
                Some(port) => AfXdp::open_port(on, queue, mode, port)?,
                None => AfXdp::open(on, queue, mode)?,
            };
            serve(device, handler, command)
        }
    }
}

fn attach_to_linux(name: &str, image: &Image, interface: &str, mode: Mode) -> Result<(), String> {
    let xdp = Xdp::load(image)?;
    let attached = xdp.attach(interface, mode)?;
    let pinned = Pinned::new(name, &xdp, attached);
    let pinned = pinned.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            format!("there is a handler `{name}` already: detach it, or say --name")
        }
        _ => format!("`{name}` can't stay attached: {error}"),
    })?;
    tell(format_args!(
        "{0} runs for all that arrives at {interface}, in Linux; `drystone handler detach {0}` ends that",
        pinned.name()
    ));
    Ok(())
}

/// Runs it here until this program is ended, or its time is over.
fn serve(device: impl Device, handler: Handler, command: &Attach) -> Result<(), String> {
    let filter: Filter = match command.port {
        Some(port) => Filter::ethernet().ipv4().udp().destination_port(port).into(),
        None => Filter::everything(),
    };
    let name = handler.name().to_string();
    let mut flows = Flows::compiled(seed(), Share::default());
    let flow = flows.attach(0, filter, handler)?;
    let mut station = Station::new(device, flows);
    tell(format_args!(
        "{name} runs for what arrives at {}, in this process, as long as that lives",
        command.on
    ));
    let (begin, mut shown, mut next) = (Instant::now(), None, Instant::now());
    let is_over = || command.seconds.is_some_and(|seconds| begin.elapsed() >= Duration::from_secs(seconds));
    while !is_over() {
        let failed = |error: std::io::Error| format!("{}: {error}", command.on);
        if station.turn().map_err(failed)? == 0 {
            station.wait(Duration::from_millis(100)).map_err(failed)?;
        }
        // There is no process here that wants what is passed on.
        while station.take_passed().is_some() {}
        let counts = station.flows.counts(flow);
        if counts != shown && Instant::now() >= next {
            (shown, next) = (counts, Instant::now() + Duration::from_secs(1));
            let Some(counts) = counts else { continue };
            tell(format_args!(
                "{} runs, {} consumed ({} answered), {} passed on, {} stopped, {} processed lazily",
                counts.runs,
                counts.consumed,
                counts.transmitted,
                counts.passed,
                counts.stopped,
                counts.lazily
            ));
        }
    }
    Ok(())
}

fn list() -> Result<(), String> {
    for name in Pinned::all().map_err(|error| format!("what is attached can't be seen: {error}"))? {
        match Pinned::open(&name) {
            Ok(pinned) => {
                let interface = match (pinned.interface(), pinned.interface_here()) {
                    (None, _) => "an interface that has gone".to_string(),
                    (Some(number), None) => format!("interface {number} of another network namespace"),
                    (Some(number), Some(here)) => format!("interface {number}, which is {here} here"),
                };
                tell(format_args!("{name}: at {interface}"));
            }
            Err(error) => tell(format_args!("{name}: {error}")),
        }
    }
    Ok(())
}

fn opened(name: &str) -> Result<Pinned, String> {
    Pinned::open(name)
        .map_err(|error| format!("there is no handler `{name}`: {error}; see `drystone handler list`"))
}

fn statistics(name: &str, seconds: u64) -> Result<(), String> {
    let pinned = opened(name)?;
    let cant = |error: std::io::Error| format!("its runs can't be counted: {error}");
    let _counting = bpf::count_runs().map_err(cant)?;
    let (time, runs) = pinned.runs().map_err(cant)?;
    sleep(Duration::from_secs(seconds.max(1)));
    let (more_time, more_runs) = pinned.runs().map_err(cant)?;
    let (time, runs) = (more_time - time, more_runs - runs);
    let each = time.checked_div(runs).map_or(String::new(), |each| format!(", {each} ns each"));
    tell(format_args!("{name}: {} runs a second{each}", runs / seconds.max(1)));
    Ok(())
}

fn detach(name: &str) -> Result<(), String> {
    opened(name)?.detach().map_err(|error| format!("`{name}` can't be detached: {error}"))
}

/// A number that nobody can guess.
fn seed() -> u64 {
    RandomState::new().build_hasher().finish()
}
