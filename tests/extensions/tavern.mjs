// SillyTavern in a browser: what a person does there, as functions. Run by Node, it does what lines of JSON on its input
// ask for, `["say", "Hello", 1]`, and prints what each call returned.
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const WAIT = { timeout: 30_000 };

let browser = null;
let tavern = null;

export class Tavern {
  /** Open SillyTavern as somebody does who comes back later: in a browser that remembers nothing. */
  static async open(address, locale) {
    browser ??= await chromium.launch({ executablePath: process.argv[2], args: ["--no-sandbox", "--disable-gpu"] });
    const page = await browser.newPage({ locale, viewport: { width: 1100, height: 900 } });
    tavern = new Tavern(page);
    page.on("pageerror", (error) => error.stack?.includes("ebbing") && tavern.failures.push(error.stack));
    await page.goto(address);
    await page.waitForFunction(() => globalThis.SillyTavern && document.querySelector("#preloader") === null, null, WAIT);
    await page.waitForSelector("#ebbing_drawer", { state: "attached", ...WAIT });
    await page.waitForFunction(() => {
      document.querySelector("dialog[open] .popup-button-ok")?.click(); // the first visit asks for a name
      return SillyTavern.getContext().characters.length > 0;
    }, null, { ...WAIT, polling: 200 });
  }

  constructor(page) {
    this.page = page;
    this.failures = [];
  }

  /** What went wrong in the extension's own code. */
  errors() {
    return this.failures;
  }

  close() {
    return this.page.close();
  }

  /** Use a scripted model. */
  async connectModel(address) {
    await this.page.evaluate(async (url) => {
      const set = (selector, value) => $(selector).val(value).trigger("input").trigger("change");
      set("#main_api", "openai");
      set("#chat_completion_source", "custom");
      set("#custom_api_url_text", url);
      set("#custom_model_id", "scripted");
      document.querySelector("#api_button_openai").click();
    }, address);
    await this.page.waitForFunction(() => SillyTavern.getContext().onlineStatus !== "no_connection", null, WAIT);
  }

  /** Change settings of the extension, as they are stored. */
  set(changes) {
    return this.page.evaluate((values) => {
      const { extensionSettings, saveSettingsDebounced } = SillyTavern.getContext();
      Object.assign(extensionSettings.ebbing, values);
      saveSettingsDebounced();
    }, changes);
  }

  async createCharacter(name) {
    return this.page.evaluate(async (ch_name) => {
      const { getRequestHeaders, getCharacters } = SillyTavern.getContext();
      const headers = getRequestHeaders();
      delete headers["Content-Type"];
      const form = new FormData();
      form.append("ch_name", ch_name);
      form.append("first_mes", `${ch_name} looks up.`);
      const answer = await fetch("/api/characters/create", { method: "POST", headers, body: form });
      await getCharacters();
      return answer.text();
    }, name);
  }

  /** Make a group in which everybody answers, in order, and open it. */
  async openNewGroup(name, members) {
    await this.page.evaluate(async ([group, avatars]) => {
      const { getRequestHeaders, getCharacters } = SillyTavern.getContext();
      const body = JSON.stringify({ name: group, members: avatars, activation_strategy: 1, avatar_url: "" });
      const answer = await fetch("/api/groups/create", { method: "POST", headers: getRequestHeaders(), body });
      const { id } = await answer.json();
      await getCharacters();
      const { openGroupById } = await import("/scripts/group-chats.js");
      await openGroupById(id);
    }, [name, members]);
    await this.chatIsOpen();
  }

  /** Open the chat with a character, until it stays open: a page opens the last group by itself, some time after it came. */
  async openCharacter(name) {
    await this.page.waitForFunction(async (wanted) => {
      const { characters, characterId, groupId, selectCharacterById } = SillyTavern.getContext();
      const place = characters.findIndex((each) => each.name === wanted);
      if (groupId || Number(characterId) !== place) {
        window.ebbingChecks = 0;
        await selectCharacterById(place);
        return false;
      }
      window.ebbingChecks = (window.ebbingChecks ?? 0) + 1;
      return window.ebbingChecks > 4;
    }, name, { ...WAIT, polling: 500 });
    await this.chatIsOpen();
  }

