//! Shared objects that this program has built, loaded into this process.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

unsafe extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
}

/// dlopen's flag to resolve all symbols at once.
const RTLD_NOW: c_int = 2;

/// A shared object, never unloaded.
#[derive(Clone, Copy)]
pub struct Object(*mut c_void);

impl Object {
    /// Loads one.
    pub fn open(file: &Path) -> Result<Object, String> {
        let file = text(file.as_os_str().as_bytes())?;
        // SAFETY: the name ends with zero; what is loaded was built by this program, and its initialisation does
        // nothing but C's own.
        let handle = unsafe { dlopen(file.as_ptr(), RTLD_NOW) };
        if handle.is_null() { Err(complaint()) } else { Ok(Object(handle)) }
    }

    /// A symbol of it, or of the objects that it was linked with.
    pub fn find(self, name: &str) -> Option<*const u8> {
        let name = text(name.as_bytes()).ok()?;
        // SAFETY: the handle is that of an object that is never closed, and the name ends with zero.
        let address = unsafe { dlsym(self.0, name.as_ptr()) };
        (!address.is_null()).then_some(address.cast_const().cast())
    }
}

/// A C string.
pub fn text(bytes: &[u8]) -> Result<CString, String> {
    CString::new(bytes).map_err(|error| error.to_string())
}

fn complaint() -> String {
    // SAFETY: the text is null or ends with zero, and stays until the next call of the loader, of which there is none
    // before it is copied.
    unsafe {
        let text = dlerror();
        if text.is_null() { "no reason".into() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
    }
}
