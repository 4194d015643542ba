//! The Rust side of the library's files: what well-kept crates do. `library/*.dry` declare these procedures as NATIVE;
//! this crate carries them.
//!
//! Those of [`PORTABLE`] need no operating system. Nothing here knows of components.

#![no_std]

extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

mod csv;
mod hash;
pub mod http;
pub mod json;
#[cfg(feature = "std")]
mod regex;
mod text;
#[cfg(feature = "std")]
mod time;

use drystone_kortex::Addition;
use drystone_runtime::native::Procedure;
use drystone_runtime::procedure;

/// What programs have everywhere.
pub static PORTABLE: Addition = Addition {
    procedures: &[
        procedure!(Csv.NativeRow(TEXT, CHARACTER, VARIABLE INTEGER, VARIABLE TEXT): BOOLEAN = csv::row),
        procedure!(Csv.NativeCount(TEXT): INTEGER = csv::count),
        procedure!(Csv.NativeField(TEXT, INTEGER): TEXT = csv::field),
        procedure!(Csv.Quoted(TEXT, CHARACTER): TEXT = csv::quoted),
        procedure!(Hash.Sha256(TEXT): TEXT = hash::sha256),
        procedure!(Hash.Sha512(TEXT): TEXT = hash::sha512),
        procedure!(Hash.Blake3(TEXT): TEXT = hash::blake3),
        procedure!(Hash.HmacSha256(TEXT, TEXT): TEXT = hash::hmac_sha256),
        procedure!(Hash.HmacSha512(TEXT, TEXT): TEXT = hash::hmac_sha512),
        procedure!(Hash.Hex(TEXT): TEXT = hash::hex),
        procedure!(Hash.FromHex(TEXT, VARIABLE TEXT): BOOLEAN = hash::from_hex),
        procedure!(Http.Fits(TEXT, TEXT, VARIABLE TEXT): BOOLEAN = http::fits),
        procedure!(Json.NativeParse(TEXT, VARIABLE TEXT, VARIABLE TEXT, VARIABLE INTEGER, VARIABLE INTEGER): BOOLEAN
            = json::parse),
        procedure!(Json.NativeKind(TEXT, INTEGER): INTEGER = json::kind),
        procedure!(Json.NativeCount(TEXT, INTEGER): INTEGER = json::count),
        procedure!(Json.NativeElement(TEXT, INTEGER, INTEGER): INTEGER = json::element),
        procedure!(Json.NativeKey(TEXT, INTEGER, INTEGER): TEXT = json::key),
        procedure!(Json.NativeMember(TEXT, INTEGER, TEXT): INTEGER = json::member),
        procedure!(Json.NativeAt(TEXT, INTEGER, TEXT): INTEGER = json::at),
        procedure!(Json.NativeInteger(TEXT, INTEGER): INTEGER = json::integer),
        procedure!(Json.NativeReal(TEXT, INTEGER): REAL = json::real),
        procedure!(Json.NativeText(TEXT, INTEGER): TEXT = json::text),
        procedure!(Json.NativeTruth(TEXT, INTEGER): BOOLEAN = json::truth),
        procedure!(Json.NativeWritten(TEXT, INTEGER): TEXT = json::written),
        procedure!(Json.Quoted(TEXT): TEXT = json::quoted),
        procedure!(Json.Of(ANY): TEXT = json::of),
        procedure!(Json.Read(TEXT, VARIABLE ANY, VARIABLE TEXT): BOOLEAN = json::read),
        procedure!(Json.OfReal(REAL): TEXT = json::of_real),
        procedure!(Text.Upper(TEXT): TEXT = text::upper),
        procedure!(Text.Lower(TEXT): TEXT = text::lower),
        procedure!(Text.IsUtf8(TEXT): BOOLEAN = text::is_utf8),
        procedure!(Text.CodePoints(TEXT): INTEGER = text::code_points),
        procedure!(Text.CodePoint(TEXT, VARIABLE INTEGER): INTEGER = text::code_point),
        procedure!(Text.OfCodePoint(INTEGER): TEXT = text::of_code_point),
        procedure!(Text.Graphemes(TEXT): INTEGER = text::graphemes),
        procedure!(Text.Cut(TEXT, INTEGER): TEXT = text::cut),
    ],
    ..Addition::NOTHING
};

/// The procedures that programs have on a machine without an operating system, with crates that are built in.
pub fn on_bare_machines(
    additions: &'static [&'static Addition],
) -> impl Iterator<Item = &'static Procedure> + Clone {
    [&PORTABLE].into_iter().chain(additions.iter().copied()).flat_map(|addition| addition.procedures)
}

/// What programs have besides where there is an operating system.
#[cfg(feature = "std")]
pub static ADDITION: Addition = Addition {
    procedures: &[
        procedure!(Regex.IsPattern(TEXT): BOOLEAN = regex::is_pattern),
        procedure!(Regex.Matches(TEXT, TEXT): BOOLEAN = regex::matches),
        procedure!(Regex.Replaced(TEXT, TEXT, TEXT): TEXT = regex::replaced),
        procedure!(Regex.NativeFind(TEXT, TEXT, INTEGER, VARIABLE TEXT): BOOLEAN = regex::find),
        procedure!(Regex.NativeStart(TEXT, INTEGER): INTEGER = regex::start),
        procedure!(Regex.NativeEnd(TEXT, INTEGER): INTEGER = regex::end),
        procedure!(Regex.NativeNamed(TEXT, TEXT): INTEGER = regex::named),
        procedure!(Time.IsZone(TEXT): BOOLEAN = time::is_zone),
        procedure!(Time.NativeField(INTEGER, TEXT, INTEGER): INTEGER = time::field),
        procedure!(Time.NativeInstant(TEXT, INTEGER, INTEGER, INTEGER, INTEGER, VARIABLE INTEGER): BOOLEAN
            = time::instant),
        procedure!(Time.Added(INTEGER, TEXT, INTEGER, INTEGER): INTEGER = time::added),
        procedure!(Time.Formatted(INTEGER, TEXT, TEXT): TEXT = time::formatted),
        procedure!(Time.Rfc3339(INTEGER, TEXT): TEXT = time::rfc3339),
        procedure!(Time.OfRfc3339(TEXT, VARIABLE INTEGER): BOOLEAN = time::of_rfc3339),
    ],
    ..Addition::NOTHING
};
