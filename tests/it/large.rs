//! A workflow with more steps than the recursion limit of rustc.

use adk::Runner;
use adk::prelude::*;

/// Adds one.
#[agent(writes = count)]
fn add(count: u32) -> u32 {
    count + 1
}

/// A type without `#[data]`, so no number identifies it for the check `key-type`.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Tally(u32);

mod late {
    use super::Tally;
    use adk::prelude::*;

    /// Reports the count.
    #[agent(writes = told)]
    pub fn tell(count: u32, tally: &Tally) -> String {
        format!("{count} and {}", tally.0)
    }
}

workflow! {
    pub Large(count: u32, tally: Tally) -> told: String {
        add as s0; add as s1; add as s2; add as s3; add as s4;
        add as s5; add as s6; add as s7; add as s8; add as s9;
        add as s10; add as s11; add as s12; add as s13; add as s14;
        add as s15; add as s16; add as s17; add as s18; add as s19;
        add as s20; add as s21; add as s22; add as s23; add as s24;
        add as s25; add as s26; add as s27; add as s28; add as s29;
        add as s30; add as s31; add as s32; add as s33; add as s34;
        add as s35; add as s36; add as s37; add as s38; add as s39;
        add as s40; add as s41; add as s42; add as s43; add as s44;
        add as s45; add as s46; add as s47; add as s48; add as s49;
        add as s50; add as s51; add as s52; add as s53; add as s54;
        add as s55; add as s56; add as s57; add as s58; add as s59;
        add as s60; add as s61; add as s62; add as s63; add as s64;
        add as s65; add as s66; add as s67; add as s68; add as s69;
        add as s70; add as s71; add as s72; add as s73; add as s74;
        add as s75; add as s76; add as s77; add as s78; add as s79;
        add as s80; add as s81; add as s82; add as s83; add as s84;
        add as s85; add as s86; add as s87; add as s88; add as s89;
        add as s90; add as s91; add as s92; add as s93; add as s94;
        add as s95; add as s96; add as s97; add as s98; add as s99;
        add as s100; add as s101; add as s102; add as s103; add as s104;
        add as s105; add as s106; add as s107; add as s108; add as s109;
        add as s110; add as s111; add as s112; add as s113; add as s114;
        add as s115; add as s116; add as s117; add as s118; add as s119;
        add as s120; add as s121; add as s122; add as s123; add as s124;
        add as s125; add as s126; add as s127; add as s128; add as s129;
        add as s130; add as s131; add as s132; add as s133; add as s134;
        add as s135; add as s136; add as s137; add as s138; add as s139;
        add as s140; add as s141; add as s142; add as s143; add as s144;
        add as s145; add as s146; add as s147; add as s148; add as s149;
        add as s150; add as s151; add as s152; add as s153; add as s154;
        add as s155; add as s156; add as s157; add as s158; add as s159;
        add as s160; add as s161; add as s162; add as s163; add as s164;
        add as s165; add as s166; add as s167; add as s168; add as s169;
        add as s170; add as s171; add as s172; add as s173; add as s174;
        add as s175; add as s176; add as s177; add as s178; add as s179;
        add as s180; add as s181; add as s182; add as s183; add as s184;
        add as s185; add as s186; add as s187; add as s188; add as s189;
        add as s190; add as s191; add as s192; add as s193; add as s194;
        add as s195; add as s196; add as s197; add as s198; add as s199;
        add as s200; add as s201; add as s202; add as s203; add as s204;
        add as s205; add as s206; add as s207; add as s208; add as s209;
        add as s210; add as s211; add as s212; add as s213; add as s214;
        add as s215; add as s216; add as s217; add as s218; add as s219;
        add as s220; add as s221; add as s222; add as s223; add as s224;
        add as s225; add as s226; add as s227; add as s228; add as s229;
        add as s230; add as s231; add as s232; add as s233; add as s234;
        add as s235; add as s236; add as s237; add as s238; add as s239;
        add as s240; add as s241; add as s242; add as s243; add as s244;
        add as s245; add as s246; add as s247; add as s248; add as s249;
        add as s250; add as s251; add as s252; add as s253; add as s254;
        add as s255; add as s256; add as s257; add as s258; add as s259;
        add as s260; add as s261; add as s262; add as s263; add as s264;
        add as s265; add as s266; add as s267; add as s268; add as s269;
        add as s270; add as s271; add as s272; add as s273; add as s274;
        add as s275; add as s276; add as s277; add as s278; add as s279;
        add as s280; add as s281; add as s282; add as s283; add as s284;
        add as s285; add as s286; add as s287; add as s288; add as s289;
        add as s290; add as s291; add as s292; add as s293; add as s294;
        add as s295; add as s296; add as s297; add as s298; add as s299;
        late::tell
    }
}

#[tokio::test]
async fn every_step_of_a_large_workflow_runs() {
    let runner = Runner::builder().build().unwrap();
    let ran = runner
        .run(&Large::default(), LargeInput::new(0, Tally(7)))
        .await
        .unwrap();
    assert_eq!(ran.output, "300 and 7");
}
