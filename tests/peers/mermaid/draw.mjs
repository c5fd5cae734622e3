// The real Mermaid parses every diagram of a folder, on one page of one browser. It draws the
// diagrams named `draw-*`: the picture is written to NAME.mmd.svg, the texts of its boxes to
// NAME.mmd.json.
//   node draw.mjs FOLDER
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import puppeteer from "puppeteer-core";

const folder = process.argv[2];
const files = (await readdir(folder)).filter((file) => file.endsWith(".mmd")).sort();
const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  // The browser opens only these diagrams, and a container has no namespaces for the sandbox.
  args: ["--no-sandbox"],
});
let drawn = 0;
const refused = [];
try {
  const page = await browser.newPage();
  await page.addScriptTag({ path: fileURLToPath(import.meta.resolve("mermaid/dist/mermaid.min.js")) });
  await page.evaluate(() => mermaid.initialize({ startOnLoad: false, maxTextSize: 1e8, maxEdges: 1e6 }));
  for (const file of files) {
    const text = await readFile(join(folder, file), "utf8");
    try {
      await page.evaluate((text) => mermaid.parse(text), text);
      if (!file.startsWith("draw-")) continue;
      const { svg, texts } = await page.evaluate(async (text) => {
        const { svg } = await mermaid.render("picture", text);
        document.body.innerHTML = svg;
        const boxes = [...document.querySelectorAll(".nodeLabel")];
        return { svg, texts: boxes.map((box) => box.textContent) };
      }, text);
      await writeFile(join(folder, `${file}.svg`), svg);
      await writeFile(join(folder, `${file}.json`), JSON.stringify(texts));
      drawn += 1;
    } catch (error) {
      refused.push(`${file}: ${error.message ?? error}`);
    }
  }
} finally {
  await browser.close();
}
console.error(refused.join("\n"));
console.log(`${files.length - refused.length} read, ${drawn} drawn`);
process.exit(refused.length > 0 ? 1 : 0);
