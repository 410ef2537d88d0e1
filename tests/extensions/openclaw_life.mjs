// Run by Node beside an OpenClaw plugin for memory: a turn that is remembered and one that recalls, printed as JSON.
// The plugin is the registry's or ours, its SDK is OpenClaw's; this file stands for the gateway that calls its hooks.
import { pathToFileURL } from "node:url";

const [file, configuration, question] = process.argv.slice(2);
const { default: plugin } = await import(file.startsWith("/") ? pathToFileURL(file).href : file);

const hooks = {};
const tools = {};
const lines = [];
const logger = Object.fromEntries(
  ["debug", "info", "warn", "error"].map((level) => [level, (text) => lines.push(`${level}: ${text}`)]),
);
const registered = new Set();
const api = new Proxy(
  {
    id: plugin.id,
    pluginConfig: JSON.parse(configuration),
    registrationMode: "full",
    config: {},
    logger,
    resolvePath: (path) => path,
    on: (name, hook) => (hooks[name] ??= []).push(hook),
    registerTool: (tool) => {
      const made = typeof tool === "function" ? tool({ sessionKey: "agent:main:first" }) : tool;
      tools[made.name] = made;
    },
  },
  { get: (target, name) => target[name] ?? (() => registered.add(String(name))) },
);

await plugin.register(api);

async function call(name, event, context) {
  const start = performance.now();
  const answers = [];
  for (const hook of hooks[name] ?? []) answers.push(await hook(event, context));
  return { seconds: (performance.now() - start) / 1000, answer: answers.find((each) => each) };
}

function turn(text, reply) {
  return {
    success: true,
    messages: [
      { role: "user", content: [{ type: "text", text }] },
      { role: "assistant", content: [{ type: "text", text: reply }] },
    ],
  };
}

const first = { sessionKey: "agent:main:first", agentId: "main", trigger: "user" };
const second = { sessionKey: "agent:main:second", agentId: "main", trigger: "user" };
const ended = await call("agent_end", turn("I live in Leeds, and I'm allergic to peanuts, so please never suggest a dish with peanuts in it.", "Noted, no peanuts."), first);
await call("agent_end", turn("我住在杭州，对海鲜过敏，所以以后推荐餐厅的时候请不要推荐海鲜，也不要推荐有虾和螃蟹的菜，我平时更喜欢吃清淡的蔬菜和豆腐。", "记住了。"), first);
const search = tools.memory_search;

async function untilRemembered() {
  const rounds = process.env.OPENCLAW_TEST_ROUNDS ?? 100;
  for (let round = 0; round < rounds; round += 1) {
    const result = await search.execute("call-1", { query: question }).catch((error) => ({ error: String(error) }));
    const text = JSON.stringify(result);
    if (text.includes("peanut") || round + 1 >= rounds) return text;
    await new Promise((done) => setTimeout(done, 100));
  }
  return "";
}

const tool = await untilRemembered();
const recall = await call("before_prompt_build", { prompt: question, messages: [] }, second);
const turns = performance.now();
for (let number = 0; number < Number(process.env.OPENCLAW_TEST_TURNS ?? 0); number += 1) {
  await call("before_prompt_build", { prompt: `${question} ${number}`, messages: [] }, second);
}
const turns_seconds = (performance.now() - turns) / 1000;
console.log(
  JSON.stringify({
    turns_seconds,
    recalled: recall.answer?.prependContext ?? "",
    tool,
    tools: Object.keys(tools).sort(),
    registered: [...registered],
    recall_seconds: recall.seconds,
    ended_seconds: ended.seconds,
    lines,
  }),
);
process.exit(0);
