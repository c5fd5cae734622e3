#!/usr/bin/env python3
"""Measures the time to compile a workflow: `cargo check` of generated crates, in seconds of user CPU time.

    benches/compile.py                                      # all kinds, 10, 100, 1,000 and 3,000 agents
    benches/compile.py functions 1000 --shape blocks        # one kind, one size, in loops and parallel blocks
    benches/compile.py models 100 --write some/directory    # only write the crate, for a profiler
    benches/compile.py attribute 1000                       # functions with and without `#[agent]`, sync and async, and the ratio

Each row is the difference between two crates, which are compiled several times without incremental compilation: one
crate with only the agents, and one with a workflow over them. Two figures: the median of the differences of one round,
and the difference of the two minima, which other load on the machine disturbs less. `inline` agents have no definition
outside their workflow, so they are compared with an empty crate. The script asserts nothing: times depend on the machine.

`attribute` compares whole commands: `cargo check` of functions with `#[agent]`, and of the same functions without it.
"""

import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
KINDS = ("models", "functions", "inline")
ATTRIBUTE = "attribute"
SHAPES = ("chain", "blocks")
MANIFEST = """[package]
name = "generated"
version = "0.0.0"
edition = "2024"

[dependencies]
adk-workflow = {{ path = "{root}", default-features = false }}

[workspace]
"""


def reads(i):
    """Returns the keys that an agent reads: the key of the agent before it, and an older key."""
    return ["start"] if i == 0 else sorted({f"key_{i - 1}", f"key_{i // 2}"})


def in_parallel(i):
    """Whether the second of ten agents runs parallel to the first and must not read its key."""
    return i % 10 == 1


def keys(i, shape):
    if shape == "blocks" and in_parallel(i):
        return [f"key_{i - 2}"] if i > 1 else ["start"]
    return reads(i)


def model(i, shape, public):
    prompt = "Improve {" + "} with regard to {".join(keys(i, shape)) + "}."
    return f"""    /// Writes the part number {i}.
    {'pub ' if public else ''}agent agent_{i} -> key_{i}: String {{
        model: "gemini-2.5-flash",
        instruction: "{prompt}",
    }}
"""


def function(i, shape, has_attribute=True, is_async=False):
    """Writes a function of one expression, or an async function with a call, as in real agents."""
    parameters = ", ".join(f"{key}: &str" for key in keys(i, shape))
    texts = ", ".join(keys(i, shape))
    attribute = f"#[agent(writes = key_{i})]\n" if has_attribute else ""
    head = f"/// Writes the part number {i}.\n{attribute}pub "
    if not is_async:
        return f"{head}fn agent_{i}({parameters}) -> String {{\n    [{texts}].concat()\n}}\n"
    return f"""{head}async fn agent_{i}({parameters}) -> Result<String> {{
    let words: Vec<&str> = [{texts}].iter().flat_map(|text| text.split_whitespace()).collect();
    if words.is_empty() {{
        return Err(Error::other("there is no word"));
    }}
    Ok(format!("{{}} of {{}} words", words[0], words.len()))
}}
"""


def body(count, shape):
    """Writes the steps: in sequence, or in loops of ten whose first two steps run in parallel."""
    if shape == "chain":
        return "".join(f"    agent_{i};\n" for i in range(count))
    out = []
    for first in range(0, count, 10):
        rest = [f"agent_{i};" for i in range(first + 2, min(first + 10, count))]
        out.append(f"    loop(max = 3) < parallel < agent_{first}; agent_{first + 1} > {' '.join(rest)} >\n")
    return "".join(out)


def program(kind, count, shape, placed):
    """Writes a crate with `count` agents, in a workflow if `placed`."""
    out = ["//! Generated.\n", "#![allow(unused_imports)]\n", "use adk::{llm::agent, prelude::*};\n"]
    if kind == "models":
        out += ["agent! {\n", *(model(i, shape, True) for i in range(count)), "}\n"]
    if kind == "functions":
        out += [function(i, shape) for i in range(count)]
    if placed:
        out.append(f"workflow! {{\n    /// Generated.\n    pub All(start: String) -> key_{count - 1}: String {{\n")
        if kind == "inline":
            out += [model(i, shape, False) for i in range(count)]
        out += [body(count, shape), "    }\n}\n"]
    return "".join(out)


