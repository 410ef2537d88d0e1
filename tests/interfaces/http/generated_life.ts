// Compiled against what openapi-typescript made of the service's document: add, search, get, delete, an error.
import createClient from "openapi-fetch";
import type { paths } from "./api.js";

const [address, key] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: address, headers: { Authorization: `Bearer ${key}` } });

function must(holds: unknown, shown: unknown): asserts holds {
  if (!holds) throw new Error(JSON.stringify(shown));
}

const added = await client.POST("/v1/memories", { body: { user_id: "leo", text: "User plays the cello" } });
must(added.data && "id" in added.data && added.data.id, added);
const id: string = added.data.id;

const found = await client.POST("/v1/memories/search", { body: { user_id: "leo", query: "cello" } });
must(found.data?.memories[0]?.id === id, found);

const memory = await client.GET("/v1/memories/{memory_id}", { params: { path: { memory_id: id } } });
must(memory.data?.text === "User plays the cello", memory);

const deleted = await client.DELETE("/v1/memories/{memory_id}", { params: { path: { memory_id: id } } });
must(deleted.data?.deleted === true, deleted);

const missing = await client.GET("/v1/memories/{memory_id}", { params: { path: { memory_id: id } } });
must(missing.response.status === 404 && missing.error?.code === "memory_not_found", missing);

const stranger = createClient<paths>({ baseUrl: address });
const refused = await stranger.POST("/v1/memories/search", { body: { user_id: "leo", query: "cello" } });
must(refused.response.status === 401 && refused.error?.code === "unauthorized", refused);
console.log("lived");
