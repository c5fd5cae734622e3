//! [`Events`]: a parser of server-sent events.

/// The maximum size of one event, in bytes.
pub(crate) const MOST: usize = 16 << 20;

/// A parser that takes chunks of bytes and returns the data of complete events.
#[derive(Default)]
pub(crate) struct Events {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
}

impl Events {
    /// Parses a chunk. Returns `None` if an event is larger than [`MOST`].
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
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
    fn events_are_complete_for_all_chunk_sizes() {
        let text = b": hello\r\nevent: x\r\ndata: {\"a\":\r\ndata: \"\xc3\xa4\"}\r\n\r\n\
            id: 1\n\ndata:2\n\ndata: 3";
        for size in 1..text.len() {
            let mut events = Events::default();
            let all: Vec<_> = text
                .chunks(size)
                .flat_map(|chunk| events.push(chunk).expect("the events are small"))
                .collect();
            assert_eq!(
                all,
                [b"{\"a\":\n\"\xc3\xa4\"}".to_vec(), b"2".to_vec()],
                "{size}"
            );
        }
        assert!(Events::default().push(&vec![b'x'; MOST + 1]).is_none());
    }
}
