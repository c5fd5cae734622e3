// Tests Google's unmodified dev UI: `node adk_web.mjs URL`. Exits with 1 if a check fails.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import puppeteer from "puppeteer-core";

const url = process.argv[2];
const shots = process.env.ADK_SCREENSHOTS;
// Expected failures: Google's fonts, which need a network, and a file that google-adk itself does not have.
const known = [/fonts\.(gstatic|googleapis)\.com/, /\/dev-ui\/prism-dark\.css/];
const profile = mkdtempSync(join(tmpdir(), "chromium-"));
const browser = await puppeteer.launch({
  executablePath: process.env.ADK_CHROMIUM,
  userDataDir: profile,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});
const wrong = [];
const page = await browser.newPage();
await page.setViewport({ width: 1400, height: 900 });
page.on("pageerror", (error) => wrong.push(`error: ${error}`));
page.on("console", (message) => {
  const from = `${message.text()} ${message.location().url ?? ""}`;
  if (message.type() === "error" && !known.some((one) => one.test(from))) wrong.push(`console: ${from}`);
});
page.on("response", (response) => {
  if (response.status() >= 400 && !known.some((one) => one.test(response.url()))) {
    wrong.push(`${response.status()} ${response.url()}`);
  }
});

let at = "";
const shot = async (name) => shots && page.screenshot({ path: join(shots, `${name}.png`) });
const says = (text) => {
  at = `waiting for: ${text}`;
  return page.waitForFunction((text) => document.body.innerText.includes(text), { timeout: 20_000 }, text);
};
const press = async (text, selector = "button, [role=tab]") => {
  at = `pressing: ${text}`;
  const button = await page.waitForFunction((text, selector) =>
    [...document.querySelectorAll(selector)].find((one) => one.innerText.trim() === text), { timeout: 20_000 }, text, selector);
  await button.evaluate((button) => button.click());
};
const say = async (text) => {
  await page.waitForSelector("textarea.chat-input-box");
  await page.type("textarea.chat-input-box", text);
  await page.keyboard.press("Enter");
};
const open = async (app) => {
  at = `opening ${app}`;
  await page.goto(`${url}/dev-ui/?app=${app}`, { waitUntil: "load" });
  await says("Agent Development Kit");
};

try {
  await open("writing");
  await say("cats");
  for (const text of ["A cat sat.", "Longer.", "Fine.", "Published.", "Artifact: out/post.txt"]) await says(text);
  await shot("1-events");
  await press("State");
  await says("user:wrote");
  await shot("2-state");
  await press("Artifacts");
  await says("out/post.txt");
  await shot("3-artifacts");
  await press("Info");
  await press("Longer.", "p");
  await page.waitForFunction(() => [...document.querySelectorAll("svg g.node text")].some((text) => text.textContent.includes("critic")));
  await shot("4-graph");
  await press("Traces");
  await says("Total latency");
  await shot("5-traces");
  await press("Events");

  await page.evaluate(() => localStorage.setItem("adk-use-sse", "true"));
  await open("paying");
  await say("pay");
  await says("pay");
  await page.waitForSelector("input[type=checkbox]");
  await shot("6-confirmation");
  await page.$eval("input[type=checkbox]", (box) => box.click());
  await press("Submit");
  await says("Paid.");
  await shot("7-confirmed");

  await open("drafting");
  await say("cats");
  await says("May this be published? CATS CATS");
  await shot("8-question");
  // The question is also visible after a reload.
  await page.reload({ waitUntil: "load" });
  await says("May this be published? CATS CATS");
  await page.type(".response-input", "Publish");
  await page.keyboard.press("Enter");
  await says("State: post");
  await shot("9-answered");
  await open("failing");
  await say("cats");
  await says("cannot write");
  await shot("10-failed");
} catch (error) {
  wrong.push(`${at}: ${error}`);
  await shot("wrong");
  console.log(await page.evaluate(() => document.body.innerText));
}
await browser.close();
rmSync(profile, { recursive: true, force: true });
wrong.forEach((line) => console.log(line));
process.exit(wrong.length === 0 ? 0 : 1);
