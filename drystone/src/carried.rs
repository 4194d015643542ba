//! Procedures that crates carry: says which of those that a program calls nothing carries where it is to run. With
//! crates from outside (`with`) that is known only when they are compiled, and said when the program starts.

use drystone_compiler::{Carried, carried};
use drystone_language::source::Diagnostic;
use drystone_linux::native;

use crate::arguments::Platform;
use crate::output::{Status, WRONG};
use crate::sources::{Loaded, show};
use crate::with::Found;

/// Whether a program calls any. A panic in one must be caught, which takes unwinding.
pub fn are_called(loaded: &Loaded) -> bool {
    !carried(&loaded.program).is_empty()
}

/// Refuses a program that calls one which nothing carries on its platform.
pub fn check(loaded: &Loaded, crates: &[Found], platform: Platform) -> Result<(), Status> {
    if !crates.is_empty() {
        return Ok(());
    }
    let missing = carried(&loaded.program).into_iter().filter_map(|procedure| fault(&procedure, platform));
    let errors: Vec<Diagnostic> = missing.collect();
    if errors.is_empty() {
        return Ok(());
    }
    show(&loaded.files, &errors);
    Err(WRONG)
}

fn fault(procedure: &Carried, platform: Platform) -> Option<Diagnostic> {
    let Carried { name, signature, span } = procedure;
    let (found, help) = match platform {
        Platform::Linux => {
            let help = "a crate that carries it is built in by --with CRATE";
            (native::find(name, signature, drystone_linux::carried(&[])), help)
        }
        Platform::Pc => {
            let help = "on a PC, procedures come from crates without an operating system: --with CRATE";
            (native::find(name, signature, drystone_library::on_bare_machines(&[])), help)
        }
    };
    Some(Diagnostic::new("not-carried", *span, found.err()?).label("declared here").help(help))
}
