//! Runs the driver as a shared object inside this process, to measure machine code that was made here in turns with all
//! other contenders.

use std::ffi::{CString, c_char, c_int};
use std::path::{Path, PathBuf};

use clap::Args;
use drystone_specialise::passes;
use drystone_specialise_native as native;

use super::specialiser::Program;
use crate::object::{Object, text};

/// Runs the driver here, with the residual program as machine code for one more contender.
#[derive(Args)]
pub struct Inside {
    #[command(flatten)]
    program: Program,
    /// The driver, as a shared object.
    #[arg(long)]
    driver: PathBuf,
    /// The residual function.
    #[arg(long)]
    function: String,
    /// The generic code, for what the residual program leaves to it.
    #[arg(long)]
    library: PathBuf,
    /// What the driver is told, before the contender that is added.
    #[arg(long = "argument", allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// The contender's name in the driver's output.
pub const NATIVE: &str = "cranelift";

/// `int drive(int argc, char **argv)`
type Drive = unsafe extern "C" fn(c_int, *mut *mut c_char) -> c_int;

impl Inside {
    /// The driver prints its outcomes. Without machine code it measures the other contenders.
    pub fn run(&self) -> Result<(), String> {
        // Kept until the driver has called it for the last time.
        let code = self.program.specialise().and_then(|mut residual| {
            let generic = Object::open(&self.library)?;
            passes::polish_for_machine(&mut residual.module);
            native::load(&residual.module, &|name| generic.find(name)).map_err(|error| error.to_string())
        });
        let mut arguments = vec!["driver".to_string()];
        arguments.extend(self.arguments.iter().cloned());
        match code.as_ref().map(|code| code.function(&self.function)) {
            Ok(Some(address)) => arguments.push(format!("{NATIVE}=@{:x}", address as usize)),
            Ok(None) => eprintln!("{NATIVE} has no {}", self.function),
            Err(why) => eprintln!("{NATIVE} has no {}: {why}", self.function),
        }
        match drive(&self.driver, &arguments)? {
            0 => Ok(()),
            status => Err(format!("the driver failed: {status}")),
        }
    }
}

fn drive(library: &Path, arguments: &[String]) -> Result<c_int, String> {
    let mut arguments: Vec<Vec<u8>> = arguments
        .iter()
        .map(|argument| text(argument.as_bytes()).map(CString::into_bytes_with_nul))
        .collect::<Result<_, _>>()?;
    let mut pointers: Vec<*mut c_char> =
        arguments.iter_mut().map(|argument| argument.as_mut_ptr().cast()).collect();
    let count = pointers.len() as c_int;
    pointers.push(std::ptr::null_mut());
    let function = Object::open(library)?.find("drive").ok_or("the driver has no `drive`")?;
    // SAFETY: the library is the driver that this program has built, whose `drive` has the type `Drive`; it writes only
    // into its arguments, which are ours alone, each ended by zero and all by a null pointer, and keeps none of them
    // after it has returned. What it calls is code of the contenders, as it would in its own process; a fault there
    // ends this process, which was started for that.
    unsafe {
        let drive = std::mem::transmute::<*const u8, Drive>(function);
        Ok(drive(count, pointers.as_mut_ptr()))
    }
}
