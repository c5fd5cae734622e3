//! [`is_below`]: compares an address with an allowed prefix.

use reqwest::Url;

/// Returns whether an address is a prefix or below its path, also after a proxy decodes and
/// resolves the path.
pub(super) fn is_below(url: &Url, prefix: &Url) -> bool {
    let folder = prefix.path().trim_end_matches('/');
    let rest = url.path().strip_prefix(folder);
    url.origin() == prefix.origin()
        && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        && !has_dot_segment(url.path())
        && url.username().is_empty()
        && url.password().is_none()
}

/// Returns whether a path has an encoded dot segment. The URL parser has resolved plain dot
/// segments.
fn has_dot_segment(path: &str) -> bool {
    let mut path = path.as_bytes().to_vec();
    loop {
        let is_dots = |segment: &[u8]| {
            // Some servers ignore the parameters of a segment.
            let name = segment
                .split(|byte| *byte == b';')
                .next()
                .unwrap_or_default();
            matches!(name, b"." | b"..")
        };
        if path.split(|byte| matches!(byte, b'/' | b'\\')).any(is_dots) {
            return true;
        }
        let decoded = percent_decode(&path);
        if decoded.len() == path.len() {
            return false;
        }
        path = decoded;
    }
}

/// Decodes the percent-encoded bytes of a path once.
fn percent_decode(path: &[u8]) -> Vec<u8> {
    let digit = |at: usize| path.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let (mut decoded, mut at) = (Vec::with_capacity(path.len()), 0);
    while at < path.len() {
        match (path[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push(u8::try_from(high * 16 + low).unwrap_or_default());
                at += 3;
            }
            (byte, ..) => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_below_a_prefix_in_each_reading() {
        let is_below = |url: &str, prefix: &str| {
            Url::parse(url)
                .is_ok_and(|url| Url::parse(prefix).is_ok_and(|prefix| is_below(&url, &prefix)))
        };
        let prefix = "http://hooks.example/tasks";
        for rest in [
            "",
            "/",
            "/a",
            "/a/b?x=../y#z",
            "/a..b",
            "/%61",
            "/...",
            "/a%2fb",
            "//a",
            "/a;..",
            "/%zz",
            "/%",
        ] {
            assert!(is_below(&format!("{prefix}{rest}"), prefix), "{rest}");
            assert!(
                is_below(&format!("{prefix}{rest}"), "http://hooks.example"),
                "{rest}"
            );
        }
        let mut rests = vec![
            "evil".to_owned(),
            "/../admin".to_owned(),
            "/%2e%2e/admin".to_owned(),
        ];
        for slash in [
            "/", "%2f", "%2F", "%5c", "%5C", "\\", "%252f", "%25252F", "%%32%66",
        ] {
            for dots in [
                "..",
                ".%2e",
                "%2E%2e",
                "%252e%252e",
                "..;x",
                "%2e%2e%3bx",
                "%%32e.",
            ] {
                rests.push(format!("/{dots}{slash}admin"));
                rests.push(format!("/a{slash}{dots}{slash}{dots}{slash}admin"));
            }
        }
        for rest in rests {
            // A plain dot segment may resolve to an address below the host, but not below the
            // folder.
            assert!(!is_below(&format!("{prefix}{rest}"), prefix), "{rest}");
        }
        for url in [
            "https://hooks.example/tasks",
            "http://hooks.example:81/tasks",
            "http://u@hooks.example/tasks",
        ] {
            assert!(!is_below(url, prefix), "{url}");
        }
    }
}
