//! Redis' patterns of keys: `*` is any bytes, `?` is any byte, `[a-z]` a byte of a class and `[^a-z]` one outside it,
//! and a backslash escapes the next byte.

/// Whether a key matches a pattern. Takes time proportional at most to the product of both lengths.
pub fn is_like(key: &[u8], pattern: &[u8]) -> bool {
    if pattern == b"*" {
        return true;
    }
    // In Redis the empty key matches only `*` and the empty pattern.
    if key.is_empty() {
        return pattern.is_empty();
    }
    let (mut at, mut rest) = (0, pattern);
    // The pattern behind the last star, and the place in the key where its match is being tried.
    let mut star: Option<(&[u8], usize)> = None;
    while at < key.len() {
        if let [b'*', behind @ ..] = rest {
            (star, rest) = (Some((behind, at)), behind);
        } else if let Some(behind) = one(key[at], rest) {
            (at, rest) = (at + 1, behind);
        } else if let Some((behind, tried)) = star {
            // An earlier star needn't take more: the pattern between the two stars has its earliest match.
            (star, at, rest) = (Some((behind, tried + 1)), tried + 1, behind);
        } else {
            return false;
        }
    }
    rest.iter().all(|&byte| byte == b'*')
}

/// The pattern behind its first element, if that matches the byte.
fn one(byte: u8, pattern: &[u8]) -> Option<&[u8]> {
    match pattern {
        [] => None,
        [b'?', behind @ ..] => Some(behind),
        [b'[', class @ ..] => {
            let (is_in, behind) = in_class(byte, class);
            is_in.then_some(behind)
        }
        [b'\\', literal, behind @ ..] | [literal, behind @ ..] => (*literal == byte).then_some(behind),
    }
}

/// Whether a byte is in a class, whose text begins behind its bracket, and the pattern behind the class. An open class
/// ends with the pattern.
fn in_class(byte: u8, class: &[u8]) -> (bool, &[u8]) {
    let (is_negative, mut rest) = match class {
        [b'^', rest @ ..] => (true, rest),
        _ => (false, class),
    };
    let mut is_in = false;
    loop {
        rest = match rest {
            [] => break,
            [b'\\', literal, behind @ ..] => {
                is_in |= *literal == byte;
                behind
            }
            [b']', behind @ ..] => {
                rest = behind;
                break;
            }
            [first, b'-', last, behind @ ..] => {
                // Redis compares signed bytes.
                let [first, last, byte] = [*first, *last, byte].map(u8::cast_signed);
                is_in |= (first.min(last)..=first.max(last)).contains(&byte);
                behind
            }
            [literal, behind @ ..] => {
                is_in |= *literal == byte;
                behind
            }
        };
    }
    (is_in != is_negative, rest)
}

/// The longest literal prefix of a pattern: all matching keys begin with it.
pub fn prefix(pattern: &[u8]) -> &[u8] {
    let length = pattern.iter().position(|byte| b"*?[\\".contains(byte)).unwrap_or(pattern.len());
    &pattern[..length]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_like_patterns() {
        let like = [
            ("", ""),
            ("", "*"),
            ("abc", "*"),
            ("abc", "a*"),
            ("abc", "*c"),
            ("abc", "a?c"),
            ("abc", "a[a-c]c"),
            ("abc", "a[c-a]c"),
            ("abc", "a[^x]c"),
            ("a*c", "a\\*c"),
            ("a]c", "a[\\]]c"),
            ("aab", "*ab"),
            ("ab", "ab**"),
            ("ab", "a[b"),
            ("abab", "*a*b"),
            ("a", "[^"),
            ("\\", "\\"),
        ];
        for (key, pattern) in like {
            assert!(is_like(key.as_bytes(), pattern.as_bytes()), "{key} {pattern}");
        }
        let unlike = [
            ("", "**"),
            ("abc", ""),
            ("abc", "ab"),
            ("abc", "a[^b]c"),
            ("abc", "a[x-z]c"),
            ("abc", "a\\*c"),
            ("abc", "*d"),
            ("ab", "abc"),
            ("a", "["),
        ];
        for (key, pattern) in unlike {
            assert!(!is_like(key.as_bytes(), pattern.as_bytes()), "{key} {pattern}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_long() {
        let (key, pattern) = (vec![b'a'; 8192], [&b"a*".repeat(4000)[..], b"b"].concat());
        assert!(!is_like(&key, &pattern));
    }

    #[test]
    fn what_all_keys_begin_with_is_known() {
        for (pattern, expected) in [("abc", "abc"), ("ab*", "ab"), ("a\\*", "a"), ("[ab]", ""), ("a?", "a")] {
            assert_eq!(prefix(pattern.as_bytes()), expected.as_bytes());
        }
    }
}
