//! What compares, where a key, a pattern or a step stands: one message for each, and the rest is read.

use adk::prelude::*;

workflow! {
    pub Grading(total: u32, good: bool) {
        agent examiner { instruction: "Examine {total}." }
        agent consoler { instruction: "Console {total}." }

        match total < < 10 => consoler, >= 90 => examiner, _ => () >
        match total < > 10 => consoler as second, _ => () >
        match total > 10 < true => consoler as third, false => () >
        match total < 10 < true => consoler as fourth, false => () >
        match total (0..=10 => consoler as fifth, _ => ());
        loop(max = 2) < total < 10 ? examiner : consoler >
        good ? examiner : consoler;
        if good < examiner as sixth > else < consoler as seventh >, >
        examiner as last
    }
}

fn main() {}
