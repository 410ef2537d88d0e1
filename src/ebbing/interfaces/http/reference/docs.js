// Shows the service's own OpenAPI document. Everything comes from this service; text is never read as HTML.
"use strict";

const METHODS = ["get", "post", "put", "patch", "delete"];
let openapi = {};

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key in made && typeof value !== "string") made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function resolved(part) {
  if (!part || !part.$ref) return part || {};
  return part.$ref.replace("#/", "").split("/").reduce((inner, name) => inner[name], openapi);
}

function typeName(schema) {
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.anyOf) return schema.anyOf.map(typeName).join(" | ");
  if (schema.type === "array") return `${typeName(schema.items || {})}[]`;
  return schema.type || "any";
}

function example(schema, depth = 0) {
  schema = resolved(schema);
  if (schema.examples) return schema.examples[0];
  if (schema.default !== undefined && schema.default !== null) return schema.default;
  if (schema.anyOf) return example(schema.anyOf[0], depth);
  if (schema.enum) return schema.enum[0];
  if (schema.type === "array") return depth > 3 ? [] : [example(schema.items || {}, depth + 1)];
  if (schema.type === "object" || schema.properties) {
    const wanted = Object.entries(schema.properties || {}).filter(
      ([name, value]) => (schema.required || []).includes(name) || value.examples,
    );
    return depth > 3 ? {} : Object.fromEntries(wanted.map(([name, value]) => [name, example(value, depth + 1)]));
  }
  return { string: "", integer: 0, number: 0, boolean: false }[schema.type] ?? null;
}

function fieldTable(title, rows) {
  if (!rows.length) return null;
  const body = rows.map(([name, type, text]) =>
    element("tr", {}, element("td", {}, element("code", {}, name)), element("td", {}, type), element("td", {}, text)),
  );
  return element("section", {}, element("h4", {}, title), element("table", {}, ...body));
}

function schemaTable(title, schema) {
  const named = schema.$ref ? `${title}: ${typeName(schema)}` : title;
  const inner = resolved(schema);
  const rows = Object.entries(inner.properties || {}).map(([name, value]) => [
    (inner.required || []).includes(name) ? `${name} *` : name,
    typeName(value),
    value.description || "",
  ]);
  return fieldTable(named, rows);
}

function contentOf(part) {
  const [type, media] = Object.entries(part.content || {})[0] || [];
  return { type, schema: media ? media.schema : undefined };
}

function requestForm(path, method, operation) {
  const inputs = new Map();
  const fields = (operation.parameters || []).map((parameter) => {
    const input = element("input", { placeholder: parameter.required ? "required" : "" });
    inputs.set(parameter, input);
    return element("label", {}, `${parameter.name} `, input, " ");
  });
  const body = operation.requestBody ? contentOf(operation.requestBody) : null;
  const text = body ? element("textarea", { spellcheck: "false" }) : null;
  if (text) text.value = body.type === "application/json" ? JSON.stringify(example(body.schema), null, 2) : "";
  const answer = element("pre", { hidden: true });
  const send = element("button", { type: "button" }, "Send");
  send.addEventListener("click", async () => {
    let target = path;
    const query = new URLSearchParams();
    const headers = {};
    for (const [parameter, input] of inputs) {
      if (parameter.in === "path") target = target.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
      else if (input.value && parameter.in === "query") query.set(parameter.name, input.value);
      else if (input.value) headers[parameter.name] = input.value;
    }
    const key = document.getElementById("key").value;
    if (key) headers.Authorization = `Bearer ${key}`;
    if (body) headers["Content-Type"] = body.type;
    const options = { method: method.toUpperCase(), headers, body: text ? text.value : undefined };
    answer.hidden = false;
    try {
      const response = await fetch(`.${target}${query.size ? `?${query}` : ""}`, options);
      const said = await response.text();
      let shown = said;
      try {
        shown = JSON.stringify(JSON.parse(said), null, 2);
      } catch {
        // not JSON: shown as it is
      }
      answer.textContent = `${response.status} ${response.statusText}\n\n${shown}`;
    } catch (error) {
      answer.textContent = `The service could not be reached: ${error.message}`;
    }
  });
  return element("section", {}, element("h4", {}, "Try it"), ...fields, text, element("p", {}, send), answer);
}

function operationDetails(path, method, operation) {
  const parameters = (operation.parameters || []).map((parameter) => [
    parameter.required ? `${parameter.name} *` : parameter.name,
    `${typeName(parameter.schema || {})} (${parameter.in})`,
    parameter.description || "",
  ]);
  const responses = Object.entries(operation.responses).map(([status, response]) => {
    const answer = resolved(response);
    const { schema } = contentOf(answer);
    return [status, schema ? typeName(schema) : "", answer.description || ""];
  });
  const body = operation.requestBody ? contentOf(operation.requestBody).schema : null;
  const success = Object.entries(operation.responses).find(([status]) => status.startsWith("2"));
  const answer = success ? contentOf(resolved(success[1])).schema : null;
  const shown = element(
    "details",
    { id: operation.operationId },
    element(
      "summary",
      {},
      element("span", { class: `method ${method}` }, method),
      element("code", {}, path),
      element("span", { class: "quiet" }, ` ${operation.summary}`),
    ),
  );
  shown.addEventListener(
    "toggle",
    () => {
      const parts = [
        element("p", {}, operation.description || ""),
        fieldTable("Parameters (* required)", parameters),
        body ? schemaTable("Body (* required)", body) : null,
        answer ? schemaTable("Answer", answer) : null,
        fieldTable("Status", responses),
        requestForm(path, method, operation),
      ];
      shown.append(...parts.filter((part) => part !== null));
    },
    { once: true },
  );
  return shown;
}

function show() {
  document.getElementById("version").textContent = openapi.info.version;
  document.getElementById("description").textContent = openapi.info.description;
  const groups = new Map(openapi.tags.map((tag) => [tag.name, { ...tag, operations: [] }]));
  for (const [path, item] of Object.entries(openapi.paths)) {
    for (const method of METHODS.filter((name) => item[name])) {
      groups.get(item[method].tags[0]).operations.push([path, method, item[method]]);
    }
  }
  const sections = [...groups.values()].map(({ name, description, operations }) =>
    element(
      "section",
      { class: "group" },
      element("h2", {}, name),
      element("p", {}, description),
      ...operations.map(([path, method, operation]) => operationDetails(path, method, operation)),
    ),
  );
  document.getElementById("operations").replaceChildren(...sections);
}

function filterOperations(event) {
  const word = event.target.value.toLowerCase();
  for (const group of document.querySelectorAll(".group")) {
    let any = false;
    for (const operation of group.querySelectorAll("details")) {
      const text = `${operation.id} ${operation.querySelector("summary").textContent}`.toLowerCase();
      operation.hidden = !text.includes(word);
      any ||= !operation.hidden;
    }
    group.hidden = !any;
  }
}

async function load() {
  document.getElementById("filter").addEventListener("input", filterOperations);
  const response = await fetch("openapi.json");
  openapi = await response.json();
  show();
}

load().catch((error) => {
  document.getElementById("operations").textContent = `The description could not be read: ${error.message}`;
});
