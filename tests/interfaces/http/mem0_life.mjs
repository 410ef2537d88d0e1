// Run by Node with mem0's own client: a whole life, in English and Chinese.
import assert from "node:assert/strict";
import { MemoryClient } from "mem0ai";

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

await life("emma", "I am allergic to peanuts.", "peanuts", "User is allergic to peanuts and sesame");
await life("小明", "我对花生过敏。", "花生", "用户对花生和芝麻过敏");
console.log("lived");