  async startNewChat() {
    const before = await this.chatId();
    await this.page.evaluate(async () => (await import("/script.js")).doNewChat());
    await this.page.waitForFunction((old) => SillyTavern.getContext().chatId !== old, before, WAIT);
    await this.chatIsOpen();
  }

  chatId() {
    return this.page.evaluate(() => SillyTavern.getContext().chatId);
  }

  chatIsOpen() {
    return this.page.waitForFunction(() => SillyTavern.getContext().chatMetadata?.ebbing && SillyTavern.getContext().chatId, null, WAIT);
  }

  /** Become this persona. */
  async usePersona(name) {
    await this.page.evaluate(async (persona) => {
      const avatar = `${persona.toLowerCase()}.png`;
      const { powerUserSettings } = SillyTavern.getContext();
      powerUserSettings.personas[avatar] = persona;
      powerUserSettings.default_persona = avatar; // else another chat brings back the one of the first visit
      await (await import("/scripts/personas.js")).setUserAvatar(avatar);
    }, name);
    await this.page.waitForFunction((persona) => SillyTavern.getContext().name1 === persona, name, WAIT);
  }

  /** Send a message and wait for its answers. Return the milliseconds until the last of them. */
  async say(words, answers = 1) {
    const before = await this.page.evaluate(() => SillyTavern.getContext().chat.length);
    await this.page.fill("#send_textarea", words);
    const began = Date.now();
    await this.page.waitForFunction((text) => {
      const box = document.querySelector("#send_textarea");
      if (box.value === text) document.querySelector("#send_but").click(); // not taken while the last turn is being ended
      return SillyTavern.getContext().chat.some((message) => message.mes === text) && box.value !== text;
    }, words, { ...WAIT, polling: 100 });
    await this.idleWith(before + 1 + answers);
    return Date.now() - began;
  }

  /** Ask for another answer in the place of the last. */
  async swipe() {
    const before = await this.lastWords();
    await this.page.evaluate(() => SillyTavern.getContext().swipe.right());
    await this.page.waitForFunction((old) => SillyTavern.getContext().chat.at(-1).mes !== old, before, WAIT);
    await this.idleWith(0);
  }

  lastWords() {
    return this.page.evaluate(() => SillyTavern.getContext().chat.at(-1).mes);
  }

  idleWith(count) {
    return this.page.waitForFunction((length) => {
      const { chat } = SillyTavern.getContext();
      const stop = document.querySelector("#mes_stop");
      const last = chat.at(-1);
      return chat.length >= length && last.mes && last.mes !== "..." && getComputedStyle(stop).display === "none"
        && getComputedStyle(document.querySelector("#send_but")).display !== "none";
    }, count, WAIT);
  }

  /** Change the words of a message as its editor does. */
  edit(place, words) {
    return this.page.evaluate(async ([number, text]) => {
      const message = document.querySelector(`#chat .mes[mesid="${number}"]`);
      message.querySelector(".mes_edit").click();
      const box = await new Promise((resolve) => {
        const look = () => document.querySelector("#curEditTextarea") ? resolve(document.querySelector("#curEditTextarea")) : setTimeout(look, 50);
        look();
      });
      box.value = text;
      message.querySelector(".mes_edit_done").click();
    }, [place, words]);
  }

  delete(place) {
    return this.page.evaluate((number) => SillyTavern.getContext().deleteMessage(number), place);
  }

  /** Wait until the extension says that the memory is up to date, or why it is not, and return that. */
  async written() {
    const status = "#ebbing_writing";
    await this.page.waitForFunction((place) => document.querySelector(place).textContent, status, WAIT);
    return this.page.evaluate((place) => {
      const { textContent } = document.querySelector(place);
      document.querySelector(place).textContent = "";
      return textContent;
    }, status);
  }

