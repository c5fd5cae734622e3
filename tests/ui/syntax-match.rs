use adk::prelude::*;

workflow! {
    pub Writing(severity: String, count: u64) {
        agent critic { instruction: "Review." }

        match < "high" => critic as a, _ => () >
        match severity.as_str() < "high" => critic as b, _ => () >
        match "severity" < "high" => critic as c, _ => () >
        match severity "high" => critic as d;
        match severity < "high" -> critic as e, _ => () >
        match severity < "high" => critic as f "low" => critic as g, _ => () >
        match severity < "high" => critic as h; critic as i, _ => () >
        match severity < "high" => (critic as j; critic as k), _ => () >
        match severity < "high" => , _ => () >
        match severity < else => critic as l >
        match severity < Severity:: => critic as m, _ => () >
        match severity < "high" => agents::, _ => () >
        match count < n if => critic as n, _ => () >
        match count < n if n > => critic as o, _ => () >
        match count < n if n > 3 critic as p, _ => () >
        match count < /** Many. */ 3.. => critic as q, _ => () >
        mach count < 3 => critic as r, _ => () >
        switch count { 3 => critic as s, _ => () }
        if count > 3 { critic as t } else { critic as u }
        while count { critic as v }
    }
}

workflow! {
    pub Unclosed(severity: String) {
        agent critic { instruction: "Review." }

        match severity < "high" => < critic; critic as b >, _ => ();
        critic as c
    }
}

fn main() {}
