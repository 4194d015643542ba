//! `Http.Fits`: patterns of paths.

use alloc::borrow::Cow;
use alloc::vec::Vec;

/// Whether a path is like a pattern, of which a part `:name` stands for any part that isn't empty, and a last part
/// `*name` for all that follows. The names and what they stand for become `/name=part` for each.
pub fn fits(path: &[u8], pattern: &[u8], parameters: &mut Cow<[u8]>) -> bool {
    let mut found = Vec::new();
    let mut note = |name: &[u8], parts: &mut dyn Iterator<Item = &[u8]>| {
        found.push(b'/');
        found.extend_from_slice(name);
        found.push(b'=');
        for (index, part) in parts.enumerate() {
            // A "/" would end it.
            found.extend_from_slice(if index > 0 { b"%2F" } else { b"" });
            found.extend_from_slice(part);
        }
    };
    let mut parts = path.split(|&byte| byte == b'/');
    for wanted in pattern.split(|&byte| byte == b'/') {
        let Some(part) = parts.next() else { return false };
        match wanted.split_first() {
            Some((b':', _)) if part.is_empty() => return false,
            Some((b':', name)) => note(name, &mut [part].into_iter()),
            Some((b'*', name)) => {
                note(name, &mut [part].into_iter().chain(parts));
                *parameters = Cow::Owned(found);
                return true;
            }
            _ if wanted != part => return false,
            _ => {}
        }
    }
    if parts.next().is_some() {
        return false;
    }
    if !found.is_empty() {
        *parameters = Cow::Owned(found);
    }
    true
}

/// Compares a path with a pattern, the first two lines of bytes that may be anything, for fuzzing.
///
/// # Panics
/// A pattern without names fits another path than itself, or what fits isn't made of the path.
pub fn compare(bytes: &[u8]) {
    let mut lines = bytes.split(|&byte| byte == b'\n');
    let (path, pattern) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let mut parameters = Cow::Borrowed(&b""[..]);
    let fit = fits(path, pattern, &mut parameters);
    if !pattern.split(|&byte| byte == b'/').any(|part| matches!(part.first(), Some(b':' | b'*'))) {
        assert_eq!(fit, path == pattern);
    }
    assert!(parameters.len() <= 2 * pattern.len() + 3 * path.len());
}

#[cfg(test)]
mod tests {
    use alloc::borrow::Cow;
    use alloc::string::String;

    use super::{compare, fits};

    fn parameters(path: &str, pattern: &str) -> Option<String> {
        let mut parameters = Cow::Borrowed(&b""[..]);
        fits(path.as_bytes(), pattern.as_bytes(), &mut parameters)
            .then(|| String::from_utf8(parameters.into_owned()).unwrap())
    }

    #[test]
    fn anything_is_a_path() {
        for bytes in [&b""[..], b"\n", b"/\n/", b"/a/b\n/:/*", b"\xff\n\xff", b"//\n/:x/:x", b"/*\n/*"] {
            compare(bytes);
        }
    }

    #[test]
    fn paths_are_like_patterns() {
        let some = |text: &str| Some(text.into());
        assert_eq!(parameters("/", "/"), some(""));
        assert_eq!(parameters("/links", "/links"), some(""));
        assert_eq!(parameters("/links/a%2Fb", "/links/:code"), some("/code=a%2Fb"));
        assert_eq!(parameters("/a/b/c", "/:x/b/:y"), some("/x=a/y=c"));
        assert_eq!(parameters("/files/", "/files/*rest"), some("/rest="));
        assert_eq!(parameters("/files/a/b//c", "/files/*rest"), some("/rest=a%2Fb%2F%2Fc"));
        for (path, pattern) in [
            ("/links/", "/links"),
            ("/links", "/links/"),
            ("/links/", "/links/:code"),
            ("/links/a/b", "/links/:code"),
            ("/files", "/files/*rest"),
            ("", "/"),
            ("/", ""),
            ("/a/c/c", "/:x/b/:y"),
        ] {
            assert_eq!(parameters(path, pattern), None, "{path} {pattern}");
        }
    }
}
