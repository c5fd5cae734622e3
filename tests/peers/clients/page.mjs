// Uses the page like a person: node page.mjs ADDRESS NESTED-ADDRESS FOLDER. The pictures are
// written to the folder.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import puppeteer from "puppeteer-core";

const [address, nested, folder] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const profile = `${folder}/chromium`;
const flags = "headless=new no-sandbox disable-gpu disable-quic no-first-run disable-background-networking disable-component-update disable-sync";
const browser = await puppeteer.launch({
  executablePath: process.env.ADK_CHROMIUM,
  userDataDir: profile,
  args: flags.split(" ").map((flag) => `--${flag}`),
});

/** No run has this id. */
const unknownRun = "e-00000000-0000-7000-8000-000000000000";
let isDown = false;
const complaints = [];
const requests = new Set();

/** Waits until a visible element of a selector has a text, or no element has it. */
async function shows(page, isThere, text, selector) {
  const look = (text, selector, isThere) => [...document.querySelectorAll(selector)].some((el) => el.checkVisibility() && el.textContent.includes(text)) === isThere;
  await page.waitForFunction(look, {}, text, selector, isThere).catch(async (error) => {
    const seen = await page.$$eval(selector, (all) => all.map((el) => el.textContent));
    throw new Error(`${isThere ? "no" : "still a"} “${text}” in ${selector}: ${seen.join(" | ")}`, { cause: error });
  });
}