  forgetStatus() {
    return this.page.evaluate(() => { document.querySelector("#ebbing_writing").textContent = ""; });
  }

  /** Measure from here on how long a message waits for the extension, in milliseconds. */
  measureDelays() {
    return this.page.evaluate(() => {
      const recall = globalThis.ebbingRecall;
      globalThis.delays = [];
      globalThis.ebbingRecall = async (...given) => {
        const began = performance.now();
        await recall(...given);
        globalThis.delays.push(performance.now() - began);
      };
    });
  }

  delays() {
    return this.page.evaluate(() => globalThis.delays);
  }

  /** What the page shows of the last recall. */
  lastReport() {
    return this.page.evaluate(() => document.querySelector("#ebbing_reports details")?.innerText ?? "");
  }

  /** Open the drawer of the extension. */
  async openSettings() {
    await this.page.evaluate(() => {
      document.querySelector("#extensions-settings-button .drawer-toggle").click();
      document.querySelector("#ebbing_drawer .inline-drawer-toggle").click();
    });
    await this.page.waitForSelector("#ebbing_address", { state: "visible", ...WAIT });
  }
  /** Let one member of the group that is open neither speak nor hear. */
  mute(name) {
    return this.page.evaluate((wanted) => {
      const { groups, groupId, characters } = SillyTavern.getContext();
      const { avatar } = characters.find((each) => each.name === wanted);
      groups.find((each) => each.id === groupId).disabled_members.push(avatar);
    }, name);
  }

  /** Ask the service again at once after it failed, as a person does who presses the button. */
  forgetPause() {
    return this.page.evaluate(() => document.querySelector("#ebbing_check").click());
  }

  tick(selector) {
    return this.page.evaluate((box) => document.querySelector(box).click(), selector);
  }

  /** Show the memories of the person with a character, as a list of texts. */
  async memories(owner, query = "") {
    await this.page.selectOption("#ebbing_whose", { label: owner });
    await this.page.fill("#ebbing_query", query);
    await this.page.click("#ebbing_show");
    await this.page.waitForSelector("#ebbing_memories > *", { ...WAIT });
    return this.page.$$eval("#ebbing_memories .ebbing-text", (rows) => rows.map((row) => row.textContent));
  }

  /** Press a button of a memory's row, by its label, and wait until the row changed. */
  async press(text, label) {
    const row = this.page.locator("#ebbing_memories .ebbing-memory", { hasText: text }).first();
    const before = await row.innerHTML();
    const id = await row.getAttribute("data-id");
    await row.locator(`button[title="${label}"], button:text-is("${label}")`).first().click();
    await this.page.waitForFunction(
      ([name, html]) => document.querySelector(`[data-id="${name}"]`).innerHTML !== html, [id, before], WAIT);
    return id;
  }

  fill(selector, text) {
    return this.page.fill(selector, text);
  }

  async check() {
    await this.page.click("#ebbing_check");
    await this.page.waitForFunction(() => !/…|……/.test(document.querySelector("#ebbing_status").textContent), null, WAIT);
    return this.page.textContent("#ebbing_status");
  }

  texts(selector) {
    return this.page.$$eval(selector, (elements) => elements.map((each) => each.innerText));
  }

  /** Take a picture of the drawer's part that begins with this element. */
  async picture(path, selector) {
    await this.page.evaluate((place) => {
      toastr.clear();
      document.querySelectorAll("#toast-container, #send_form").forEach((each) => { each.style.visibility = "hidden"; });
      document.querySelector(place).scrollIntoView({ block: "start" });
    }, selector);
    const { x, width } = await this.page.locator("#ebbing_drawer").boundingBox();
    await this.page.screenshot({ path, clip: { x: x - 6, y: 36, width: width + 12, height: 860 } });
  }
}

const print = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...given] = JSON.parse(line);
  try {
    const value = name === "open" ? await Tavern.open(...given) : await tavern[name](...given);
    print({ value: value ?? null });
  } catch (error) {
    print({ error: `${name}: ${error.stack}` });
  }
}
process.exit(0);
