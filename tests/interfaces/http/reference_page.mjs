// Opens the API reference in a browser without a screen and prints what it shows and what it asked for.
import { JSDOM } from "jsdom";

const address = process.argv[2];
const asked = [];
const page = await (await fetch(`${address}/docs`)).text();
const script = await (await fetch(`${address}/docs/docs.js`)).text();
const dom = new JSDOM(page.replace(/<script.*<\/script>/, ""), { url: `${address}/docs`, runScripts: "outside-only" });
dom.window.fetch = (path, options) => {
  const target = new URL(path, dom.window.document.baseURI);
  asked.push(target.href);
  return fetch(target, options);
};
dom.window.eval(script);
const { document } = dom.window;
const waited = async (holds) => {
  for (let turn = 0; turn < 200 && !holds(); turn += 1) await new Promise((resume) => setTimeout(resume, 25));
};
await waited(() => document.querySelector("details"));
const search = document.getElementById("search_memories");
search.open = true;
await waited(() => search.querySelector("button"));
search.querySelector("button").click();
await waited(() => search.querySelector("pre").textContent);
const operations = document.querySelectorAll("details").length;
console.log(JSON.stringify({ operations, asked, answer: search.querySelector("pre").textContent }));
process.exit(0);
