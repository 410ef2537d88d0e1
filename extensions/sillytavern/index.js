// Ebbing in SillyTavern: recall before an answer, write after it, and a page to see and set both.

import { user_avatar } from '../../../personas.js';
import { noteGone, stamp } from './memory/ledger.js';
import { agentId, followRename, listeners, personaOf, runId, speaker, userId } from './memory/owners.js';
import { recall } from './memory/recall.js';
import { Service } from './memory/service.js';
import { loadSettings, SETTINGS_NAME } from './memory/settings.js';
import { Writer } from './memory/writing.js';
import { explain } from './page/explain.js';
import { Page } from './page/page.js';
import { sayIn } from './page/texts.js';

const PROMPT_NAME = 'ebbing';
const REPORTS_SHOWN = 6;
const SYSTEM_ROLE = 0;
const NOT_SPOKEN = new Set(['first_message', 'impersonate', 'quiet']);

const start = SillyTavern.getContext();
const settings = loadSettings(start.extensionSettings);
const say = sayIn(start.getCurrentLocale());
const service = new Service(settings);
const reports = [];
const writer = new Writer({ service, settings, onChange: code => page.showWriting(code) });
const page = new Page({
    say, settings, service, reports, whoIsHere, checkConnection, forgetChat,
    save: () => start.saveSettingsDebounced(),
    isPrivate: () => Boolean(ofChat().private),
    setPrivate: isPrivate => {
        ofChat().private = isPrivate;
        SillyTavern.getContext().saveMetadataDebounced();
    },
});
let open = null;

// ── before an answer ────────────────────────────────────────────────────────────────────────────────────────────────

globalThis.ebbingRecall = async (chat, _contextSize, _abort, type) => {
    inject('');
    const context = SillyTavern.getContext();
    const character = context.characters[context.characterId];
    if (!settings.enabled || !character || type === 'quiet') {
        return;
    }
    const asked = context.chat.findLast(message => message.is_user && !message.is_system);
    const owner = { user: userOf(asked), agent: agentId(settings, character) };
    const names = { user: asked?.name ?? context.name1, character: character.name };
    const generate = (systemPrompt, prompt) => context.generateRaw({ systemPrompt, prompt });
    const report = await recall(chat, owner, { service, settings, names, generate });
    inject(report.block);
    reports.unshift({ ...report, character: character.name });
    reports.length = Math.min(reports.length, REPORTS_SHOWN);
    page.showReports();
};

function inject(block) {
    SillyTavern.getContext().setExtensionPrompt(PROMPT_NAME, block, settings.position, settings.depth, false, SYSTEM_ROLE);
}

// ── after an answer ─────────────────────────────────────────────────────────────────────────────────────────────────

function onMessage(place, type) {
    const context = SillyTavern.getContext();
    const message = context.chat[place];
    if (!message || message.is_system || NOT_SPOKEN.has(type) || !settings.enabled || !settings.write || ofChat().private) {
        return;
    }
    const asked = message.is_user ? message : context.chat.slice(0, place).findLast(each => each.is_user);
    const hears = message.is_user ? listeners(context) : [speaker(context, message)].filter(Boolean);
    stamp(message, {
        id: context.uuidv4().slice(0, 13),
        run: runId(context),
        user: userOf(asked),
        agents: hears.map(character => agentId(settings, character)),
    });
    open = chatNow();
}

function onChatGrew() {
    open = chatNow();
    writer.schedule(open);
}

function onChatShrank() {
    noteGone(SillyTavern.getContext().chat, ofChat().ledger);
    onChatGrew();
}

function onChatChanged() {
    inject('');
    const left = open;
    open = chatNow();
    if (left && left.run !== open?.run) {
        writer.flush(left, { settled: true });
    } else if (open?.chat.length) {
        noteGone(open.chat, open.ledger);
    }
    if (open) {
        writer.schedule(open);
    }
    page.draw();
}

/** The chat that is open, as it is now: while another is loaded, the list itself is emptied. */
function chatNow() {
    const context = SillyTavern.getContext();
    const run = runId(context);
    const save = () => run === runId(SillyTavern.getContext()) && SillyTavern.getContext().saveMetadataDebounced();
    return run ? { chat: [...context.chat], ledger: ofChat().ledger, run, save } : null;
}

/** What is kept with the chat. */
function ofChat() {
    const metadata = SillyTavern.getContext().chatMetadata;
    metadata[SETTINGS_NAME] ??= { private: false, ledger: {} };
    return metadata[SETTINGS_NAME];
}

function userOf(message) {
    return message?.ebbing?.user ?? userId(settings, personaOf(message, user_avatar));
}

// ── what the page asks for ──────────────────────────────────────────────────────────────────────────────────────────

function whoIsHere() {
    const context = SillyTavern.getContext();
    const characters = listeners(context);
    const user = userId(settings, user_avatar);
    const owners = characters.map(character => ({
        label: `${context.name1} · ${character.name}`,
        owner: { user_id: user, agent_id: agentId(settings, character) },
    }));
    return { persona: user_avatar, personaName: context.name1, characters, owners };
}

async function checkConnection() {
    service.endPause();
    try {
        await service.list({ user_id: userId(settings, user_avatar) }, { limit: 1 });
        return say('connected');
    } catch (error) {
        return explain(say, error.code ?? 'unreachable');
    }
}

async function forgetChat() {
    const context = SillyTavern.getContext();
    if (!runId(context) || !await context.Popup.show.confirm(null, say('forgetChatSure'))) {
        return '';
    }
    try {
        const users = new Set([userId(settings, user_avatar), ...context.chat.map(each => each.ebbing?.user).filter(Boolean)]);
        for (const user of users) {
            await service.eraseChat({ user_id: user, run_id: runId(context) });
        }
        context.chat.forEach(message => delete message.ebbing);
        ofChat().ledger = {};
        open = chatNow();
        await context.saveChat();
        return say('forgottenChat');
    } catch (error) {
        return explain(say, error.code ?? 'unreachable');
    }
}

function listen() {
    const { eventSource, eventTypes } = start;
    eventSource.on(eventTypes.MESSAGE_SENT, onMessage);
    eventSource.on(eventTypes.MESSAGE_RECEIVED, onMessage);
    for (const event of ['GENERATION_ENDED', 'GROUP_WRAPPER_FINISHED', 'MESSAGE_EDITED', 'MESSAGE_UPDATED']) {
        eventSource.on(eventTypes[event], onChatGrew);
    }
    eventSource.on(eventTypes.MESSAGE_DELETED, onChatShrank);
    eventSource.on(eventTypes.CHAT_CHANGED, onChatChanged);
    eventSource.on(eventTypes.PERSONA_CHANGED, () => page.draw());
    eventSource.on(eventTypes.GROUP_UPDATED, () => page.draw());
    eventSource.on(eventTypes.CHARACTER_RENAMED, (oldAvatar, newAvatar) => {
        followRename(settings, oldAvatar, newAvatar);
        start.saveSettingsDebounced();
    });
    window.addEventListener('pagehide', () => writer.flush(open, { settled: true, keepalive: true }));
}

page.attach();
listen();
