// The rules of the extension for SillyTavern, without SillyTavern. Run by `node --test`; the extension's folder comes in EXTENSION.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createServer } from "node:http";

const part = (name) => import(`file://${process.env.EXTENSION}/memory/${name}.js`);
const { noteGone, noteWritten, plan, stamp } = await part("ledger");
const { spokenWords } = await part("spoken");
const { Service } = await part("service");
const { isUsable } = await part("rewriting");
const { agentId, followRename, personaOf, userId } = await part("owners");

const message = (id, mes, { user = true, agents = ["ann"], run = "r" } = {}) => {
  const made = { mes, is_user: user, name: user ? "Emma" : "Ann", send_date: "2026-11-23T10:00:00.000Z" };
  stamp(made, { id, run, user: "emma", agents });
  return made;
};
const writeAll = (chat, ledger, options = {}) => {
  const { writes } = plan(chat, ledger, { run: "r", ...options });
  writes.forEach((write) => noteWritten(ledger, write));
  return writes.flatMap((write) => write.messages.map(({ id, content }) => `${id} ${content}`));
};

test("what was written is not written again", () => {
  const chat = [message("1", "I live in Leeds.")];
  const ledger = {};
  assert.deepEqual(writeAll(chat, ledger), ["tavern:1@ann I live in Leeds."]);
  assert.deepEqual(writeAll(chat, ledger), []);
});

test("an answer is written when the person goes on, or the chat is left", () => {
  const chat = [message("1", "Hello."), message("2", "Hi!", { user: false })];
  const ledger = {};
  assert.deepEqual(writeAll(chat, ledger), ["tavern:1@ann Hello."]);
  assert.deepEqual(writeAll(chat, ledger, { settled: true }), ["tavern:2@ann Hi!"]);
});

test("an edited message is written again for all who heard it, under the same id", () => {
  const chat = [message("1", "Leeds.", { agents: ["ann", "bo"] })];
  const ledger = {};
  writeAll(chat, ledger);
  chat[0].mes = "York.";
  assert.deepEqual(writeAll(chat, ledger), ["tavern:1@ann York.", "tavern:1@bo York."]);
});

test("a deleted message is taken back, and one that is only not loaded yet is not", () => {
  const chat = [message("1", "Leeds."), message("2", "York.")];
  const ledger = {};
  writeAll(chat, ledger);
  assert.deepEqual(plan([], ledger, { run: "r" }).removals, []);
  noteGone([chat[1]], ledger);
  assert.deepEqual(plan([chat[1]], ledger, { run: "r" }).removals, ["1"]);
  noteGone(chat, ledger);
  assert.deepEqual(plan(chat, ledger, { run: "r" }).removals, []);
});

test("a branch writes nothing that its first chat wrote", () => {
  assert.deepEqual(writeAll([message("1", "Leeds."), message("2", "York.", { run: "branch" })], {}), ["tavern:1@ann Leeds."]);
});

test("a failed write for one character leaves the others as they are", () => {
  const chat = [message("1", "Leeds.", { agents: ["ann", "bo"] })];
  const ledger = {};
  const [first] = plan(chat, ledger, { run: "r" }).writes;
  noteWritten(ledger, first);
  assert.deepEqual(writeAll(chat, ledger), ["tavern:1@bo Leeds."]);
});

for (const [text, words] of [
  ["*I sigh.* I'm allergic to seafood.", "I'm allergic to seafood."],
  ["*叹气* 我海鲜过敏", "我海鲜过敏"],
  ["I *really* love tea. *She smiles.*", "I really love tea."],
  ["我**真的**很喜欢茶。", "我真的很喜欢茶。"],
  ["*She nods.*", "She nods."],
]) {
  test(`of ${text} is spoken: ${words}`, () => assert.equal(spokenWords(text, true), words));
}

test("a rewritten question is one plain line", () => {
  assert.ok(isUsable("用户昨晚失眠，询问今天状态有何变化"));
  for (const bad of ["", "two\nlines", "**bold**", '{"query": "x"}', "x".repeat(301)]) assert.ok(!isUsable(bad));
});

test("a persona and a character keep their memories when they are renamed", () => {
  const settings = { people: { "a.png": "emma" }, characters: {} };
  assert.equal(personaOf({ force_avatar: "/thumbnail?type=persona&file=a%20b.png" }, "c.png"), "a b.png");
  assert.equal(userId(settings, "a.png"), "emma");
  followRename(settings, "Old.png", "New.png");
  assert.equal(agentId(settings, { avatar: "New.png" }), "Old");
});

test("a service that failed is left alone for a while", async () => {
  let now = 0;
  let asked = 0;
  const server = createServer((_, answer) => { asked += 1; answer.writeHead(500).end("{}"); });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const service = new Service({ address: `http://127.0.0.1:${server.address().port}/`, key: "" }, () => now);
  const codes = [];
  for (const moment of [0, 1, 10_001, 10_002, 30_000, 30_002]) {
    now = moment;
    await service.context({}).catch((error) => codes.push(error.code));
  }
  assert.deepEqual(codes, ["refused", "paused", "refused", "paused", "paused", "refused"]);
  assert.equal(asked, 3);
  service.endPause();
  await service.context({}).catch(() => {});
  assert.equal(asked, 4);
  server.closeAllConnections();
  server.close();
});
