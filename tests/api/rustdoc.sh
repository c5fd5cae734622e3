#!/bin/sh
# Runs the rustdoc of the pinned compiler with unstable options. If all of Cargo had
# `RUSTC_BOOTSTRAP`, it would check all crates again, and once more without the variable.
RUSTC_BOOTSTRAP=1 exec rustdoc "$@"
