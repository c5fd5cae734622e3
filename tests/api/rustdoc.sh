#!/bin/sh
# The rustdoc of the pinned compiler with its unstable options. With `RUSTC_BOOTSTRAP` for all of Cargo, all crates would be
# checked anew, and after it once more without.
RUSTC_BOOTSTRAP=1 exec rustdoc "$@"
