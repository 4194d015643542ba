//! `drystone handler attach`: in Linux's kernel, where the handler stays attached, or else in this process.

use std::io::Error;
use std::time::{Duration, Instant};

use drystone_extension::handler::{Counts, Flows, Handler, Image, Settings, Share};
use drystone_handlers::{AfXdp, Device, Engine, Line, Pinned, Site, Station, Wanted, Xdp};

use super::object::{images, seed};
use crate::arguments::Attach;
use crate::output::{say, tell};

/// Attaches a handler.
pub fn attach(command: &Attach) -> Result<(), String> {
    let site = site(command)?;
    let [own, linux] = images(&command.file)?;
    match command.engine {
        Engine::Xdp => to_linux(command, &linux, &site),
        Engine::AfXdp => to_af_xdp(command, &own, &site),
        Engine::Tap => to_tap(command, &own, &site),
        Engine::Auto => {
            // An error that the user can put right is reported: no other engine is tried.
            Pinned::room(name(command, &linux), &site)?;
            to_linux(command, &linux, &site).or_else(|why| {
                if site.wanted == Wanted::Everything {
                    return Err(format!("XDP: {why}\n{ALL_IS_LOST}"));
                }
                say(format_args!("XDP: {why}\nAF_XDP is tried instead\n"));
                to_af_xdp(command, &own, &site)
            })
        }
    }
}

const ALL_IS_LOST: &str = "by AF_XDP all that arrives would be taken from the kernel, also what keeps the \
                           network going: say by --filter or --port what the handler is for";

fn name<'a>(command: &'a Attach, image: &'a Image) -> &'a str {
    command.name.as_deref().unwrap_or(&image.name)
}

fn site(command: &Attach) -> Result<Site, String> {
    const WINDOW: u64 = 10_000_000;
    let wanted = match (&command.filter, command.port) {
        (Some(expression), _) => Wanted::expression(expression)?,
        (None, Some(port)) => Wanted::Port(port),
        (None, None) => Wanted::Everything,
    };
    if wanted == Wanted::Everything && command.share.is_some() {
        return Err("--share is for handlers with a filter: say --filter or --port, too".into());
    }
    let share = command.share.map_or(Share::default(), |runs| Share { runs, window: WINDOW });
    Ok(Site { interface: command.on.clone(), mode: command.mode, wanted, share })
}

fn to_linux(command: &Attach, image: &Image, site: &Site) -> Result<(), String> {
    let pinned = Pinned::attach(name(command, image), &Xdp::load(image)?, site)?;
    tell(format_args!(
        "{0} runs at {1}, for {2}, in Linux; `drystone handler detach {0}` ends that",
        pinned.name(),
        site.interface,
        site.wanted
    ));
    Ok(())
}

fn to_af_xdp(command: &Attach, image: &Image, site: &Site) -> Result<(), String> {
    if site.wanted == Wanted::Everything {
        return Err(ALL_IS_LOST.into());
    }
    let handler = handler(image)?;
    let wanted = site.wanted.filter()?;
    let device = AfXdp::open_for(&site.interface, command.queue, site.mode, wanted)
        .map_err(|why| format!("AF_XDP: {why}"))?;
    serve(device, handler, command, site)
}

fn to_tap(command: &Attach, image: &Image, site: &Site) -> Result<(), String> {
    let handler = handler(image)?;
    let tap = Line::tap(&site.interface).map_err(|error| format!("TAP `{}`: {error}", site.interface))?;
    serve(tap, handler, command, site)
}

fn handler(image: &Image) -> Result<Handler, String> {
    Handler::of(image, Settings { key: seed(), ..Settings::default() })
}

/// Runs the handler here until this program is ended, or its time is over.
fn serve(device: impl Device, handler: Handler, command: &Attach, site: &Site) -> Result<(), String> {
    let name = command.name.clone().unwrap_or_else(|| handler.name().to_string());
    let mut flows = Flows::compiled(seed(), site.share);
    let flow = flows.attach(0, site.wanted.filter()?, handler)?;
    let mut station = Station::new(device, flows);
    tell(format_args!(
        "{name} runs at {}, for {}, in this process, as long as that lives; what it passes on of that is lost",
        site.interface, site.wanted
    ));
    let (begin, mut shown, mut next) = (Instant::now(), None, Instant::now());
    let is_over = || command.seconds.is_some_and(|seconds| begin.elapsed() >= Duration::from_secs(seconds));
    while !is_over() {
        let failed = |error: Error| format!("{}: {error}", site.interface);
        if station.turn().map_err(failed)? == 0 {
            station.wait(Duration::from_millis(100)).map_err(failed)?;
        }
        // No process here wants the messages that are passed on.
        while station.take_passed().is_some() {}
        let counts = station.flows.counts(flow);
        if counts != shown && Instant::now() >= next {
            (shown, next) = (counts, Instant::now() + Duration::from_secs(1));
            counts.iter().for_each(show);
        }
    }
    Ok(())
}

fn show(counts: &Counts) {
    tell(format_args!(
        "{} runs, {} consumed ({} answered), {} passed on, {} stopped, {} processed lazily",
        counts.runs, counts.consumed, counts.transmitted, counts.passed, counts.stopped, counts.lazily
    ));
}
