// Run by Node with mem0's own client: a whole life, in English and Chinese.
import assert from "node:assert/strict";
import { MemoryClient, MemoryError } from "mem0ai";

const host = process.argv[2];
const client = new MemoryClient({ apiKey: "m0-test", host });

async function life(user, said, word, better) {
  const filters = { userId: user };
  const added = await client.add([{ role: "user", content: said }], { userId: user, metadata: { chat: 1 } });
  assert.equal(added.status, "SUCCEEDED");
  assert.ok(added.eventId);
  const id = added.results[0].id;
  for (const number of [0, 1, 2]) {
    await client.add([{ role: "user", content: `${word} ${number}` }], { userId: user, infer: false });
  }
  const found = await client.search(word, { filters });
  assert.ok(found.results.some((hit) => hit.id === id));
  assert.equal(found.results[0].userId, user);
  const page = await client.getAll({ filters, page: 1, pageSize: 3 });
  assert.equal(page.count, 4);
  assert.equal(page.results.length, 3);
  const rest = await client.getAll({ filters, page: 2, pageSize: 3 });
  assert.equal(rest.results.length, 1);
  assert.equal(rest.next, null);
  assert.deepEqual((await client.get(id)).metadata, { chat: 1 });
  await client.update(id, { text: better });
  assert.equal((await client.get(id)).memory, better);
  assert.deepEqual((await client.history(id)).map((entry) => entry.event), ["ADD", "UPDATE"]);
  const ids = page.results.map((item) => item.id).filter((one) => one !== id).slice(0, 2);
  await client.batchUpdate(ids.map((one, at) => ({ memoryId: one, text: `${word} again ${at}` })));
  await client.batchDelete(ids);
  assert.equal((await client.feedback({ memoryId: id, feedback: "POSITIVE", feedbackReason: "right" })).feedback, "POSITIVE");
  const exported = await client.createMemoryExport({ schema: {}, filters });
  const got = await client.getMemoryExport({ memoryExportId: exported.id });
  assert.ok(got.results.some((item) => item.id === id));
  const users = await client.users();
  assert.ok(users.results.some((one) => one.name === user));
  assert.ok((await client.delete(id)).message);
  await assert.rejects(client.get(id));
  await client.deleteAll({ userId: user });
  assert.equal((await client.getAll({ filters })).count, 0);
  await client.add([{ role: "user", content: `${word} last` }], { userId: user, infer: false });
  await client.deleteUsers({ userId: user });
  assert.equal((await client.getAll({ filters })).count, 0);
}

async function management(user) {
  await client.add([{ role: "user", content: "tea" }], { userId: user, agentId: "chef", infer: false });
  await client.ping();
  assert.ok(client.telemetryId);
  const project = await client.getProject({ fields: ["custom_instructions"] });
  assert.ok("customInstructions" in project);
  assert.ok((await client.updateProject({ customInstructions: "names only" })).message);
  assert.equal((await client.getProject({ fields: ["custom_instructions"] })).customInstructions, "names only");
  await client.updateProject({ customInstructions: "" });
  const hook = await client.createWebhook({
    name: "hook",
    url: "https://hooks.example.org/a",
    eventTypes: ["memory_add", "memory_update"],
  });
  assert.ok(hook.webhookId);
  const shown = (await client.getWebhooks()).find((one) => one.webhookId === hook.webhookId);
  assert.deepEqual([shown.name, shown.url, shown.isActive], ["hook", "https://hooks.example.org/a", true]);
  assert.deepEqual([...shown.eventTypes].sort(), ["memory_add", "memory_update"]);
  const change = { webhookId: hook.webhookId, name: "other", eventTypes: ["memory_delete"] };
  assert.ok((await client.updateWebhook(change)).message);
  const changed = (await client.getWebhooks()).find((one) => one.webhookId === hook.webhookId);
  assert.deepEqual([changed.name, changed.eventTypes], ["other", ["memory_delete"]]);
  await client.deleteWebhook({ webhookId: hook.webhookId });
  assert.ok(!(await client.getWebhooks()).some((one) => one.webhookId === hook.webhookId));
  assert.equal((await client.generateProfile({ entityId: user })).status, "succeeded");
  assert.equal((await client.getProfile({ entityId: user })).status, "succeeded");
  assert.equal((await client.getProfileSettings()).enabled, true);
}

async function edges(user) {
  const nobody = { filters: { user_id: `${user}-nobody` } };
  assert.deepEqual([(await client.getAll(nobody)).count, (await client.search("tea", nobody)).results.length], [0, 0]);
  assert.equal(typeof (await client.deleteAll({ userId: `${user}-nobody` })).message, "string");
  await assert.rejects(client.get("no-uuid"), (error) => error instanceof MemoryError && error.constructor.name === "ValidationError");
  await assert.rejects(client.get("00000000-0000-0000-0000-000000000000"), MemoryError);
  assert.equal((await client.search("tea", { filters: { OR: [{ user_id: user }] }, topK: 1 })).results.length, 1);
  assert.equal((await client.getAll({ filters: { agent_id: "chef" } })).count, 1);
  const [known] = (await client.getAll({ filters: { user_id: user } })).results;
  await client.update(known.id, { metadata: { source: "test", priority: "high" } });
  const memory = await client.get(known.id);
  assert.deepEqual(memory.metadata, { source: "test", priority: "high" });
  assert.ok(Array.isArray(memory.categories) && !Number.isNaN(Date.parse(memory.createdAt)));
  const [entry] = await client.history(known.id);
  assert.deepEqual([entry.memoryId, entry.event, entry.oldMemory], [known.id, "ADD", null]);
  assert.equal((await client.deleteUsers({ userId: user })).message, "Entity deleted successfully.");
}

await management("ana/b");
await edges("ana/b");
await life("emma", "I am allergic to peanuts.", "peanuts", "User is allergic to peanuts and sesame");
await life("小明", "我对花生过敏。", "花生", "用户对花生和芝麻过敏");
console.log("lived");
