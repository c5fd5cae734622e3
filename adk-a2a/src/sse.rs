//! The data of server-sent events.

/// The most bytes of one event.
pub(crate) const MOST: usize = 16 << 20;

/// Takes bytes as they come, and gives the data of events.
#[derive(Default)]
pub(crate) struct Events {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
}

impl Events {
    /// Takes more bytes; `None` when an event is larger than is taken.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
        let mut events = Vec::new();
        for &byte in bytes {
            if byte != b'\n' {
                self.line.push(byte);
                if self.line.len() + self.data.len() > MOST {
                    return None;
                }
                continue;
            }
            if self.line.last() == Some(&b'\r') {
                self.line.pop();
            }
            if self.line.is_empty() {
                if std::mem::take(&mut self.has_data) {
                    events.push(std::mem::take(&mut self.data));
                }
            } else if let Some(data) = self.line.strip_prefix(b"data:") {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.data.extend(data.strip_prefix(b" ").unwrap_or(data));
                self.has_data = true;
            }
            self.line.clear();
        }
        Some(events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_whole_however_their_bytes_come() {
        let text =
            b": hello\r\nevent: x\r\ndata: {\"a\":\r\ndata: \"\xc3\xa4\"}\r\n\r\nid: 1\n\ndata:2\n\ndata: 3";
        for size in 1..text.len() {
            let mut events = Events::default();
            let all: Vec<_> =
                text.chunks(size).flat_map(|chunk| events.take(chunk).expect("small")).collect();
            assert_eq!(all, [b"{\"a\":\n\"\xc3\xa4\"}".to_vec(), b"2".to_vec()], "{size}");
        }
        assert!(Events::default().take(&vec![b'x'; MOST + 1]).is_none());
    }
}
