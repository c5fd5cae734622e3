//! [`Audit`] as a table.

use super::{Audit, AuditCleaner, AuditSink, AuditSource, Confirms, SourceKind, Unseen};
use crate::check::labels::request_input;
use std::fmt;

/// The smallest widths of the columns after the first.
const WIDTHS: [usize; 2] = [28, 8];

/// A line of the table: what, who, and why.
type Row = [String; 3];

impl fmt::Display for Audit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_label = |label| {
            let sources = self.sources.iter();
            sources.filter(move |source| source.label == label)
        };
        let sections: [(&str, Vec<Row>); 6] = [
            ("sources", of_label("untrusted").map(source).collect()),
            ("private", of_label("private").map(source).collect()),
            ("sinks", self.sinks.iter().map(sink).collect()),
            ("cleaned", self.cleaners.iter().map(cleaner).collect()),
            ("not seen", whole_line(not_seen(&self.not_seen))),
            ("refused", self.refused()),
        ];
        f.write_str(&self.head())?;
        let mut widths = WIDTHS;
        for row in sections.iter().flat_map(|(_, rows)| rows) {
            let is_table = !row[1].is_empty() || !row[2].is_empty();
            for (width, text) in widths.iter_mut().zip(row).filter(|_| is_table) {
                *width = text.chars().count().max(*width);
            }
        }
        for (name, rows) in &sections {
            for (at, row) in rows.iter().enumerate() {
                let name = if at == 0 { name } else { "" };
                let mut line = format!("  {name:<10} {:<1$}", row[0], widths[0] + 2);
                if row[1].is_empty() {
                    line += &row[2];
                } else {
                    line += &format!("{:<1$}{2}", row[1], widths[1] + 2, row[2]);
                }
                write!(f, "\n{}", line.trim_end())?;
            }
        }
        Ok(())
    }
}

impl Audit<'_> {
    fn head(&self) -> String {
        let mut head = match self.spec.definition {
            Some((name, place)) => format!("{name} ({place})"),
            None => self.spec.name.to_owned(),
        };
        let guards = self.guards();
        let keys = |word: &str, keys: &[&str]| {
            (!keys.is_empty()).then(|| format!("{word}({})", keys.join(", ")))
        };
        let words = [
            keys("untrusted", guards.untrusted),
            keys("private", guards.private),
            guards.fresh.then(|| "fresh".to_owned()),
            guards.strict.then(|| "strict".to_owned()),
        ];
        let words: Vec<_> = words.into_iter().flatten().collect();
        head += "   ";
        if words.is_empty() {
            return head + "no guards";
        }
        head.extend(["guards: ", &words.join(", ")]);
        for label in ["untrusted", "private"] {
            let is_marked = |source: &AuditSource| {
                source.label == label
                    && (source.kind == SourceKind::Message
                        || request_input(&self.spec) == source.name)
            };
            if self.sources.iter().any(is_marked) {
                head.extend(["; message ", label]);
            }
        }
        head
    }

    fn refused(&self) -> Vec<Row> {
        if self.findings.is_empty() {
            return whole_line("nothing".to_owned());
        }
        let findings = self.findings.iter();
        findings.flat_map(|text| whole_line(text.clone())).collect()
    }
}

fn whole_line(text: String) -> Vec<Row> {
    if text.is_empty() {
        Vec::new()
    } else {
        vec![[text, String::new(), String::new()]]
    }
}

fn source(source: &AuditSource) -> Row {
    let kind = match source.kind {
        SourceKind::Input => " (input)",
        SourceKind::Key => " (key)",
        SourceKind::Message => " (message)",
        SourceKind::Unlabelled => " (no label)",
        SourceKind::Labelled if source.label == "untrusted" => " (untrusted)",
        SourceKind::Labelled => "",
    };
    let seen_by = source.seen_by.join(", ");
    [format!("{}{kind}", source.name), String::new(), seen_by]
}

fn sink(sink: &AuditSink) -> Row {
    let label = if sink.is_unlabelled { ", no label" } else { "" };
    let verdict = match sink.confirms {
        Confirms::All if sink.is_reached() => "a person agrees to each call",
        Confirms::Selected if sink.is_reached() => "a person agrees to the calls that it selects",
        _ if sink.is_refused() && sink.label == "acts" => "refused: untrusted text",
        _ if sink.is_refused() => "refused: untrusted text and private data",
        _ if sink.marks.contains(&"untrusted") => "no private data",
        _ => "no untrusted text",
    };
    [
        format!("{} ({}{label})", sink.name, sink.label),
        sink.held_by.clone(),
        verdict.to_owned(),
    ]
}

fn cleaner(cleaner: &AuditCleaner) -> Row {
    let AuditCleaner {
        by, at, key, ty, ..
    } = cleaner;
    let what = match *by {
        "type" => format!("{at} -> {key}: {ty}"),
        "await" => format!("await {at}, shows {{{key}}}"),
        "trusts" => format!("{at} -> {key}"),
        _ => format!("{at}, {key}"),
    };
    [what, String::new(), cleaner.why.clone()]
}

fn not_seen(all: &[Unseen]) -> String {
    let count = |is_one: fn(&Unseen) -> bool| all.iter().filter(|one| is_one(one)).count();
    let bodies = [
        ("function", count(|one| matches!(one, Unseen::Function(_)))),
        (
            "agent by hand",
            count(|one| matches!(one, Unseen::Agent(_))),
        ),
        ("tool", count(|one| matches!(one, Unseen::Tool(_)))),
    ];
    let total: usize = bodies.iter().map(|(_, count)| count).sum();
    let bodies = bodies.iter().filter(|(_, count)| *count > 0);
    let bodies: Vec<_> = bodies
        .map(|(word, count)| match (count, *word) {
            (1, word) => format!("1 {word}"),
            (count, "agent by hand") => format!("{count} agents by hand"),
            (count, word) => format!("{count} {word}s"),
        })
        .collect();
    let mut parts = Vec::new();
    if let [before @ .., last] = &bodies[..] {
        let word = if total == 1 { "body" } else { "bodies" };
        let list = if before.is_empty() {
            last.clone()
        } else {
            format!("{} and {last}", before.join(", "))
        };
        parts.push(format!("the {word} of {list}"));
    }
    let named = all.iter().filter_map(|one| match one {
        Unseen::UnknownTools(agent) => {
            Some(format!("the tools of `{agent}` that only the run knows"))
        }
        Unseen::Callbacks(name) => Some(format!("the callbacks of `{name}`")),
        Unseen::Function(_) | Unseen::Agent(_) | Unseen::Tool(_) => None,
    });
    parts.extend(named);
    parts.join(", ")
}
