use adk::prelude::*;

workflow! {
    pub Reading(items: Vec<String>) {
        agent critic { instruction: "Review." }

        each(on_error = skip(max = "110 %")) item in items < critic as a >
        each(on_error = skip(max = "ten")) item in items < critic as b >
        each(on_error = skip(max = 0)) item in items < critic as c >
        each(on_error = skip(max = -1)) item in items < critic as d >
        each(on_error = skip(max = 2.5)) item in items < critic as e >
        each(on_error = skip(min = 1)) item in items < critic as f >
        each(on_error = skip(max)) item in items < critic as g >
        each(on_error = skip()) item in items < critic as h >
        each(on_error = skip(max = MOST)) item in items < critic as i >
        each(on_error = skip(max = 5, min = 1)) item in items < critic as j >
        each(on_error = skip(max = 99999999999)) item in items < critic as k >
        each(on_error = fail) item in items < critic as l >
        parallel(on_error = skip(max = 1)) < critic as m; critic as n >
    }
}

fn main() {}
