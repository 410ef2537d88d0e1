// Which messages of a chat the memory holds, and what is still to be done. Pure functions: no clock, no network.
//
// A message that is to be remembered carries a stamp: `message.ebbing = {id, run, user, agents}`. The ledger is kept with the
// chat: for each id the owner (`user`), who was to hear it (`agents`), a digest of its words, who has it (`written`), and
// whether it has left the chat (`gone`).

import { spokenWords } from './spoken.js';

/** Mark a message as one to be remembered. */
export function stamp(message, { id, run, user, agents }) {
    message.ebbing ??= { id, run, user, agents };
}

/** The id under which the service knows a message in the memory of one character. */
export function sourceId(id, agent) {
    return `tavern:${id}@${agent}`;
}

/** Return what the memory lacks and what it must lose for the chat to be remembered as it stands.
 *
 * The answers behind the last user message may still be swiped: they are written once they are settled. */
export function plan(chat, ledger, { run, settled = false, dropDirections = true }) {
    const messages = chat.filter(message => message?.ebbing?.run === run);
    const last = settled ? messages.length : messages.findLastIndex(message => message.is_user) + 1;
    const writes = new Map();
    for (const message of messages.slice(0, last)) {
        const words = spokenWords(message.mes, dropDirections);
        for (const agent of words && !message.is_system ? lacking(message, ledger, words) : []) {
            collect(writes, message, { agent, words });
        }
    }
    const removals = Object.keys(ledger).filter(id => ledger[id].gone);
    return { writes: [...writes.values()], removals };
}

/** Note which messages have left the chat. Call it only where the chat is known to be whole: a chat that is being loaded
 * looks like one that was emptied. */
export function noteGone(chat, ledger) {
    const here = new Set(chat.map(message => message?.ebbing?.id));
    for (const [id, entry] of Object.entries(ledger)) {
        entry.gone = !here.has(id);
    }
}

/** Note that a character has these messages now. */
export function noteWritten(ledger, { user, agent, notes }) {
    for (const { id, digest, agents } of notes) {
        const entry = ledger[id]?.digest === digest ? ledger[id] : { user, agents, digest, written: [] };
        entry.written = [...new Set([...entry.written, agent])];
        ledger[id] = entry;
    }
}

/** Return the owner and the source ids of a message that is to be taken back. */
export function removalsOf(ledger, id) {
    const { user, agents } = ledger[id];
    return { user, sources: agents.map(agent => sourceId(id, agent)) };
}

function lacking(message, ledger, words) {
    const entry = ledger[message.ebbing.id];
    const has = entry?.digest === digestOf(words) ? entry.written : [];
    return message.ebbing.agents.filter(agent => !has.includes(agent));
}

function collect(writes, message, { agent, words }) {
    const { id, user, agents } = message.ebbing;
    const key = JSON.stringify([user, agent]);
    if (!writes.has(key)) {
        writes.set(key, { user, agent, messages: [], notes: [] });
    }
    const write = writes.get(key);
    write.messages.push({
        // A persona's own memory calls them the user: with a name they would be somebody whom the user spoke of.
        ...(message.is_user ? { role: 'user' } : { role: 'assistant', name: message.name }),
        content: words,
        id: sourceId(id, agent),
        ...momentOf(message),
    });
    write.notes.push({ id, agents, digest: digestOf(words) });
}

function momentOf(message) {
    const moment = Date.parse(message.send_date);
    return Number.isNaN(moment) ? {} : { timestamp: new Date(moment).toISOString() };
}

/** A short number for a text (FNV-1a): it tells an edited message from the one that was written. */
function digestOf(text) {
    let hash = 0x811c9dc5;
    for (let place = 0; place < text.length; place++) {
        hash = Math.imul(hash ^ text.charCodeAt(place), 0x01000193);
    }
    return (hash >>> 0).toString(36);
}