def functions(count, shape, has_attribute, is_async):
    """Writes a crate with `count` functions and nothing else."""
    head = "//! Generated.\n#![allow(unused_imports)]\nuse adk::prelude::*;\n"
    return head + "".join(function(i, shape, has_attribute, is_async) for i in range(count))


def write(directory, text):
    (directory / "src").mkdir(parents=True, exist_ok=True)
    (directory / "Cargo.toml").write_text(MANIFEST.format(root=ROOT))
    lock = directory / "Cargo.lock"
    if not lock.exists():
        lock.write_text((ROOT / "Cargo.lock").read_text())
    (directory / "src/lib.rs").write_text(text)


def check(directory, cargo):
    """Returns the user CPU seconds of one `cargo check`."""
    environment = {**os.environ, "CARGO_INCREMENTAL": "0", "CARGO_TARGET_DIR": str(directory / "target")}
    os.utime(directory / "src/lib.rs", (time.time(), time.time()))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(cargo, cwd=directory, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def measure(texts, repeats, directory, cargo):
    """Returns a list of times for each program. The programs are compiled in turns, so that the load of the machine is the same for all."""
    times = [[] for _ in texts]
    for _ in range(repeats):
        for text, all_times in zip(texts, times):
            write(directory, text)
            all_times.append(check(directory, cargo))
    return times


def added(before, after):
    """Returns the extra time of `after`: the median of all rounds, and the difference of the minima."""
    median = statistics.median(one - other for one, other in zip(after, before))
    return f"{median:>8.2f} {min(after) - min(before):>8.2f}"


def compare(sizes, shape, repeats, directory, cargo):
    """Prints the times of functions with `#[agent]` and without it."""
    print(f"{'':>6} {'`#[agent]`':>17} {'plain':>17} {'ratio':>17}   user CPU seconds of {' '.join(cargo)}")
    print(f"{'count':>6} " + " ".join([f"{'median':>8} {'least':>8}"] * 3))
    for count, is_async in ((count, is_async) for count in sizes for is_async in (False, True)):
        texts = [functions(count, shape, has_attribute, is_async) for has_attribute in (True, False)]
        both = [(statistics.median(times), min(times)) for times in measure(texts, repeats, directory, cargo)]
        ratio = [agents / plain for agents, plain in zip(*both)]
        figures = " ".join(f"{one:>8.2f}" for figures in (*both, ratio) for one in figures)
        print(f"{count:>6} {figures}  {'async' if is_async else ''}", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("kind", nargs="?", choices=(*KINDS, ATTRIBUTE, "all"), default="all")
    arguments.add_argument("sizes", nargs="*", type=int, default=[10, 100, 1000, 3000])
    arguments.add_argument("--shape", choices=SHAPES, default="chain")
    arguments.add_argument("--repeats", type=int, default=5)
    arguments.add_argument("--write", type=pathlib.Path, metavar="DIRECTORY")
    arguments.add_argument("--cargo", default="cargo check --quiet", help="what to run instead of `cargo check --quiet`")
    given = arguments.parse_args()
    kinds = KINDS if given.kind == "all" else (given.kind,)
    if given.write:
        return write(given.write.resolve(), program(kinds[0], given.sizes[0], given.shape, True))
    directory, cargo = ROOT / "target/compile-cost", given.cargo.split()
    empty = program("", 0, given.shape, False)
    write(directory, empty)
    check(directory, cargo)
    if given.kind == ATTRIBUTE:
        return compare(given.sizes, given.shape, given.repeats, directory, cargo)
    print(f"{'':>17} {'alone':>17} {'workflow adds':>17}   user CPU seconds, {given.shape}")
    print(f"{'agents':>10} {'count':>6} {'median':>8} {'least':>8} {'median':>8} {'least':>8}")
    for kind in kinds:
        for count in given.sizes:
            texts = [empty, program(kind, count, given.shape, False), program(kind, count, given.shape, True)]
            nothing, alone, placed = measure(texts, given.repeats, directory, cargo)
            print(f"{kind:>10} {count:>6} {added(nothing, alone)} {added(alone, placed)}", flush=True)


if __name__ == "__main__":
    main()