async function open(hash = "", { width = 1280, height = 860, dark = false, from = address } = {}) {
  const page = await browser.newPage();
  page.setDefaultTimeout(20000);
  const isPhone = width < 500;
  await page.setViewport({ width, height, isMobile: isPhone, hasTouch: isPhone, deviceScaleFactor: isPhone ? 2 : 1 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]);
  page.on("console", (message) => ["error", "warn"].includes(message.type()) && !isDown && !message.location().url?.includes(unknownRun) && complaints.push(`${message.text()} ${message.location().url}`));
  page.on("pageerror", (error) => complaints.push(error.stack));
  page.on("dialog", (dialog) => { complaints.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => requests.add(new URL(request.url()).origin));
  await page.goto(`${from}${hash && `/${hash}`}`);
  return Object.assign(page, {
    has: (text, selector = "main") => shows(page, true, text, selector),
    lacks: (text, selector = "main") => shows(page, false, text, selector),
    press: (text, selector = "button, a, label") => page.waitForFunction((text, selector) => {
      const found = [...document.querySelectorAll(selector)].filter((el) => el.checkVisibility() && el.textContent.trim().startsWith(text));
      found[0]?.click();
      return found.length > 0;
    }, {}, text, selector),
    fill: async (label, text) => {
      const field = await page.waitForSelector(`aria/${label}`);
      await field.type(text);
    },
    picture: (name, options) => page.screenshot({ path: `${folder}/${name}.png`, ...options }),
    active: () => page.evaluate(() => document.activeElement.closest("label, button, textarea, a, p")?.textContent ?? ""),
    fits: async (what) => assert.equal(await page.evaluate(() => Math.max(document.documentElement.scrollWidth, innerWidth)), width, `${what} fits the width`),
  });
}
const post = async (path, value) => (await fetch(`${address}/v1/${path}`, { method: "POST", body: JSON.stringify(value), headers: { prefer: "respond-async" } })).json();
async function exchange(word, answer) {
  console.log(word);
  const { value } = await lines.next();
  assert.equal(value, answer);
}
const step = (text) => console.log(`- ${text}`);

step("no run waits yet");
const page = await open();
await page.has("No run waits for you");
await page.has("No run has failed");
assert.equal(await page.title(), "Desk · Garden post");

step("a form of the schema starts a run");
await page.press("New run");
await page.press("Magazine");
await page.press("Start run");
await page.has("Enter a value.");
const topic = "<img src=x onerror=\"window.bad=1\"><script>window.bad=1</script>bees";
await page.fill("Topic", topic);
await page.press("Professionals");
await page.fill("Trade", "gardeners");
await page.fill("Words optional", "120");
await page.press("Add one");
await page.fill("Title", "Bees at Dawn");
await page.press("Is read");
await page.picture("new");
await page.press("Start run");

step("the page shows the live step of the run, and a topic with HTML stays text");
await page.has("layout", ".node.running a[aria-current=step]");
await page.has("round 2 of 2", ".node");
await page.has("Running", ".headline");
await page.has("Both facts hold", ".step");
await page.has("look_up(query: \"bees at dawn\")", ".call");
await page.has("2 pages about bees at dawn", ".call");
await page.press("Prompt", ".step summary");
await page.has(`Write a post of 120 words about ${topic}, for {"Professionals":{"trade":"gardeners"}}.`, ".step pre");
await page.has(topic, ".about");
assert.equal(await page.evaluate(() => document.querySelectorAll("main img, main script").length), 0);
assert.equal(await page.evaluate(() => window.bad), undefined);
await page.picture("live", { fullPage: true });
const address_of_run = await page.evaluate(() => location.hash);

step("the server stops and another starts: the page reconnects, and another page keeps its input");
const other = await open("#/new/magazine");
await other.fill("Topic", "typed before the stop");
isDown = true;
await exchange("stop", "stopped");
await other.has("The server does not respond", "#notice");
await exchange("begin", "begun");
await other.lacks("The server does not respond", "#notice");
assert.equal(await other.evaluate(() => document.querySelector("textarea").value), "typed before the stop");
await other.close();
await page.has("layout", ".node.running a[aria-current=step]");
isDown = false;
await post("opening/runs", {});
await page.has("The run waits for you", ".wait");
await page.has("verdict", ".node.paused");

step("an editor asks for a change: an enum with fields");
const desk = await open();
await desk.has("May this appear in the magazine?", ".wait");
await desk.waitForFunction(() => document.title === "(1) Desk · Garden post");
await desk.picture("desk");
await desk.press("Send answer");
await desk.has("Select an option.");
await desk.press("Revise");
await desk.press("Send answer");
await desk.has("Enter a value.");
await desk.fill("Note", "Shorter");
await desk.press("Add one");
await desk.keyboard.type("summer");
await desk.picture("form");
await desk.press("Edit as JSON");
assert.deepEqual(await desk.evaluate(() => JSON.parse(document.querySelector("textarea.json").value)), { Revise: { note: "Shorter", avoid: ["summer"] } });
await desk.press("Use the form");
assert.equal(await desk.evaluate(() => document.querySelector(".wait textarea").value), "Shorter");
await desk.press("Send answer");
await desk.has("You answered “Revise”.");
assert.match(await desk.active(), /You answered/);

step("the next question is answered only with the keyboard");
await desk.has("Before sunrise the first scouts leave", ".question");
await desk.keyboard.press("r");
await desk.has("for an answer at editing (round 2) › verdict");
await desk.keyboard.press("d");
await desk.has("Before sunrise the first scouts leave", ".question");
await desk.keyboard.press("w");
assert.match(await desk.active(), /^Publish/);
const outline = await desk.evaluate(() => getComputedStyle(document.activeElement.closest(".choice")).outlineStyle);
assert.equal(outline, "solid", "the focus is visible");
await desk.keyboard.press("ArrowRight");
await desk.keyboard.press("ArrowLeft");
await desk.keyboard.down("Control");
await desk.keyboard.press("Enter");
await desk.keyboard.up("Control");
await desk.has("You answered “Publish”.");
assert.match(await desk.active(), /You answered/);
await desk.waitForFunction(() => document.title === "Desk · Garden post");

step("both pages show the finished run");
await desk.has("Magazine", ".row .name");
await page.bringToFront();
await page.has("Finished", ".headline");
await page.has("Page 29", ".output");
await page.has("Shorter", ".step");
await page.has("2,070", ".figures");
await page.has("$0.010", ".figures");
await page.picture("finished", { fullPage: true });
await page.press("Run again");
await page.waitForFunction((topic) => document.querySelector("textarea")?.value === topic, {}, topic);
assert.equal(await page.evaluate(() => document.querySelector("input[type=number]").value), "120");

step("a run is cancelled");
await page.goto(`${address}/#/new/hanging`);
await page.fill("Topic", "nothing");
await page.press("Start run");
await page.has("hangs", ".node.running a[aria-current=step]");
await page.press("Cancel");
await page.has("Cancel this run?", "#ask");
await page.evaluate(() => new Promise((done) => document.querySelector("#ask").addEventListener("close", done, { once: true }) ?? document.querySelector("#ask button").click()));
await page.press("Cancel");
await page.press("Cancel the run");
await page.has("Cancelled", ".headline");

step("a failed run shows its path and its remedy");
await page.goto(`${address}/#/new/printing`);
await page.fill("Topic", "a poster for the summer fair");
await page.press("Start run");
await page.has("Failed at print", ".fault");
await page.has("no paper in tray 2", ".fault");
await page.has("Help: fill tray 2, then begin the run again", ".fault");
await page.has("print", ".node.failed");
await page.picture("failed");
const failed = await page.evaluate(() => location.hash);
await page.press("Runs", "nav a");
await page.press("Failed", ".filters a");
await page.lacks("Magazine");
await page.has("print: the printer does not take", ".row");
await page.goto(`${address}/#/runs/${unknownRun}`);
await page.has("There is no run");

step("themes follow the system, and the switch is stored");
await post("magazine/runs", { topic: "moths" });
await post("opening/runs", {});
const ground = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const dark = await open("", { dark: true });
await dark.has("moths", ".wait");
await dark.picture("desk-dark");
assert.notEqual(await ground(dark), await ground(desk));
const night = await ground(dark);
await dark.keyboard.press("t");
assert.equal(await ground(dark), await ground(desk), "light on a dark system");
await dark.reload();
await dark.has("moths", ".wait");
assert.equal(await ground(dark), await ground(desk), "the choice was stored");
await dark.keyboard.press("t");
await dark.keyboard.press("t");
assert.equal(await ground(dark), night, "the system theme again");
await dark.keyboard.press("?");
await dark.has("Next question", "#keys");
await dark.keyboard.press("Escape");
await dark.goto(`${address}/${address_of_run}`);
await dark.has("Page 29", ".output");
await dark.picture("finished-dark");

step("the steps show sources, sinks and what cleans");
const { run: letter } = await post("letters/runs", { letter: "Fine." });
for (const isDark of [false, true]) {
  const audited = await open(`#/runs/${letter}`, { dark: isDark });
  await audited.has("message: untrusted", ".node .mark.source");
  await audited.has("fetch_letter: untrusted", ".node .mark.source");
  await audited.has("type: is_praise", ".node .mark.cleaner");
  await audited.has("send_reply: acts", ".node .mark.sink");
  await audited.has("acts or sends", ".legend");
  await audited.has("Thank you.", ".output");
  await audited.picture(`audit${isDark ? "-dark" : ""}`);
  await audited.close();
}
await dark.goto(`${address}/${address_of_run}`);
await dark.has("Page 29", ".output");
assert.equal(await dark.$(".legend"), null, "a workflow without labels has no legend");

step("a phone needs no horizontal scrolling");
const phone = await open("", { width: 360, height: 740 });
await phone.has("moths", ".wait");
await phone.press("Revise");
await phone.fits("the desk");
await phone.picture("phone-desk", { fullPage: true });
for (const [hash, text] of [[address_of_run, "Page 29"], [failed, "Failed at print"], ["#/new/magazine", "The readers."], ["#/runs", "Opening"]]) {
  await phone.goto(`${address}/${hash}`);
  await phone.has(text);
  if (hash === address_of_run) await phone.press("Steps", "aside summary");
  await phone.fits(hash);
  await phone.picture(`phone${hash === address_of_run ? "-run" : hash === failed ? "-failed" : hash.replace(/\W+/g, "-")}`, { fullPage: hash !== address_of_run });
}

step("a nested page calls the nested server and asks for a token");
isDown = true;
const inside = await open("", { from: nested });
await inside.waitForSelector("#sign[open] #token");
await inside.type("#token", "rosebud");
await inside.keyboard.press("Enter");
await inside.has("No run waits for you");

assert.deepEqual(complaints, []);
assert.deepEqual([...requests], [address, new URL(nested).origin], "the page calls no other server");
await browser.close();
rmSync(profile, { recursive: true, force: true });
process.exit(0);
