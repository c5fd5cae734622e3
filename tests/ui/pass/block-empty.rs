//! Each block has at least one step.

use adk::prelude::*;

workflow! {
    pub Writing() {
        agent critic { instruction: "Review." }

        loop(max = 2) < critic >;
        refinement: parallel { critic as b }
        < critic as c; <critic as d> >
    }
}
