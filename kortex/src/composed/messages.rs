//! Options that list messages of an interface.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use drystone_component::{Interface, Side};
use drystone_runtime::binding::Factory;

/// For each message of the interface: whether the client's option `name` lists it, by names separated by commas.
/// `None`: there is no such option.
///
/// # Errors
/// A name is missing, no message has that name, or only the server sends it.
pub fn listed(factory: &Factory<'_>, name: &str, interface: &Interface) -> Result<Option<Vec<bool>>, String> {
    let Some(list) = factory.option(name) else { return Ok(None) };
    let list = String::from_utf8_lossy(list);
    let messages = interface.messages.get();
    let mut found = vec![false; messages.len()];
    for wanted in list.split(',').map(str::trim) {
        if wanted.is_empty() {
            return Err(format!("{}: {name} lacks the name of a message", factory.name));
        }
        let is_wanted = |number: &usize| {
            messages[*number].sender == Side::Client && messages[*number].name.get() == wanted
        };
        let number = (0..messages.len()).find(is_wanted).ok_or_else(|| {
            format!("{}: a client of {} sends no message {wanted}", factory.name, interface.name.get())
        })?;
        found[number] = true;
    }
    Ok(Some(found))
}
