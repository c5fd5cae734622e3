//! More faults than are told at once: the last one that is told says so.

use adk::prelude::*;

workflow! {
    pub Writing() {
        agent a0 { instruction: "{k0} {k1} {k2} {k3} {k4} {k5} {k6}" }
        agent a1 { instruction: "{k7} {k8} {k9} {k10} {k11} {k12} {k13}" }
        agent a2 { instruction: "{k14} {k15} {k16} {k17} {k18} {k19} {k20}" }
        agent a3 { instruction: "{k21} {k22} {k23} {k24} {k25} {k26} {k27}" }
        agent a4 { instruction: "{k28} {k29} {k30} {k31} {k32} {k33} {k34}" }
        agent a5 { instruction: "{k35} {k36} {k37} {k38} {k39} {k40} {k41}" }
        agent a6 { instruction: "{k42} {k43} {k44} {k45} {k46} {k47} {k48}" }
        agent a7 { instruction: "{k49} {k50} {k51} {k52} {k53} {k54} {k55}" }
        agent a8 { instruction: "{k56} {k57} {k58} {k59} {k60} {k61} {k62}" }
        agent a9 { instruction: "{k63} {k64} {k65} {k66} {k67} {k68} {k69}" }

        a0; a1; a2; a3; a4; a5; a6; a7; a8; a9
    }
}

fn main() {}
